"""Pseudo-labels: unlabelled texts of the labels' kind that a head is sure of, as their neighbours are."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from spectralnlp_sketch.intent.head import Examples, Features, Weights, fit_head
from spectralnlp_sketch.intent.kernels import largest

Array32 = NDArray[np.float32]
# Unlabelled texts that labelled ones are told from, at most.
MOST_OTHERS = 4000
# Share of the labelled texts that would be doubted themselves.
DOUBTED = 0.25
# Texts of a label that join, at most, and what each weighs, times the square of its label's probability.
MOST_OF_A_LABEL, WEIGHT = 100, 0.5
# Share of the unlabelled texts of the labels' kind that joins, at most: the last ones have the wrong label.
MOST_JOINED = 0.75
# Neighbours that a text is compared with.
N_NEIGHBOURS = 20
# Texts that may join, at most: those that are most of the labels' kind.
MOST_CANDIDATES = 15_000
# Neighbours count by this power of their cosine.
NEARNESS = 8
_BATCH = 1000


class Unlabelled(NamedTuple):
    """Texts without labels that are of the labels' kind, and what is known of them before one is given.

    Args:
        features: of n texts.
        kinship: float32 (n,); as `log_kinship`.
        neighbours: int64 (n, k); of each, among the n.
        nearness: float32 (n, k); shares of the neighbours; rows sum to one.
        n_of_kind: how many of all texts without labels are of the labels' kind, estimated.
    """

    features: Features
    kinship: Array32
    neighbours: NDArray[np.int64]
    nearness: Array32
    n_of_kind: float

    @classmethod
    def of(cls, features: Features, labelled: Features, random_state: int) -> Self:
        """Compare texts without labels with those that have one, and with each other.

        Args:
            features: of the unlabelled texts.
            labelled: of those that have a label, whichever it is.
            random_state: seed of `log_kinship`.
        """
        kinship = log_kinship(labelled, features, random_state)
        chosen = np.sort(np.argsort(-kinship, kind="stable")[:MOST_CANDIDATES])
        candidates = features.rows(chosen)
        return cls(candidates, kinship[chosen], *nearest(candidates.dense), float(np.exp(kinship).sum()))

    def probabilities(self, weights: Weights) -> Array32:
        """Probabilities of labels by a head, averaged with those of the nearest neighbours.

        Neighbours count less as they are of another kind. One step of label spreading (Zhou et al. 2004,
        *Learning with local and global consistency*).

        Args:
            weights: the head.

        Returns:
            float32 (n, n_classes); rows sum to one at most.
        """
        found = weights.scores(self.features)
        found -= found.max(axis=1, keepdims=True)
        np.exp(found, out=found)
        found /= found.sum(axis=1, keepdims=True)
        if not self.nearness.shape[1]:
            return found
        of_kind = found * np.exp(self.kinship)[:, None]
        around = np.zeros_like(found)
        for place in range(self.nearness.shape[1]):
            around += self.nearness[:, place : place + 1] * of_kind[self.neighbours[:, place]]
        return np.float32(0.5) * (found + around)

    def n_joining(self, n_labels: int) -> int:
        """How many texts of each label shall join: from 1, if there are texts, to `MOST_OF_A_LABEL`."""
        most = min(MOST_OF_A_LABEL, len(self.kinship))
        return min(most, max(int(MOST_JOINED * self.n_of_kind / n_labels), 1))

    def pseudo_labelled(self, weights: Weights) -> tuple[NDArray[np.int64], Examples]:
        """Texts whose label a head is surest of, `n_joining` of each label at most.

        Args:
            weights: the head.

        Returns:
            Their numbers, ascending, and what is to be learned from them.
        """
        found = self.probabilities(weights)
        chosen = surest(found, self.n_joining(found.shape[1]), self.kinship)
        labels, sure = found[chosen].argmax(axis=1), found[chosen].max(axis=1)
        targets = np.eye(found.shape[1], dtype=np.float32)[labels]
        return chosen, Examples(self.features.rows(chosen), targets, np.float32(WEIGHT) * sure**2)


def surest(probabilities: Array32, n: int, kinship: Array32) -> NDArray[np.int64]:
    """Texts whose likeliest label is most probable, at most ``n`` of each label.

    Args:
        probabilities: float32 (n_texts, n_classes).
        n: how many.
        kinship: float32 (n_texts,); as `log_kinship`, added to the log-probability.

    Returns:
        Numbers of texts, ascending.
    """
    best = probabilities.argmax(axis=1)
    doubt = -np.log(np.maximum(probabilities.max(axis=1), 1e-9)) - kinship
    order = np.lexsort((doubt, best))
    rank = np.arange(len(order)) - np.searchsorted(best[order], best[order])
    return np.sort(order[rank < n])


def nearest(
    dense: Array32, n_neighbours: int = N_NEIGHBOURS, batch: int = _BATCH
) -> tuple[NDArray[np.int64], Array32]:
    """The nearest neighbours of each row among the others, by cosine.

    Args:
        dense: float32 (n, d).
        n_neighbours: no more than these.
        batch: rows that are compared with all at a time.

    Returns:
        int64 (n, k), and their shares, float32 (n, k), rows of which sum to one; k is 0 without dimensions.
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
        own = np.arange(len(cosines))
        cosines[own, begin + own] = -1.0
        largest(cosines, places[rows], nearness[rows])
    nearness = np.maximum(nearness, np.float32(1e-3)) ** NEARNESS
    return places, nearness / nearness.sum(axis=1, keepdims=True)


def log_kinship(labelled: Features, unlabelled: Features, random_state: int) -> Array32:
    """How much texts without labels are like those that have one, whichever it is.

    Unlabelled text may be of many things that are no label's. Logistic regression tells labelled texts from
    unlabelled ones, of which some are of the same kind (Elkan and Noto 2008, *Learning classifiers from only
    positive and unlabeled data*). It learns from either half of both, and the other half of the labelled ones
    says what odds those of a label have: texts as good as three quarters of them are not doubted.

    Args:
        labelled: texts of any label.
        unlabelled: other texts.
        random_state: seed of the halves, and of the unlabelled texts that are looked at.

    Returns:
        float32 (n_unlabelled,); log odds of having a label, less those of a quarter of the labelled texts; 0
        where they are more.
    """
    rng = np.random.default_rng(random_state)
    ours, others = rng.permutation(len(labelled)), rng.permutation(len(unlabelled))[:MOST_OTHERS]
    if min(len(ours), len(others)) < 2:
        return np.zeros(len(unlabelled), np.float32)
    held_out, odds = [], np.zeros(len(unlabelled), np.float32)
    for half in (0, 1):
        weights = _one_from_another(labelled.rows(ours[half::2]), unlabelled.rows(others[half::2]))
        odds += 0.5 * _log_odds(weights, unlabelled)
        held_out.append(_log_odds(weights, labelled.rows(ours[1 - half :: 2])))
    return np.minimum(odds - np.float32(np.quantile(np.concatenate(held_out), DOUBTED)), np.float32(0.0))


def _one_from_another(first: Features, second: Features) -> Weights:
    """A head that tells texts of one kind from others; both kinds weigh the same."""
    targets = np.repeat(np.eye(2, dtype=np.float32), [len(first), len(second)], axis=0)
    weight = 0.5 * len(second) / len(first)
    examples = Examples(first, targets[: len(first)], np.full(len(first), weight, np.float32)).with_more(
        Examples(second, targets[len(first) :], np.full(len(second), 0.5, np.float32))
    )
    return fit_head(examples, C=1.0)


def _log_odds(weights: Weights, features: Features) -> Array32:
    scores = weights.scores(features)
    return np.asarray(scores[:, 0] - scores[:, 1], np.float32)
