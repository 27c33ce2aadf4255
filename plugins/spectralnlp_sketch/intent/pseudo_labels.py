"""Pseudo-labels: add unlabelled texts that are classified with confidence to the training examples."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from spectralnlp_sketch.intent.head import Examples, Features, Weights, fit_head
from spectralnlp_sketch.intent.kernels import largest

Array32 = NDArray[np.float32]
# Maximum number of unlabelled texts used to learn to separate labelled from unlabelled texts.
MAX_OTHERS = 4000
# Share of labelled texts that score below the point from which a text counts as in scope.
DOUBTED = 0.25
# Maximum number of texts added for a label; weight of each, times the squared probability of its label.
MAX_OF_A_LABEL, WEIGHT = 100, 0.5
# Maximum share of in-scope unlabelled texts to add; the least certain ones often have the wrong label.
MAX_JOINED = 0.75
# Number of neighbours of a text.
N_NEIGHBOURS = 20
# Maximum number of candidate texts; those most similar to labelled texts are taken.
MAX_CANDIDATES = 15_000
# Neighbours are weighted by this power of their cosine.
NEARNESS = 8
_BATCH = 1000


class Unlabelled(NamedTuple):
    """Unlabelled texts that are candidates for pseudo-labels, and how similar they are to other texts.

    Args:
        features: features of the n candidates.
        log_odds: how similar each text is to labelled texts, from `domain_log_odds`, float32 (n,).
        neighbours: indices of the k nearest neighbours of each text among the candidates, int64 (n, k).
        nearness: weights of the neighbours, float32 (n, k); rows sum to one.
        n_in_domain: estimated number of unlabelled texts that are in scope.
    """

    features: Features
    log_odds: Array32
    neighbours: NDArray[np.int64]
    nearness: Array32
    n_in_domain: float

    @classmethod
    def of(cls, features: Features, labelled: Features, random_state: int) -> Self:
        """Compute similarities of unlabelled texts with labelled texts and with each other.

        Args:
            features: features of the unlabelled texts.
            labelled: features of the labelled texts.
            random_state: seed of `domain_log_odds`.
        """
        log_odds = domain_log_odds(labelled, features, random_state)
        chosen = np.sort(np.argsort(-log_odds, kind="stable")[:MAX_CANDIDATES])
        candidates = features.rows(chosen)
        return cls(candidates, log_odds[chosen], *nearest(candidates.dense), float(np.exp(log_odds).sum()))

    def probabilities(self, weights: Weights) -> Array32:
        """Return probabilities of labels, averaged with the probabilities of each text's neighbours.

        Neighbours that are probably out of scope count less. This is one step of label spreading (Zhou et al.
        2004, *Learning with local and global consistency*).

        Args:
            weights: weights of the linear classifier (head).

        Returns:
            Probabilities, float32 (n, n_classes); rows sum to at most one.
        """
        by_head = weights.scores(self.features)
        by_head -= by_head.max(axis=1, keepdims=True)
        np.exp(by_head, out=by_head)
        by_head /= by_head.sum(axis=1, keepdims=True)
        if not self.nearness.shape[1]:
            return by_head
        of_kind = by_head * np.exp(self.log_odds)[:, None]
        around = np.zeros_like(by_head)
        for place in range(self.nearness.shape[1]):
            around += self.nearness[:, place : place + 1] * of_kind[self.neighbours[:, place]]
        return np.float32(0.5) * (by_head + around)

    def n_joining(self, n_labels: int) -> int:
        """Return how many texts may be pseudo-labelled with each label: at least 1 if there are candidates.

        Args:
            n_labels: number of labels.
        """
        most = min(MAX_OF_A_LABEL, len(self.log_odds))
        return min(most, max(int(MAX_JOINED * self.n_in_domain / n_labels), 1))

    def pseudo_labelled(self, weights: Weights) -> tuple[NDArray[np.int64], Examples]:
        """Choose the texts that are classified with most confidence, at most `n_joining` for each label.

        Args:
            weights: weights of the linear classifier (head).

        Returns:
            Indices of the chosen texts, ascending; and these texts as training examples, each with its
            likeliest label.
        """
        probabilities = self.probabilities(weights)
        chosen = most_confident(probabilities, self.n_joining(probabilities.shape[1]), self.log_odds)
        labels, sure = probabilities[chosen].argmax(axis=1), probabilities[chosen].max(axis=1)
        targets = np.eye(probabilities.shape[1], dtype=np.float32)[labels]
        return chosen, Examples(self.features.rows(chosen), targets, np.float32(WEIGHT) * sure**2)


def most_confident(probabilities: Array32, n: int, log_odds: Array32) -> NDArray[np.int64]:
    """Choose the texts whose likeliest label is most probable, at most ``n`` for each label.

    Args:
        probabilities: probabilities of labels, float32 (n_texts, n_classes).
        n: maximum number of texts for each label.
        log_odds: result of `domain_log_odds`, float32 (n_texts,), added to the log-probability.

    Returns:
        Indices of the chosen texts, ascending.
    """
    best = probabilities.argmax(axis=1)
    doubt = -np.log(np.maximum(probabilities.max(axis=1), 1e-9)) - log_odds
    order = np.lexsort((doubt, best))
    rank = np.arange(len(order)) - np.searchsorted(best[order], best[order])
    return np.sort(order[rank < n])


def nearest(
    dense: Array32, n_neighbours: int = N_NEIGHBOURS, batch: int = _BATCH
) -> tuple[NDArray[np.int64], Array32]:
    """Find the nearest neighbours of each row among the other rows, by cosine.

    Args:
        dense: rows, float32 (n, d).
        n_neighbours: maximum number of neighbours.
        batch: number of rows to compare with all rows at a time.

    Returns:
        Row numbers of the neighbours, int64 (n, k), and their weights, float32 (n, k), whose rows sum to one;
        k is 0 if d is 0.
    """
    n, d = dense.shape
    k = max(min(n_neighbours, n - 1), 0) if d else 0
    places, nearness = np.zeros((n, k), np.int64), np.zeros((n, k), np.float32)
    if not k:
        return places, nearness
    unit = dense / np.maximum(np.linalg.norm(dense, axis=1, keepdims=True), np.float32(1e-9))
    for begin in range(0, n, batch):
        rows = slice(begin, begin + batch)
        cosines = unit[rows] @ unit.T
        number = np.arange(len(cosines))
        cosines[number, begin + number] = -1.0
        largest(cosines, places[rows], nearness[rows])
    nearness = np.maximum(nearness, np.float32(1e-3)) ** NEARNESS
    return places, nearness / nearness.sum(axis=1, keepdims=True)


def domain_log_odds(labelled: Features, unlabelled: Features, random_state: int) -> Array32:
    """Estimate how similar unlabelled texts are to labelled texts of any label.

    Unlabelled texts may be out of scope. Logistic regression separates labelled from unlabelled texts,
    although some unlabelled texts are in scope (Elkan and Noto 2008, *Learning classifiers from only positive
    and unlabeled data*). It is trained on half of each set, and computes the log-odds of the other labelled
    texts, which are all in scope; then the halves are swapped. An unlabelled text counts as in scope if its
    log-odds exceed the lower quartile of those of labelled texts.

    Args:
        labelled: features of labelled texts.
        unlabelled: features of unlabelled texts.
        random_state: seed of the halves, and of the sample of unlabelled texts.

    Returns:
        Log-odds of being labelled, minus the lower quartile of the log-odds of labelled texts, and at most
        0; float32 (n_unlabelled,).
    """
    rng = np.random.default_rng(random_state)
    ours, others = rng.permutation(len(labelled)), rng.permutation(len(unlabelled))[:MAX_OTHERS]
    if min(len(ours), len(others)) < 2:
        return np.zeros(len(unlabelled), np.float32)
    held_out, odds = [], np.zeros(len(unlabelled), np.float32)
    for half in (0, 1):
        weights = _one_from_another(labelled.rows(ours[half::2]), unlabelled.rows(others[half::2]))
        odds += 0.5 * _log_odds(weights, unlabelled)
        held_out.append(_log_odds(weights, labelled.rows(ours[1 - half :: 2])))
    return np.minimum(odds - np.float32(np.quantile(np.concatenate(held_out), DOUBTED)), np.float32(0.0))


def _one_from_another(first: Features, second: Features) -> Weights:
    """Train a linear classifier that separates two sets of texts; class 0 is the first set, 1 the second.

    Both sets have the same total weight.

    Args:
        first, second: features of the texts of each set.
    """
    targets = np.repeat(np.eye(2, dtype=np.float32), [len(first), len(second)], axis=0)
    weight = 0.5 * len(second) / len(first)
    examples = Examples(first, targets[: len(first)], np.full(len(first), weight, np.float32)).with_more(
        Examples(second, targets[len(first) :], np.full(len(second), 0.5, np.float32))
    )
    return fit_head(examples, C=1.0)


def _log_odds(weights: Weights, features: Features) -> Array32:
    scores = weights.scores(features)
    return np.asarray(scores[:, 0] - scores[:, 1], np.float32)
