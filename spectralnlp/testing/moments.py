"""Checks for moments (statistics that add up): sums must not depend on how data are split and merged."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from spectralnlp.display import one_line
from spectralnlp.errors import ConfigError
from spectralnlp.runtime import Batch, InMemoryCorpus, Moments, accumulate, use_engine
from spectralnlp.testing.asserting import refusal, require, run_checks

Empty = Callable[[], Moments[Any]]
State = dict[str, tuple[str, tuple[int, ...], bytes]]
# Number of random splits that `check_moments` tries.
N_SPLITS = 20


@dataclass(frozen=True)
class MomentsCase:
    """Input of a check of moments: a function that makes empty moments, and the examples to observe.

    Args:
        name: name of the moments, for messages.
        empty: function that returns new empty moments.
        examples: examples to observe.
        others: dictionary from the name of each parameter of the moments to a function that returns empty
            moments with another value of this parameter.
        exact: whether sums are equal to the last bit in any order, like sums of integers.
        engines: names of execution engines whose results must be equal to the byte.
        assert_same: function that raises an AssertionError if two moments differ; None to compare all
            their numbers.

    Examples:
        >>> from spectralnlp.estimators.eigenwords import PairCounts
        >>> from spectralnlp.testing import MomentsCase
        >>> case = MomentsCase("pairs", lambda: PairCounts(window=1), [["a", "b"], ["b", "c"]])
        >>> case.name, case.exact
        ('pairs', True)
    """

    name: str
    empty: Empty
    examples: Sequence[Any]
    others: Mapping[str, Empty] = field(default_factory=dict)
    exact: bool = True
    engines: Sequence[str] = ("serial", "threads")
    assert_same: Callable[[Any, Any], None] | None = None

    __repr__ = one_line

    def observed(self, start: int, end: int) -> Moments[Any]:
        """Return moments of the examples from ``start`` to ``end``."""
        moments = self.empty()
        moments.observe(Batch(self.examples[start:end], "memory", 0, start))
        return moments

    def thirds(self) -> tuple[int, int]:
        """Return the two indices at which the examples are divided into three parts."""
        n = len(self.examples)
        return n // 3, 2 * n // 3


def check_moments(
    empty: Empty,
    examples: Iterable[Any],
    *,
    others: Mapping[str, Empty] | None = None,
    exact: bool | None = None,
    assert_same: Callable[[Any, Any], None] | None = None,
    engines: Sequence[str] = ("serial", "threads"),
    expected_failed_checks: Mapping[str, str] | None = None,
) -> None:
    """Check that a class of moments can be merged, subtracted and stored.

    Args:
        empty: a class, or a function without arguments, that returns empty moments.
        examples: a corpus or a list of at least three examples that change the moments.
        others: dictionary from the name of each parameter of the moments to a function that returns empty
            moments with another value of this parameter; None to skip the check that moments with different
            parameters do not merge.
        exact: whether sums are equal to the last bit in any order; None to take the value of the class
            attribute ``subtractable``.
        assert_same: function that raises an AssertionError if two moments differ; None to compare all
            their numbers.
        engines: names of execution engines whose results must be equal to the byte; add ``processes`` if
            the classes of the examples and moments are in modules that other processes can import.
        expected_failed_checks: names of checks to skip, each with the reason.

    Raises:
        AssertionError: requirements are violated; the message lists all of them.

    Examples:
        >>> from spectralnlp.estimators.eigenwords import PairCounts
        >>> from spectralnlp.testing import check_moments
        >>> check_moments(lambda: PairCounts(window=1), [["a", "b"], ["b", "c"], ["a"]])
    """
    sample = empty()
    case = MomentsCase(
        name=type(sample).__name__,
        empty=empty,
        examples=list(examples),
        others=dict(others or {}),
        exact=type(sample).subtractable if exact is None else exact,
        engines=engines,
        assert_same=assert_same,
    )
    checks = {
        name: check for name, check in MOMENTS_CHECKS.items() if others is not None or name != _TOLD_APART
    }
    run_checks(checks, expected_failed_checks or {}, case.name, case)


def moments_state(moments: Moments[Any]) -> State:
    """Return the arrays of moments by name, each as (dtype, shape, bytes), for exact comparison.

    Examples:
        >>> from spectralnlp.estimators.eigenwords import PairCounts
        >>> from spectralnlp.testing import moments_state
        >>> moments_state(PairCounts(window=1)) == moments_state(PairCounts(window=1))
        True
    """
    return {name: (str(a.dtype), a.shape, a.tobytes()) for name, a in moments.arrays().items()}


def require_same(case: MomentsCase, left: Moments[Any], right: Moments[Any], promise: str) -> None:
    """Raise an AssertionError unless two moments have the same sums.

    Args:
        case: specifies whether sums must be equal exactly or approximately.
        left, right: the moments to compare.
        promise: the requirement, for the error message.
    """
    if case.assert_same is not None:
        case.assert_same(left, right)
        return
    if case.exact:
        ours, theirs = moments_state(left), moments_state(right)
        names = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
        require(not names, f"{promise}: {', '.join(names)} differ")
        return
    numbers, others = left.arrays(), right.arrays()
    require(numbers.keys() == others.keys(), f"{promise}: the arrays have other names")
    for name in numbers:
        np.testing.assert_allclose(numbers[name], others[name], rtol=1e-9, atol=1e-9, err_msg=promise)


def check_partition(case: MomentsCase, bounds: Sequence[tuple[int, int]], merges: Sequence[int]) -> None:
    """Check that moments of parts of the examples, merged in a given order, equal moments of all examples.

    Args:
        case: the moments and the examples.
        bounds: pairs (start, end) of indices of examples, one for each part, ``end`` exclusive; parts may be
            in any order.
        merges: order of the merges, one integer for each. If p parts are left, the integer i merges part
            j + 1 into part j, where j is i modulo p - 1.

    Raises:
        AssertionError: the merged moments differ from those of all examples.

    Examples:
        >>> from spectralnlp.estimators.eigenwords import PairCounts
        >>> from spectralnlp.testing import MomentsCase, check_partition
        >>> case = MomentsCase("pairs", lambda: PairCounts(window=1), [["a", "b"], ["b", "c"], ["a"]])
        >>> check_partition(case, bounds=[(0, 1), (1, 3)], merges=[0])
    """
    parts = [case.observed(*each) for each in bounds]
    for which in merges:
        left = which % (len(parts) - 1)
        parts[left].merge(parts.pop(left + 1))
    whole = case.observed(0, len(case.examples))
    require_same(case, parts[0], whole, "parts in any order merge into the whole")


def _examples_leave_a_trace(case: MomentsCase) -> None:
    require(len(case.examples) >= 3, "three examples or more are needed")
    trace = moments_state(case.observed(0, len(case.examples))) != moments_state(case.empty())
    require(trace, "the examples leave no trace in the moments: other examples are needed")


def _parts_merge_into_the_whole(case: MomentsCase) -> None:
    rng, n = np.random.default_rng(0), len(case.examples)
    for _ in range(N_SPLITS):
        cuts = sorted(rng.integers(0, n + 1, size=rng.integers(0, 7)).tolist())
        bounds = list(zip([0, *cuts], [*cuts, n], strict=True))
        shuffled = [bounds[at] for at in rng.permutation(len(bounds))]
        check_partition(case, shuffled, rng.integers(0, 100, size=len(cuts)).tolist())


def _batch_size_does_not_matter(case: MomentsCase) -> None:
    corpus = InMemoryCorpus(case.examples)
    one = accumulate(case.empty(), corpus, batch_size=1)
    all_at_once = accumulate(case.empty(), corpus, batch_size=len(case.examples))
    require_same(case, one, all_at_once, "the size of batches does not matter")


def _engines_agree_to_the_byte(case: MomentsCase) -> None:
    corpus = InMemoryCorpus(case.examples, n_partitions=5)
    expected = moments_state(accumulate(case.empty(), corpus, batch_size=4))
    for name in case.engines:
        with use_engine(name, **({} if name == "serial" else {"jobs": 2})):
            found = moments_state(accumulate(case.empty(), corpus, batch_size=4))
        require(found == expected, f"the engine {name!r} gives other moments than the serial one")


def _empty_moments_are_neutral(case: MomentsCase) -> None:
    whole = case.observed(0, len(case.examples))
    before = moments_state(whole)
    whole.merge(whole.empty_like())
    require(moments_state(whole) == before, "merging empty moments changes nothing")
    zero = whole.empty_like()
    require(moments_state(zero) == moments_state(case.empty()), "empty_like gives empty moments")
    zero.merge(whole)
    require(moments_state(zero) == before, "empty moments merged with others are the others")


def _merging_leaves_the_other_alone(case: MomentsCase) -> None:
    first, second = case.thirds()
    left, right = case.observed(0, first), case.observed(first, second)
    before = moments_state(right)
    left.merge(right)
    left.observe(Batch(case.examples[second:], "memory", 0, second))
    require(moments_state(right) == before, "merge changes only what it is called on, also later")


def _merging_tells_parameters_apart(case: MomentsCase) -> None:
    names = set(case.empty().parameters())
    require(set(case.others) == names, f"others needs an entry for each of {sorted(names)}")
    for name, other in case.others.items():
        promise = f"merging moments that differ in {name!r} is refused"
        message = refusal(partial(case.empty().merge, other()), promise, ConfigError)
        require(name in message, f"the refusal names the parameter {name!r}: {message}")


def _merging_refuses_another_class(case: MomentsCase) -> None:
    stranger: Any = type("Stranger", (type(case.empty()),), {})
    other = stranger(**case.empty().parameters())
    refusal(lambda: case.empty().merge(other), "merging moments of another class is refused", ConfigError)


def _subtracting_undoes_merging_or_is_refused(case: MomentsCase) -> None:
    cut = case.thirds()[1]
    rest, gone = case.observed(0, cut), case.observed(cut, len(case.examples))
    before = moments_state(rest)
    rest.merge(gone)
    if not rest.subtractable:
        refusal(
            lambda: rest.subtract(gone), "subtracting is refused where subtractable is False", ConfigError
        )
        return
    rest.subtract(gone)
    require(moments_state(rest) == before, "subtracting undoes merging, to the byte")


def _arrays_restore_the_moments(case: MomentsCase) -> None:
    moments = case.observed(0, len(case.examples))
    copy = type(moments).from_arrays(moments.parameters(), moments.arrays())
    require(
        moments_state(copy) == moments_state(moments),
        "from_arrays(parameters(), arrays()) gives the same moments",
    )
    copy.merge(case.observed(0, max(1, case.thirds()[0])))
    require(
        moments_state(copy) != moments_state(moments), "restored moments own their state, and can be added to"
    )


def _moments_survive_pickling(case: MomentsCase) -> None:
    moments = case.observed(0, len(case.examples))
    copy = pickle.loads(pickle.dumps(moments))
    require(moments_state(copy) == moments_state(moments), "pickling, which workers need, keeps the moments")


def _arrays_hold_no_objects(case: MomentsCase) -> None:
    for name, array in case.observed(0, len(case.examples)).arrays().items():
        require(array.dtype.kind in "biufc", f"arrays hold numbers; {name} has dtype {array.dtype}")


_TOLD_APART = "merging_tells_parameters_apart"
# The checks by name; each takes a `MomentsCase` and raises an AssertionError if it is violated.
MOMENTS_CHECKS: Mapping[str, Callable[[MomentsCase], None]] = {
    "examples_leave_a_trace": _examples_leave_a_trace,
    "parts_merge_into_the_whole": _parts_merge_into_the_whole,
    "batch_size_does_not_matter": _batch_size_does_not_matter,
    "engines_agree_to_the_byte": _engines_agree_to_the_byte,
    "empty_moments_are_neutral": _empty_moments_are_neutral,
    "merging_leaves_the_other_alone": _merging_leaves_the_other_alone,
    _TOLD_APART: _merging_tells_parameters_apart,
    "merging_refuses_another_class": _merging_refuses_another_class,
    "subtracting_undoes_merging_or_is_refused": _subtracting_undoes_merging_or_is_refused,
    "arrays_restore_the_moments": _arrays_restore_the_moments,
    "moments_survive_pickling": _moments_survive_pickling,
    "arrays_hold_no_objects": _arrays_hold_no_objects,
}
