from __future__ import annotations

import pytest

from spectralnlp.errors import InputError
from spectralnlp.runtime import Batch, Counts, InMemoryCorpus, accumulate


def count(*keys: str | tuple[str, ...]) -> Counts[list[str]]:
    counts: Counts[list[str]] = Counts()
    counts.observe(Batch([list(keys)], "test", 0, 0))  # type: ignore[list-item]
    return counts


def test_counts_read_like_a_dictionary() -> None:
    counts = accumulate(Counts(), InMemoryCorpus([["b", "a"], ["b"]]))
    assert (counts["b"], counts["a"], counts["z"]) == (2, 1, 0)
    assert "a" in counts
    assert "z" not in counts
    assert (len(counts), counts.total()) == (2, 3)


def test_the_order_of_keys_does_not_depend_on_the_order_of_data() -> None:
    left, right = count("b", "a", ("a",), ("a", "b"), "b"), count("b", ("a", "b"), ("a",), "b", "a")
    assert list(left.items()) == list(right.items()) == [("a", 1), (("a",), 1), (("a", "b"), 1), ("b", 2)]
    assert left.top(2) == right.top(2) == ["b", "a"]
    assert left.arrays()["keys"].tobytes() == right.arrays()["keys"].tobytes()


def test_forgetting_leaves_no_zeros() -> None:
    counts = count("a", "a", "b")
    counts.subtract(count("a", "b"))
    assert list(counts.items()) == [("a", 1)]
    assert "b" not in counts


def test_forgetting_what_was_not_counted_is_refused_and_changes_nothing() -> None:
    counts = count("a", "b")
    with pytest.raises(InputError, match="cannot take out 2 of 'b': 1 counted"):
        counts.subtract(count("a", "b", "b"))
    assert list(counts.items()) == [("a", 1), ("b", 1)]


def test_any_string_survives_the_arrays() -> None:
    counts = count("", "\ud800", "🐈", '"', "a\0b", ("NP", "DT\tNN"))
    copy = Counts.from_arrays({}, counts.arrays())
    assert list(copy.items()) == list(counts.items())
