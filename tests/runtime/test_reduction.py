"""The order of merging, second tries, and what is left out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectralnlp.errors import InputError, SpectralError
from spectralnlp.runtime import (
    FAN_IN,
    Corpus,
    Counts,
    Joint,
    MergeTree,
    Part,
    Partition,
    SerialEngine,
    SkippingCorpus,
    accumulate,
    skip_bad_partitions,
)
from spectralnlp.runtime.context import executing


@dataclass
class Written:
    """Moments that remember how they were merged: ``((0 1) 2)``."""

    text: str

    def merge(self, other: Written) -> None:
        self.text = f"({self.text} {other.text})"


def level_by_level(texts: list[str]) -> str:
    """Return the sum of such a tree, built from the leaves up as distributed workers build it."""
    while len(texts) > 1:
        groups = [texts[at : at + FAN_IN] for at in range(0, len(texts), FAN_IN)]
        for group in groups:
            while len(group) > 1:
                group[:2] = [f"({group[0]} {group[1]})"]
        texts = [group[0] for group in groups]
    return texts[0]


@given(st.integers(1, 5 * FAN_IN**2))
def test_a_stream_is_merged_in_the_order_of_the_tree(n: int) -> None:
    tree: MergeTree = MergeTree()  # type: ignore[type-arg]
    for leaf in range(n):
        tree.add(Part(Written(str(leaf))))  # type: ignore[type-var]
    total = tree.total()
    assert total is not None
    assert total.moments.text == level_by_level([str(leaf) for leaf in range(n)])


def test_few_parts_are_merged_from_left_to_right() -> None:
    assert level_by_level(list("abcd")) == "(((a b) c) d)"
    assert MergeTree().total() is None


def test_moments_may_be_merged_one_after_the_other() -> None:
    tree: MergeTree = MergeTree(sys.maxsize)  # type: ignore[type-arg]
    for leaf in range(20):
        tree.add(Part(Written(str(leaf))))  # type: ignore[type-var]
    total = tree.total()
    assert total is not None
    assert total.moments.text.startswith("(" * 19 + "0 1) 2)")


def test_joint_moments_are_merged_as_the_largest_of_them() -> None:
    class Large(Counts):
        fan_in = sys.maxsize

    assert Joint({"small": Counts(), "large": Large()}).fan_in == sys.maxsize


@dataclass
class Flaky(Corpus[list[str]]):
    """Three partitions; what the second does depends on how often it was read."""

    second: list[Exception | None]
    reads: list[int] = field(default_factory=list)

    def partitions(self) -> list[Partition[list[str]]]:
        return [Partition(f"part-{i}", i, 0, partial(self.read, i)) for i in range(3)]

    def read(self, number: int) -> Iterator[list[str]]:
        if number == 1:
            self.reads.append(number)
            problem = self.second[min(len(self.reads), len(self.second)) - 1]
            if problem is not None:
                yield ["torn"]
                raise problem
        yield [f"w{number}"]


class Patient(SerialEngine):
    attempts = 3
    pause = 0.0


@pytest.fixture
def patient() -> Iterator[None]:
    with executing(engine=Patient()):
        yield


ALL = [("w0", 1), ("w1", 1), ("w2", 1)]


@pytest.mark.usefixtures("patient")
def test_a_partition_is_read_again_where_the_fault_is_not_the_datas() -> None:
    corpus = Flaky([OSError("away"), _unreadable(), None])
    assert list(accumulate(Counts(), corpus).items()) == ALL
    assert len(corpus.reads) == 3


@pytest.mark.usefixtures("patient")
def test_bad_data_is_not_read_again() -> None:
    corpus = Flaky([InputError("unbalanced", path="part-1")])
    with pytest.raises(InputError, match="part-1: unbalanced"):
        accumulate(Counts(), corpus)
    assert len(corpus.reads) == 1


@pytest.mark.usefixtures("patient")
def test_what_goes_on_failing_is_named() -> None:
    with pytest.raises(
        SpectralError, match=r"part-1: failed 3 times, .*KeyError: 'bug'; skip_bad_partitions leaves"
    ):
        accumulate(Counts(), Flaky([KeyError("bug")]))


def test_without_second_tries_a_bug_stays_the_exception_it_is() -> None:
    with pytest.raises(KeyError, match="bug"):
        accumulate(Counts(), Flaky([KeyError("bug")]))


def test_a_bad_partition_is_left_out_whole_and_in_all_passes() -> None:
    said: list[str] = []
    corpus = Flaky([InputError("unbalanced", line=7), None])
    with skip_bad_partitions(said.append):
        first = accumulate(Counts(), corpus)
        second = accumulate(Counts(), corpus)  # would be readable now
    assert list(first.items()) == list(second.items()) == [("w0", 1), ("w2", 1)]
    assert said == ["left out part-1: line 7: unbalanced"]
    assert len(corpus.reads) == 1


def test_a_corpus_of_nothing_but_bad_partitions_is_refused() -> None:
    class Bad(Flaky):
        def partitions(self) -> list[Partition[list[str]]]:
            return super().partitions()[1:2]

    said: list[str] = []
    with skip_bad_partitions(said.append), pytest.raises(InputError, match="none of 1 partitions"):
        accumulate(Counts(), Bad([InputError("unbalanced")]))


def test_a_skipping_corpus_reads_around_what_is_bad() -> None:
    corpus = SkippingCorpus(Flaky([InputError("unbalanced")]))
    assert list(corpus) == [["w0"], ["torn"], ["w2"]]


def _unreadable() -> InputError:
    error = InputError("cannot read the file")
    error.__cause__ = OSError("away")
    return error
