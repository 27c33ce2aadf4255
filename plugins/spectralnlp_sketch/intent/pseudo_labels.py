"""Pseudo-labels: unlabelled texts of the labels' kind that a head is sure of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp_sketch.intent.head import Examples, Features, Weights, fit_head

Array32 = NDArray[np.float32]
# Unlabelled texts that labelled ones are told from, at most.
MOST_OTHERS = 4000
# Share of the labelled texts that would be doubted themselves.
DOUBTED = 0.25
# Texts of a label that join, at most, and what each weighs, times the square of its label's probability.
MOST_OF_A_LABEL, WEIGHT = 100, 0.5
# Share of the unlabelled texts of the labels' kind that joins, at most: the last ones have the wrong label.
MOST_JOINED = 0.75


class Unlabelled(NamedTuple):
    """Texts without labels, and what is known of them before one is given.

    Args:
        features: of n texts.
        kinship: float32 (n,); as `log_kinship`.
    """

    features: Features
    kinship: Array32

    def pseudo_labelled(self, weights: Weights, n: int) -> Examples:
        """Texts whose label a head is surest of, at most ``n`` of each label.

        Args:
            weights: the head.
            n: how many.
        """
        found = weights.scores(self.features)
        found -= found.max(axis=1, keepdims=True)
        np.exp(found, out=found)
        found /= found.sum(axis=1, keepdims=True)
        chosen = surest(found, n, self.kinship)
        labels, sure = found[chosen].argmax(axis=1), found[chosen].max(axis=1)
        targets = np.eye(found.shape[1], dtype=np.float32)[labels]
        return Examples(self.features.rows(chosen), targets, np.float32(WEIGHT) * sure**2)


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


def how_many(kinship: Array32, n_labels: int) -> int:
    """How many texts of each label shall join.

    Args:
        kinship: float32 (n_unlabelled,); as `log_kinship`.
        n_labels: of how many labels.

    Returns:
        At least 1 where there is a text, and no more than `MOST_OF_A_LABEL`.
    """
    of_the_kind = float(np.exp(kinship).sum())
    return min(MOST_OF_A_LABEL, len(kinship), max(int(MOST_JOINED * of_the_kind / n_labels), 1))


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
