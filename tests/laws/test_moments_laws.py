"""The laws that all moments obey: however the data was split, ordered and merged, the sums are the same."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from moments_cases import CASES, MomentsCase

from spectralnlp.errors import ConfigError
from spectralnlp.runtime import Batch, InMemoryCorpus, Moments, accumulate, use_engine

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def observed(case: MomentsCase, start: int, end: int) -> Moments[Any]:
    moments = case.empty()
    moments.observe(Batch(case.examples[start:end], "memory", 0, start))
    return moments


def state(moments: Moments[Any]) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    return {name: (str(a.dtype), a.shape, a.tobytes()) for name, a in moments.arrays().items()}


def assert_same(case: MomentsCase, left: Moments[Any], right: Moments[Any]) -> None:
    if case.assert_same is not None:
        case.assert_same(left, right)
        return
    if case.exact:
        assert state(left) == state(right)
        return
    ours, theirs = left.arrays(), right.arrays()
    assert ours.keys() == theirs.keys()
    for name in ours:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-9, atol=1e-9)


@every_case
def test_the_examples_of_a_case_leave_a_trace(case: MomentsCase) -> None:
    assert state(observed(case, 0, len(case.examples))) != state(case.empty())


@every_case
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_any_split_order_and_merge_tree_gives_the_same(case: MomentsCase, data: st.DataObject) -> None:
    n = len(case.examples)
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=6)))
    bounds = list(zip([0, *cuts], [*cuts, n], strict=True))
    parts = [observed(case, *each) for each in data.draw(st.permutations(bounds))]
    while len(parts) > 1:
        left = data.draw(st.integers(0, len(parts) - 2))
        parts[left].merge(parts.pop(left + 1))
    assert_same(case, parts[0], observed(case, 0, n))


@every_case
def test_batch_size_does_not_matter(case: MomentsCase) -> None:
    corpus = InMemoryCorpus(case.examples)
    whole = accumulate(case.empty(), corpus, batch_size=1000)
    assert_same(case, accumulate(case.empty(), corpus, batch_size=1), whole)


@every_case
def test_engines_agree_to_the_byte(case: MomentsCase) -> None:
    corpus = InMemoryCorpus(case.examples, n_partitions=5)
    expected = state(accumulate(case.empty(), corpus, batch_size=4))
    for name in case.engines:
        with use_engine(name, **({} if name == "serial" else {"jobs": 2})):
            assert state(accumulate(case.empty(), corpus, batch_size=4)) == expected, name


@every_case
def test_empty_moments_are_neutral(case: MomentsCase) -> None:
    whole = observed(case, 0, len(case.examples))
    before = state(whole)
    whole.merge(whole.empty_like())
    assert state(whole) == before
    zero = whole.empty_like()
    assert state(zero) == state(case.empty())
    zero.merge(whole)
    assert state(zero) == before


@every_case
def test_merging_leaves_the_other_alone(case: MomentsCase) -> None:
    left, right = observed(case, 0, 9), observed(case, 9, 20)
    before = state(right)
    left.merge(right)
    left.observe(Batch(case.examples[20:], "memory", 0, 20))
    assert state(right) == before


@every_case
def test_merge_refuses_other_parameters_and_names_them(case: MomentsCase) -> None:
    # Every parameter has a variant in the case, so none goes unchecked.
    assert case.others.keys() == case.empty().parameters().keys()
    for parameter, other in case.others.items():
        with pytest.raises(ConfigError, match=parameter):
            case.empty().merge(other())


@every_case
def test_merge_refuses_another_class(case: MomentsCase) -> None:
    stranger = type("Stranger", (type(case.empty()),), {})
    with pytest.raises(ConfigError, match="Stranger"):
        case.empty().merge(stranger(**case.empty().parameters()))


@every_case
def test_subtract_undoes_merge_or_refuses_in_one_line(case: MomentsCase) -> None:
    rest, gone = observed(case, 0, 20), observed(case, 20, len(case.examples))
    before = state(rest)
    rest.merge(gone)
    if rest.subtractable:
        rest.subtract(gone)
    else:
        with pytest.raises(ConfigError, match=type(rest).__name__) as refusal:
            rest.subtract(gone)
        assert "\n" not in str(refusal.value)
        return
    assert state(rest) == before


@every_case
def test_arrays_round_trip(case: MomentsCase) -> None:
    moments = observed(case, 0, len(case.examples))
    copy = type(moments).from_arrays(moments.parameters(), moments.arrays())
    assert state(copy) == state(moments)
    copy.merge(observed(case, 0, 5))  # and is alive: owns its state, can be added to
    assert state(copy) != state(moments)


@every_case
def test_moments_survive_pickling(case: MomentsCase) -> None:
    moments = observed(case, 0, len(case.examples))
    assert state(pickle.loads(pickle.dumps(moments))) == state(moments)


@every_case
def test_arrays_hold_no_objects(case: MomentsCase) -> None:
    for array in observed(case, 0, len(case.examples)).arrays().values():
        assert array.dtype.kind in "biufc"
