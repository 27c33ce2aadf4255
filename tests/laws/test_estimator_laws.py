"""What every estimator promises, whoever wrote it: one suite over all that is registered."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, get_args

import pytest
from annotated_types import Ge
from estimator_cases import TRAINING
from typing_extensions import Doc

from spectralnlp import registry
from spectralnlp.errors import ConfigError, NotFittedError
from spectralnlp.estimator import Estimator, IterativeEstimator, MomentEstimator, Unlearning
from spectralnlp.hyperparameters import check_values
from spectralnlp.runtime import Corpus, Counts, InMemoryCorpus


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


DATA = {**TRAINING, "counting": lambda: InMemoryCorpus([["a", "b", "a"], ["b", "c"]])}


def estimator_params() -> list[Any]:
    """The toy and all that is registered; what lacks an extra is skipped by name, what is broken fails."""
    params = [pytest.param(lambda: MostFrequent, id="toy")]
    for entry in registry.estimators.describe():
        marks = [pytest.mark.skip(reason=entry.reason)] if entry.status == "not installed" else []
        params.append(
            pytest.param(lambda name=entry.name: registry.estimators.get(name), id=entry.name, marks=marks)
        )
    return params


@pytest.fixture(params=estimator_params())
def cls(request: pytest.FixtureRequest) -> type[Estimator]:
    kind: type[Estimator] = request.param()
    return kind


def test_class_attributes_say_what_it_is(cls: type[Estimator]) -> None:
    assert issubclass(cls, Estimator)
    assert issubclass(cls, (MomentEstimator, IterativeEstimator))
    assert cls.unlearning in get_args(Unlearning)
    assert cls.task in DATA, f"tests/laws/estimator_cases.py needs a corpus for the task {cls.task!r}"
    assert inspect.getdoc(cls)


def test_init_only_stores(cls: type[Estimator]) -> None:
    names = list(inspect.signature(cls).parameters)
    sentinels = {name: object() for name in names}
    estimator = cls(**sentinels)  # type: ignore[arg-type]
    assert vars(estimator) == sentinels
    assert list(cls().get_params(deep=False)) == names


def test_defaults_fit_their_own_annotations(cls: type[Estimator]) -> None:
    check_values(cls, cls().get_params(deep=False))


def test_set_params_gives_what_get_params_gave(cls: type[Estimator]) -> None:
    estimator = cls()
    params = estimator.get_params()
    assert estimator.set_params(**params) is estimator
    assert estimator.get_params() == params


def test_an_unknown_parameter_is_refused_in_one_line(cls: type[Estimator]) -> None:
    for refused in (
        lambda: cls().set_params(no_such_thing=1),
        lambda: cls.from_settings({"no_such_thing": "1"}),
        lambda: cls.from_settings({"preset": "no such preset"}),
    ):
        with pytest.raises(ConfigError, match=r"no.such") as refusal:
            refused()
        assert "\n" not in str(refusal.value)


def test_clones_as_scikit_learn_clones(cls: type[Estimator]) -> None:
    estimator = cls()
    params = {name: copy.deepcopy(value) for name, value in estimator.get_params(deep=False).items()}
    clone = cls(**params)
    stored = clone.get_params(deep=False)
    assert all(stored[name] is params[name] for name in params)  # the check of sklearn.base.clone
    assert repr(clone) == repr(estimator)


def test_scikit_learns_own_clone(cls: type[Estimator]) -> None:
    base = pytest.importorskip("sklearn.base")
    fitted = cls().fit(DATA[cls.task]())
    clone = base.clone(fitted)
    assert clone.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        clone.check_is_fitted()


def test_presets_are_valid(cls: type[Estimator]) -> None:
    for name, settings in cls.presets.items():
        params = cls.from_preset(name).get_params(deep=False)
        assert {key: params[key] for key in settings} == dict(settings)


def test_fit_returns_self_and_leaves_parameters_alone(cls: type[Estimator]) -> None:
    estimator = cls()
    with pytest.raises(NotFittedError):
        estimator.check_is_fitted()
    before = repr(estimator.get_params())
    assert estimator.fit(DATA[cls.task]()) is estimator
    assert repr(estimator.get_params()) == before
    estimator.check_is_fitted()
    unnamed = [each for each in vars(estimator) if each not in estimator.get_params() and each[-1] != "_"]
    assert not unnamed, "fitted attributes end in _"


def test_repr_names_what_differs_from_the_defaults(cls: type[Estimator]) -> None:
    assert repr(cls()) == f"{cls.__name__}()"
    for name in cls.presets:
        assert repr(cls.from_preset(name)).startswith(f"{cls.__name__}(")


def test_an_unfitted_estimator_pickles(cls: type[Estimator]) -> None:
    assert pickle.loads(pickle.dumps(cls())).get_params() == cls().get_params()
