"""What every engine owes every spectral estimator: the model that the serial engine learns, to the byte."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from estimator_cases import TRAINING
from moments_cases import CASES, MomentsCase
from test_moments_laws import state

from spectralnlp import registry
from spectralnlp.runtime import InMemoryCorpus, accumulate, use_engine


def spectral_estimators() -> list[str]:
    installed = [entry.name for entry in registry.estimators.describe() if entry.status == "ok"]
    return [name for name in installed if registry.estimators.get(name).kind == "spectral"]


def leaves(value: Any, where: str = "") -> Iterator[tuple[str, object]]:
    """Everything that a fitted estimator holds, with the way to it."""
    if isinstance(value, np.ndarray):
        yield where, (str(value.dtype), value.shape, value.tobytes())
    elif scipy.sparse.issparse(value):
        yield from leaves([value.data, value.indices, value.indptr], where)
    elif is_dataclass(value):
        for field in fields(value):
            yield from leaves(getattr(value, field.name), f"{where}.{field.name}")
    elif isinstance(value, Mapping):
        for key in value:
            yield from leaves(value[key], f"{where}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        for place, each in enumerate(value):
            yield from leaves(each, f"{where}[{place}]")
    elif hasattr(value, "__dict__") and not callable(value):
        yield from leaves(vars(value), where)
    else:
        yield where, value


@pytest.mark.parametrize("name", spectral_estimators())
def test_a_spectral_estimator_learns_the_same_from_distributed_workers(name: str, scheduler: str) -> None:
    kind = registry.estimators.get(name)
    corpus = TRAINING[kind.task]
    serial = dict(leaves(vars(kind().fit(corpus()))))
    with use_engine("dask", scheduler=scheduler):
        distributed = dict(leaves(vars(kind().fit(corpus()))))
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
    expected = state(accumulate(case.empty(), corpus, batch_size=4))
    with use_engine("dask", scheduler=scheduler):
        assert state(accumulate(case.empty(), corpus, batch_size=4)) == expected
