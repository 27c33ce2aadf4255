"""The promises of every estimator, whoever wrote it: `check_estimator` over all that is registered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import pytest
from annotated_types import Ge
from estimator_cases import TRAINING
from typing_extensions import Doc

import spectralnlp
from spectralnlp import registry
from spectralnlp.errors import ConfigError, NotFittedError
from spectralnlp.estimator import Estimator, MomentEstimator
from spectralnlp.runtime import Corpus, Counts, InMemoryCorpus
from spectralnlp.testing import ESTIMATOR_CHECKS, check_estimator


@dataclass(kw_only=True, eq=False, repr=False)
class MostFrequent(MomentEstimator[Sequence[str]]):
    """The smallest estimator there is: it keeps the suite honest, whatever else is registered."""

    unlearning = "exact"
    task = "counting"
    presets: ClassVar = {"one": {"n_words": 1}}

    n_words: Annotated[int, Ge(1), Doc("How many words.")] = 2

    def init_moments(self, corpus: Corpus[Sequence[str]]) -> Counts[Sequence[str]]:
        return Counts()

    def solve(self, moments: Counts[Sequence[str]]) -> None:
        self.words_ = moments.top(self.n_words)


DATA = {**TRAINING, "counting": lambda: InMemoryCorpus([["a", "b", "a"], ["b", "c"], ["c", "a"]])}
# Checks that an estimator fails with good reason: by its name, then by the check's.
EXCUSED: Mapping[str, Mapping[str, str]] = {
    "cca.v1": {"lists_and_iterators_are_examples": "two views are two arguments, not one list of examples"}
}


def estimator_params() -> list[Any]:
    """The toy and all that is registered; what lacks an extra is skipped by name, what is broken fails."""
    params = [pytest.param(lambda: MostFrequent, id="toy")]
    for entry in (*registry.estimators.describe(), *registry.featurizers.describe()):
        marks = [pytest.mark.skip(reason=entry.reason)] if entry.status == "not installed" else []
        params.append(
            pytest.param(lambda name=entry.name: registry.estimators.get(name), id=entry.name, marks=marks)
        )
    return params


@pytest.fixture(params=estimator_params())
def cls(request: pytest.FixtureRequest) -> type[Estimator]:
    kind: type[Estimator] = request.param()
    return kind


@pytest.mark.parametrize("check", ESTIMATOR_CHECKS)
def test_an_estimator_keeps_the_contract(
    cls: type[Estimator], check: str, request: pytest.FixtureRequest
) -> None:
    assert cls.task in DATA, f"tests/laws/estimator_cases.py needs a corpus for the task {cls.task!r}"
    excused = EXCUSED.get(request.node.callspec.id.split("-")[0], {})
    if check in excused:
        pytest.skip(excused[check])
    check_estimator(cls, DATA[cls.task](), only=[check])


def test_any_randomness_becomes_a_seed_that_is_recorded(cls: type[Estimator]) -> None:
    if "random_state" not in cls().get_params():
        pytest.skip("it is not random")

    def seed_of(random_state: Any) -> Any:
        estimator = cls().set_params(random_state=random_state)
        estimator.validate()
        estimator.validate()
        assert cls.from_settings({}, {"random_state": random_state}).get_params()["random_state"] >= 0
        return estimator.get_params()["random_state"]

    assert seed_of(7) == 7
    assert isinstance(seed_of(None), int)
    assert len({seed_of(None) for _ in range(4)}) > 1
    for make in (np.random.RandomState, np.random.default_rng):
        assert seed_of(make(3)) == seed_of(make(3)) != seed_of(make(4))
    with pytest.raises(ConfigError, match="random_state: got -1"):
        seed_of(-1)


def test_what_is_fitted_is_saved_as_a_model(cls: type[Estimator], tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        cls().save(tmp_path / "model")
    fitted = cls().fit(DATA[cls.task]())
    if fitted.task not in registry.tasks:
        with pytest.raises(ConfigError, match=r"no model folders of .*; save it with joblib\.dump or pickle"):
            fitted.save(tmp_path / "model")
        return
    fitted.save(tmp_path / "model")
    assert spectralnlp.load(tmp_path / "model").summary
    with pytest.raises(ConfigError, match="a model is here already"):
        fitted.save(tmp_path / "model")
    fitted.save(tmp_path / "model", overwrite=True)


def test_scikit_learns_own_clone(cls: type[Estimator]) -> None:
    base = pytest.importorskip("sklearn.base")
    fitted = cls().fit(DATA[cls.task]())
    clone = base.clone(fitted)
    assert clone.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        clone.check_is_fitted()
