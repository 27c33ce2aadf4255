"""The moments that the law suite holds to its laws: append a case for each new class.

A case's classes and data live in an importable module, so that worker processes can be sent them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, get_args

import numpy as np
from sketch_cases import (
    DIRECTIONS_CASES,
    FEATURIZER_CASES,
    LINEAR_CASES,
    NGRAM_DIRECTIONS,
    ROWS,
    SCATTER_CASES,
    TEXTS,
    assert_same_components,
    assert_within_bounds,
    engines_of,
)

from spectralnlp.changes.ledger import DocumentDigests
from spectralnlp.estimators.eigenwords import PairCounts
from spectralnlp.estimators.hmm.moments import ExpectedTransitions, NGramCounts
from spectralnlp.estimators.pcfg.moments import RuleCounts
from spectralnlp.estimators.shared.word_counts import WordCounts
from spectralnlp.estimators.topics.moments import DocumentLog, ExpectedCounts, PairMoments, TripleMoments
from spectralnlp.runtime import Batch, Counts, Moments
from spectralnlp.tasks.task import DocumentUnit
from spectralnlp.testing import MomentsCase
from spectralnlp.text.tag_log import TagLog
from spectralnlp.trees import Binariser, Tree
from spectralnlp.trees.treelog import TreeLog

ALL_ENGINES = ("serial", "threads", "processes")


def case(
    name: str,
    cls: Callable[..., Moments[Any]],
    examples: Sequence[Any],
    parameters: Mapping[str, tuple[Any, Any]] | None = None,
    *,
    exact: bool = True,
) -> MomentsCase:
    """A case on all engines.

    Args:
        name: shown in test names.
        cls: the class of moments.
        examples: data to observe.
        parameters: of the class, each with another value that must not merge with it.
        exact: whether the sums are of integers, equal to the last bit in any order.
    """
    parameters = parameters or {}
    own = {key: each for key, (each, _) in parameters.items()}
    return MomentsCase(
        name=name,
        empty=partial(cls, **own),
        examples=examples,
        others={key: partial(cls, **{**own, key: other}) for key, (_, other) in parameters.items()},
        exact=exact,
        engines=ALL_ENGINES,
    )


class BigramCounts(Counts[Sequence[str]]):
    def events(self, example: Sequence[str]) -> list[tuple[str, str]]:
        return list(pairwise(example))


class WordIndexCounts(Moments[Sequence[str]]):
    """Integer array state with a parameter: the smallest moments that use every default."""

    subtractable = True

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.vocabulary = list(vocabulary)
        self.counts = np.zeros(len(self.vocabulary), dtype=np.int64)

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
VOCABULARIES = (["the", "cat", "mat"], ["cat", "the", "mat"])
HIDDEN = {
    "initial": np.array([0.6, 0.4]),
    "transition": np.array([[0.7, 0.2], [0.3, 0.8]]),
    "emission": np.array([[0.5, 0.1], [0.2, 0.1], [0.3, 0.8]]),
}
SENTENCES = random_sentences(37)
TREES = random_trees(37)

CASES = [
    case("Counts of words", Counts, SENTENCES),
    case("words that may go to disk", WordCounts, SENTENCES),
    case("Counts of tuples", BigramCounts, SENTENCES),
    case("integer arrays", WordIndexCounts, SENTENCES, {"vocabulary": (["cat", "mat"], ["mat", "cat"])}),
    case(
        "float arrays",
        RandomCovariance,
        SENTENCES,
        {"projection": (PROJECTION, -PROJECTION), "scale": (1.0, 2.0)},
        exact=False,
    ),
    case("rules of trees", RuleCounts, TREES, {"binariser": (LEFT, RIGHT)}),
    case("log of trees", TreeLog, TREES, {"binariser": (LEFT, RIGHT)}),
    case("log of tagged sentences", TagLog, [(words, [word[:1] for word in words]) for words in SENTENCES]),
    case(
        "pairs of words in documents",
        PairMoments,
        SENTENCES,
        {"vocabulary": (["the", "cat", "mat", "🐈"], ["cat"])},
        exact=False,
    ),
    case(
        "projected triples of words in documents",
        TripleMoments,
        SENTENCES,
        {
            "vocabulary": (["the", "cat", "mat", "🐈"], ["cat", "the", "mat", "🐈"]),
            "projection": (PROJECTION[:4], -PROJECTION[:4]),
        },
        exact=False,
    ),
    case(
        "expected counts of words in topics",
        ExpectedCounts,
        SENTENCES,
        {
            "vocabulary": VOCABULARIES,
            "topics": (TOPICS, TOPICS[::-1]),
            "weights": (TOPICS[:, 0], TOPICS[::-1, 0]),
            "alpha0": (1.0, 0.0),
            "iteration": (1, 2),
        },
        exact=False,
    ),
    case(
        "expected transitions of a hidden Markov model",
        ExpectedTransitions,
        SENTENCES,
        {
            "vocabulary": (WORDS, ["cat", "the", ""]),
            **{name: (own, own[::-1].copy()) for name, own in HIDDEN.items()},
        },
        exact=False,
    ),
    case(
        "n-grams of symbols",
        NGramCounts,
        SENTENCES,
        {"vocabulary": VOCABULARIES, "order": (3, 2), "first": (None, 3)},
    ),
    case("n-grams of all symbols", NGramCounts, SENTENCES, {"order": (3, 2), "first": (None, 3)}),
    case("log of documents", DocumentLog, SENTENCES),
    *(
        case(
            f"hashes of {unit}s",
            DocumentDigests,
            [" ".join(words) + "\n" for words in SENTENCES],
            {"salts": (["00", "ff"], ["ff", "00"]), "unit": (unit, "line" if unit == "file" else "file")},
        )
        for unit in get_args(DocumentUnit)
    ),
    case(
        "pairs of words",
        PairCounts,
        SENTENCES,
        {"window": (2, 3), "lowercase": (True, False)},
    ),
    *(
        MomentsCase(
            name=name, empty=empty, examples=ROWS, others=others, exact=exact, engines=engines_of(name)
        )
        for name, (empty, others), exact in LINEAR_CASES
    ),
    *(
        MomentsCase(
            name=name, empty=empty, examples=examples, others=others, exact=exact, engines=engines_of(name)
        )
        for name, (empty, others), examples, exact in FEATURIZER_CASES
    ),
    *(
        MomentsCase(
            name=name,
            empty=empty,
            examples=ROWS,
            others=others,
            exact=False,
            engines=engines_of(name),
            assert_same=assert_within_bounds,
        )
        for name, (empty, others) in DIRECTIONS_CASES
    ),
    *(
        MomentsCase(
            name=name,
            empty=empty,
            examples=ROWS,
            others=others,
            exact=False,
            engines=engines_of(name),
            assert_same=assert_same_components,
        )
        for name, (empty, others) in SCATTER_CASES
    ),
    MomentsCase(
        name="directions of n-grams",
        empty=NGRAM_DIRECTIONS[0],
        examples=TEXTS,
        others=NGRAM_DIRECTIONS[1],
        exact=False,
        engines=("serial", "threads", "processes"),
        assert_same=assert_within_bounds,
    ),
]
