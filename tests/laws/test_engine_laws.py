"""Distributed workers learn the model that the serial engine learns, to the byte."""

from __future__ import annotations

import pytest
from estimator_cases import TRAINING
from moments_cases import CASES

from spectralnlp import registry
from spectralnlp.estimator import MomentEstimator
from spectralnlp.runtime import InMemoryCorpus, accumulate, use_engine
from spectralnlp.testing import MomentsCase, fitted_leaves, moments_state

pytestmark = pytest.mark.slow


def spectral_estimators() -> list[str]:
    entries = (*registry.estimators.describe(), *registry.featurizers.describe())
    installed = [entry.name for entry in entries if entry.status == "ok"]
    return [name for name in installed if issubclass(registry.estimators.get(name), MomentEstimator)]


@pytest.mark.parametrize("name", spectral_estimators())
def test_a_spectral_estimator_learns_the_same_from_distributed_workers(name: str, scheduler: str) -> None:
    kind = registry.estimators.get(name)
    corpus = TRAINING[kind.task]
    serial = dict(fitted_leaves(vars(kind().fit(corpus()))))
    with use_engine("dask", scheduler=scheduler):
        distributed = dict(fitted_leaves(vars(kind().fit(corpus()))))
    assert len(serial) > 3
    assert distributed.keys() == serial.keys()
    assert [where for where in serial if serial[where] != distributed[where]] == []


# More than are merged at a time; and so many that they are observed in groups.
@pytest.mark.parametrize("n_partitions", [11, 75])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_moments_are_the_same_from_distributed_workers(
    case: MomentsCase, n_partitions: int, scheduler: str
) -> None:
    examples = case.examples * (1 + n_partitions // len(case.examples))
    corpus = InMemoryCorpus(examples, n_partitions=n_partitions)
    expected = moments_state(accumulate(case.empty(), corpus, batch_size=4))
    with use_engine("dask", scheduler=scheduler):
        assert moments_state(accumulate(case.empty(), corpus, batch_size=4)) == expected
