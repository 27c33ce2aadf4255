"""The laws that all moments obey: however the data was split, ordered and merged, the sums are the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from moments_cases import CASES

from spectralnlp.testing import MOMENTS_CHECKS, MomentsCase, check_partition

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


# The law that starts processes, which the others do without.
ENGINES = "engines_agree_to_the_byte"


@every_case
@pytest.mark.parametrize("law", sorted(MOMENTS_CHECKS.keys() - {ENGINES}))
def test_moments_obey_the_law(case: MomentsCase, law: str) -> None:
    MOMENTS_CHECKS[law](case)


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[pytest.mark.slow] * (number > 0)) for number, case in enumerate(CASES)],
    ids=lambda case: case.name,
)
def test_engines_agree_to_the_byte(case: MomentsCase) -> None:
    MOMENTS_CHECKS[ENGINES](case)


@every_case
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_any_split_order_and_merge_tree_gives_the_same(case: MomentsCase, data: st.DataObject) -> None:
    n = len(case.examples)
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=6)))
    bounds = data.draw(st.permutations(list(zip([0, *cuts], [*cuts, n], strict=True))))
    merges = [data.draw(st.integers(0, len(cuts) - 1 - done)) for done in range(len(cuts))]
    check_partition(case, bounds, merges)
