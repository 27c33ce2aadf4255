"""The moments that the law suite holds to its laws: append a case for each new class.

A case's classes and data live in an importable module, so that worker processes can be sent them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, get_args

import numpy as np
from sketch_cases import (
    DIRECTIONS_CASES,
    FEATURIZER_CASES,
    LINEAR_CASES,
    ROWS,
    assert_within_bounds,
    engines_of,
)

from spectralnlp.changes.ledger import DocumentDigests
from spectralnlp.estimators.eigenwords import HashedPairCounts, PairCounts
from spectralnlp.estimators.hmm.moments import ExpectedTransitions, NGramCounts
from spectralnlp.estimators.hmm.open_moments import OpenNGramCounts
from spectralnlp.estimators.pcfg.moments import RuleCounts
from spectralnlp.estimators.rhmm import TagLog
from spectralnlp.estimators.shared.word_counts import WordCounts
from spectralnlp.estimators.topics.moments import ExpectedCounts, PairMoments, TripleMoments
from spectralnlp.estimators.topics.replay_log import DocumentLog
from spectralnlp.runtime import Batch, Counts, Moments
from spectralnlp.tasks.task import DocumentUnit
from spectralnlp.trees import Binariser, Tree
from spectralnlp.trees.treelog import TreeLog


@dataclass(frozen=True)
class MomentsCase:
    """One class under the laws.

    Args:
        name: shown in test names.
        empty: makes empty moments.
        others: make empty moments of the same class with one parameter changed each.
        examples: data to observe.
        exact: whether the sums are of integers, equal to the last bit in any order.
        engines: which engines it is run on; starting processes takes seconds, so not all of a family need it.
        assert_same: what splits and orders must leave the same, where that is not every number.
    """

    name: str
    empty: Callable[[], Moments[Any]]
    examples: Sequence[Any]
    others: dict[str, Callable[[], Moments[Any]]]
    exact: bool
    engines: Sequence[str] = ("serial", "threads", "processes")
    assert_same: Callable[[Any, Any], None] | None = None


class BigramCounts(Counts[Sequence[str]]):
    def events(self, example: Sequence[str]) -> list[tuple[str, str]]:
        return list(pairwise(example))


class WordIndexCounts(Moments[Sequence[str]]):
    """Integer array state with a parameter: the smallest moments that use every default."""

    subtractable = True

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.vocabulary = list(vocabulary)
        self.counts = np.zeros(len(self.vocabulary), dtype=np.int64)

    def parameters(self) -> dict[str, Any]:
        return {"vocabulary": self.vocabulary}

    def arrays(self) -> dict[str, np.ndarray]:
        return {"counts": self.counts}

    def observe(self, batch: Batch[Sequence[str]]) -> None:
        for sentence in batch:
            for word in sentence:
                if word in self.vocabulary:
                    self.counts[self.vocabulary.index(word)] += 1


class RandomCovariance(Moments[Sequence[str]]):
    """Float sums with an array parameter and a draw for each global row, as sketches have them."""

    def __init__(self, projection: np.ndarray, scale: float = 1.0) -> None:
        self.projection, self.scale = projection, scale
        self.covariance = np.zeros((projection.shape[1],) * 2)
        self.sketch = np.zeros(projection.shape[1])

    def parameters(self) -> dict[str, Any]:
        return {"projection": self.projection, "scale": self.scale}

    def arrays(self) -> dict[str, np.ndarray]:
        return {"covariance": self.covariance, "sketch": self.sketch}

    def observe(self, batch: Batch[Sequence[str]]) -> None:
        for row, sentence in enumerate(batch.examples, batch.start):
            vector = self.scale * self.projection[[len(word) for word in sentence]].sum(axis=0)
            sign = np.random.default_rng((7, batch.document_index, row)).choice([-1.0, 1.0])
            self.covariance += np.outer(vector, vector)
            self.sketch += sign * vector


def random_sentences(n: int, seed: int = 0) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    words = ["the", "cat", "sat", "on", "a", "mat", "naïve", "🐈", "\u2028", '"']
    return [list(rng.choice(words, size=rng.integers(0, 8))) for _ in range(n)]


def random_trees(n: int, seed: int = 0) -> list[Tree]:
    """Trees of every shape that counts differ: flat, deep, unary chains, one word."""
    rng = np.random.default_rng(seed)

    def grow(depth: int) -> Tree:
        if depth == 0 or rng.random() < 0.3:
            return Tree(str(rng.choice(["D", "N", "V"])), word=str(rng.choice(["a", "b", "\u2028", '"'])))
        children = [grow(depth - 1) for _ in range(rng.integers(1, 5))]
        return Tree(str(rng.choice(["S", "NP", "ADVP|PRT", "X+Y"])), children)

    return [grow(4) for _ in range(n)]


LEFT, RIGHT = (
    Binariser(direction="left").to_dict(),
    Binariser(direction="right", unaries="collapse").to_dict(),
)
PROJECTION = np.random.default_rng(1).standard_normal((8, 3))
TOPICS = np.array([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]])
WORDS = ["the", "cat", ""]
HIDDEN = {
    "initial": np.array([0.6, 0.4]),
    "transition": np.array([[0.7, 0.2], [0.3, 0.8]]),
    "emission": np.array([[0.5, 0.1], [0.2, 0.1], [0.3, 0.8]]),
}
SENTENCES = random_sentences(37)
TREES = random_trees(37)

CASES = [
    MomentsCase("Counts of words", Counts, SENTENCES, {}, exact=True),
    MomentsCase("words that may go to disk", WordCounts, SENTENCES, {}, exact=True),
    MomentsCase("Counts of tuples", BigramCounts, SENTENCES, {}, exact=True),
    MomentsCase(
        "integer arrays",
        lambda: WordIndexCounts(["cat", "mat"]),
        SENTENCES,
        {"vocabulary": lambda: WordIndexCounts(["mat", "cat"])},
        exact=True,
    ),
    MomentsCase(
        "float arrays",
        lambda: RandomCovariance(PROJECTION),
        SENTENCES,
        {
            "projection": lambda: RandomCovariance(-PROJECTION),
            "scale": lambda: RandomCovariance(PROJECTION, scale=2.0),
        },
        exact=False,
    ),
    MomentsCase(
        "rules of trees",
        lambda: RuleCounts(LEFT),
        TREES,
        {"binariser": lambda: RuleCounts(RIGHT)},
        exact=True,
    ),
    MomentsCase(
        "log of trees",
        lambda: TreeLog(LEFT),
        TREES,
        {"binariser": lambda: TreeLog(RIGHT)},
        exact=True,
    ),
    MomentsCase(
        "log of tagged sentences",
        TagLog,
        [(words, [word[:1] for word in words]) for words in SENTENCES],
        {},
        exact=True,
    ),
    MomentsCase(
        "pairs of words in documents",
        lambda: PairMoments(["the", "cat", "mat", "🐈"]),
        SENTENCES,
        {"vocabulary": lambda: PairMoments(["cat"])},
        exact=False,
    ),
    MomentsCase(
        "projected triples of words in documents",
        lambda: TripleMoments(["the", "cat", "mat", "🐈"], PROJECTION[:4]),
        SENTENCES,
        {
            "vocabulary": lambda: TripleMoments(["cat", "the", "mat", "🐈"], PROJECTION[:4]),
            "projection": lambda: TripleMoments(["the", "cat", "mat", "🐈"], -PROJECTION[:4]),
        },
        exact=False,
    ),
    MomentsCase(
        "expected counts of words in topics",
        lambda: ExpectedCounts(["the", "cat", "mat"], TOPICS, TOPICS[:, 0], 1.0),
        SENTENCES,
        {
            "vocabulary": lambda: ExpectedCounts(["cat", "the", "mat"], TOPICS, TOPICS[:, 0], 1.0),
            "topics": lambda: ExpectedCounts(["the", "cat", "mat"], TOPICS[::-1], TOPICS[:, 0], 1.0),
            "weights": lambda: ExpectedCounts(["the", "cat", "mat"], TOPICS, TOPICS[::-1, 0], 1.0),
            "alpha0": lambda: ExpectedCounts(["the", "cat", "mat"], TOPICS, TOPICS[:, 0], 0.0),
            "iteration": lambda: ExpectedCounts(["the", "cat", "mat"], TOPICS, TOPICS[:, 0], 1.0, 2),
        },
        exact=False,
    ),
    MomentsCase(
        "expected transitions of a hidden Markov model",
        lambda: ExpectedTransitions(WORDS, **HIDDEN),
        SENTENCES,
        {
            "vocabulary": lambda: ExpectedTransitions(["cat", "the", ""], **HIDDEN),
            "initial": lambda: ExpectedTransitions(
                WORDS, **{**HIDDEN, "initial": HIDDEN["initial"][::-1].copy()}
            ),
            "transition": lambda: ExpectedTransitions(
                WORDS, **{**HIDDEN, "transition": HIDDEN["transition"][::-1].copy()}
            ),
            "emission": lambda: ExpectedTransitions(
                WORDS, **{**HIDDEN, "emission": HIDDEN["emission"][::-1].copy()}
            ),
        },
        exact=False,
    ),
    MomentsCase(
        "n-grams of symbols",
        lambda: NGramCounts(["the", "cat", "mat"], 3),
        SENTENCES,
        {
            "vocabulary": lambda: NGramCounts(["cat", "the", "mat"], 3),
            "order": lambda: NGramCounts(["the", "cat", "mat"], 2),
            "first": lambda: NGramCounts(["the", "cat", "mat"], 3, first=3),
        },
        exact=True,
    ),
    MomentsCase(
        "n-grams of all symbols",
        lambda: OpenNGramCounts(3),
        SENTENCES,
        {"order": lambda: OpenNGramCounts(2), "first": lambda: OpenNGramCounts(3, first=3)},
        exact=True,
    ),
    MomentsCase("log of documents", DocumentLog, SENTENCES, {}, exact=True),
    *(
        MomentsCase(
            f"hashes of {unit}s",
            partial(DocumentDigests, ["00", "ff"], unit),
            [" ".join(words) + "\n" for words in SENTENCES],
            {
                "salts": partial(DocumentDigests, ["ff", "00"], unit),
                "unit": partial(DocumentDigests, ["00", "ff"], "line" if unit == "file" else "file"),
            },
            exact=True,
        )
        for unit in get_args(DocumentUnit)
    ),
    MomentsCase(
        "pairs of words",
        lambda: PairCounts(window=2),
        SENTENCES,
        {
            "window": lambda: PairCounts(window=3),
            "lowercase": lambda: PairCounts(lowercase=False),
            "max_words": lambda: PairCounts(max_words=100),
            "max_pairs": lambda: PairCounts(max_pairs=100),
        },
        exact=True,
    ),
    MomentsCase(
        "pairs of hashed words",
        lambda: HashedPairCounts(3),
        SENTENCES,
        {
            "hash_bits": lambda: HashedPairCounts(4),
            "window": lambda: HashedPairCounts(3, window=3),
            "lowercase": lambda: HashedPairCounts(3, lowercase=False),
            "max_pairs": lambda: HashedPairCounts(3, max_pairs=100),
        },
        exact=True,
    ),
    *(
        MomentsCase(name, empty, ROWS, others, exact, engines_of(name))
        for name, (empty, others), exact in LINEAR_CASES
    ),
    *(
        MomentsCase(name, empty, examples, others, exact, engines_of(name))
        for name, (empty, others), examples, exact in FEATURIZER_CASES
    ),
    *(
        MomentsCase(name, empty, ROWS, others, False, engines_of(name), assert_within_bounds)
        for name, (empty, others) in DIRECTIONS_CASES
    ),
]
