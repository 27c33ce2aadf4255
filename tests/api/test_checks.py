"""The checks of `spectralnlp.testing` see what is broken, and say what was promised."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from annotated_types import Ge
from typing_extensions import Doc

from spectralnlp import Batch, Corpus, Counts, MomentEstimator, Moments, Tree
from spectralnlp.errors import ConfigError
from spectralnlp.estimators.hmm import HMM
from spectralnlp.inference.trees.decoders import MaxRuleDecoder, MBRDecoder, ViterbiDecoder
from spectralnlp.runtime import open_text
from spectralnlp.tasks.sequences import SequenceTask
from spectralnlp.testing import (
    check_decoder,
    check_estimator,
    check_moments,
    check_reader,
    check_task,
)
from spectralnlp.trees.readers import PTB

SENTENCES = [["a", "b", "a"], ["b", "c"], ["c", "a"], ["d"]]


@dataclass(kw_only=True, eq=False, repr=False)
class Commonest(MomentEstimator[Sequence[str]]):
    """The commonest words."""

    task = "counting"
    unlearning = "exact"

    n_words: Annotated[int, Ge(1), Doc("How many words.")] = 2

    def init_moments(self, corpus: Corpus[Sequence[str]]) -> Counts[Sequence[str]]:
        return Counts()

    def solve(self, moments: Counts[Sequence[str]]) -> None:
        self.words_ = moments.top(self.n_words)


class OwnFit(Commonest):
    """An estimator that overrides fit."""

    def fit(self, X: Any, y: object = None) -> OwnFit:
        self.validate()
        self.words_, self.seen = [], len(list(X))
        return self


class Random(Commonest):
    """An estimator with randomness of its own."""

    def solve(self, moments: Counts[Sequence[str]]) -> None:
        self.words_ = np.random.default_rng().random(3)


class Careless(Commonest):
    """An estimator that changes its hyper-parameters."""

    def solve(self, moments: Counts[Sequence[str]]) -> None:
        self.n_words += 1
        self.words_ = moments.top(self.n_words)


@dataclass(kw_only=True, eq=False, repr=False)
class Undeclared(Commonest):
    """An estimator with a hyper-parameter that nothing is said of."""

    size: int = 3


class Undecorated(Commonest):
    """An estimator whose field is none, for want of a decorator."""

    size: Annotated[int, Ge(1), Doc("How large.")] = 3


def test_an_estimator_passes() -> None:
    check_estimator(Commonest, SENTENCES)
    check_estimator(Commonest(n_words=1), SENTENCES)


@pytest.mark.parametrize(
    ("broken", "promise"),
    [
        (OwnFit, "fit is that of MomentEstimator"),
        (OwnFit, "fitted attributes end in _: seen"),
        (Random, "the same data and hyper-parameters give the same fit"),
        (Careless, "fit leaves hyper-parameters as they are"),
        (Undecorated, "the class is a dataclass"),
        (Undeclared, "the declaration of size has a line of help"),
    ],
)
def test_a_broken_estimator_is_told_what_it_promised(broken: type[Commonest], promise: str) -> None:
    with pytest.raises(AssertionError, match=promise) as failure:
        check_estimator(broken, SENTENCES)
    assert str(failure.value).startswith(f"{broken.__name__}: ")


def test_an_excuse_needs_a_reason_and_a_name() -> None:
    name = "fit_leaves"
    with pytest.raises(AssertionError, match=name):
        check_estimator(Commonest, SENTENCES, expected_failed_checks={name: "it does not"})
    with pytest.raises(AssertionError, match="needs a reason"):
        check_estimator(Commonest, SENTENCES, expected_failed_checks={"pickles": ""})
    excused = {
        "same_data_give_the_same_bytes": "a draw at each fit is the point",
        "lists_and_iterators_are_examples": "a draw at each fit is the point",
        "moments_merge": "a draw at each fit is the point",
        "exact_moments_can_be_subtracted": "a draw at each fit is the point",
    }
    check_estimator(Random, SENTENCES, expected_failed_checks=excused)


class LastBatch(Moments[Sequence[str]]):
    """Moments that are no sums: they hold the length of the last batch."""

    subtractable = True

    def __init__(self, scale: int = 1) -> None:
        self.scale, self.length = scale, np.zeros(1, np.int64)

    def arrays(self) -> dict[str, np.ndarray]:
        return {"length": self.length}

    def observe(self, batch: Batch[Sequence[str]]) -> None:
        self.length[:] = self.scale * len(batch)


class Sums(LastBatch):
    """Moments that keep the promises."""

    def observe(self, batch: Batch[Sequence[str]]) -> None:
        self.length += self.scale * len(batch)


def test_moments() -> None:
    check_moments(Counts, SENTENCES)
    check_moments(Sums, SENTENCES, others={"scale": lambda: Sums(2)})
    with pytest.raises(AssertionError, match="the size of batches does not matter"):
        check_moments(LastBatch, SENTENCES)
    with pytest.raises(AssertionError, match="others needs an entry"):
        check_moments(Sums, SENTENCES, others={})
    with pytest.raises(AssertionError, match="leave no trace"):
        check_moments(Counts, [[], [], []])


TREE = "( (S (NP (NNP Ana)) (VP (VBZ sings))) )\n"


class Words:
    """A reader of lines of words."""

    def __init__(self, *, lazy: bool = True, unzips: bool = True) -> None:
        self.lazy, self.unzips = lazy, unzips

    def read(self, path: Path, on_bad: Callable[..., None] | None = None) -> Iterator[Tree] | list[Tree]:
        trees = self._trees(path)
        return trees if self.lazy else list(trees)

    def _trees(self, path: Path) -> Iterator[Tree]:
        if not self.unzips and path.suffix == ".gz":
            return
        with open_text(path) as lines:
            for line in lines:
                yield Tree("TOP", [Tree("X", word=word) for word in line.split()])


def test_readers() -> None:
    check_reader(PTB, 2 * TREE, words=[["Ana", "sings"]] * 2, bad_text=f"( (S (NP Ana sings)) )\n{TREE}")
    check_reader(Words(), "a b\nc\n", words=[["a", "b"], ["c"]])
    with pytest.raises(AssertionError, match="a stream"):
        check_reader(Words(lazy=False), "a b\nc\n")
    with pytest.raises(AssertionError, match="use open_text"):
        check_reader(Words(unzips=False), "a b\nc\n")
    with pytest.raises(AssertionError, match="the words are right"):
        check_reader(Words(), "a b\nc\n", words=[["a"], ["c"]])
    with pytest.raises(AssertionError, match="a bad tree is an InputError"):
        check_reader(Words(), "a b\nc\n", bad_text="a\nb\n")


class FirstEdges(MBRDecoder):
    """A decoder that takes the first hyperedge of every node."""

    def decode(self, scored: Any) -> Any:
        return scored.forest.edges[:-1].astype(np.int32)


class WorstFirst(MBRDecoder):
    """A decoder whose list is upside down."""

    def k_best(self, scored: Any, k: int) -> list[tuple[float, Any]]:
        return super().k_best(scored, k)[::-1]


def test_decoders() -> None:
    for decoder in (MBRDecoder, MaxRuleDecoder, ViterbiDecoder):
        check_decoder(decoder)
    with pytest.raises(AssertionError, match="decode chooses"):
        check_decoder(FirstEdges)
    with pytest.raises(AssertionError, match="the best first"):
        check_decoder(WorstFirst)


class Scoreless(SequenceTask):
    """A task whose models have no score."""

    def evaluate(self, model: Any, corpus: Any) -> Any:
        raise ConfigError("no score")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_tasks(own_corpora: Path) -> None:
    text = own_corpora / "text" / "tokenized.txt"
    check_task(SequenceTask, HMM(n_states=3), [text], gold=[text])
    check_task(Scoreless(), HMM(n_states=3), [text])
    with pytest.raises(AssertionError, match="the estimator's task is 'counting'"):
        check_task(SequenceTask, Commonest(), [text], gold=[text])
    with pytest.raises(AssertionError, match="refuses to evaluate"):
        check_task(SequenceTask, HMM(n_states=3), [text])
