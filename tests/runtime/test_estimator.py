from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import pytest
from annotated_types import Ge, Gt, Le
from typing_extensions import Doc

from spectralnlp.errors import ConfigError
from spectralnlp.estimator import IterativeEstimator, MomentEstimator
from spectralnlp.hyperparameters import check_values, read_values
from spectralnlp.runtime import Corpus, Counts


@dataclass(kw_only=True, eq=False, repr=False)
class Toy(IterativeEstimator[Any]):
    task = "toys"
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "paper": {"n_states": 24, "kappa": 5},
        "wrong": {"n_states": "many"},
    }

    n_states: Annotated[int, Ge(1), Doc("States.")] = 8
    kappa: float = 1.0
    smooth: bool = True
    name: str = "toy"
    side: Literal["left", "right"] = "left"
    seed: int | None = None
    sizes: Sequence[int] = (1, 2)
    share: Annotated[float, Gt(0), Le(1)] = 0.5
    inner: Any = None

    def learn(self, corpus: Corpus[Any]) -> None:
        self.fitted_ = True


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n_states=32", 32),
        ("kappa=5", 5),
        ("kappa=5e-1", 0.5),
        ("smooth=false", False),
        ("smooth=False", False),
        ("name=tutorial", "tutorial"),
        ("name=32", "32"),
        ("name=null", "null"),
        ('name="quoted"', "quoted"),
        ("name=a=b", "a=b"),
        ("side=right", "right"),
        ("seed=null", None),
        ("seed=None", None),
        ("seed=7", 7),
        ("sizes=[3, 4]", [3, 4]),
    ],
)
def test_text_becomes_what_the_annotation_says(text: str, expected: object) -> None:
    key, _, value = text.partition("=")
    result = read_values(Toy, {key: value})[key]
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("n_states", "many", "Toy.n_states: got 'many', expected int, 1 or more"),
        ("n_states", "1.5", "Toy.n_states: got 1.5, expected int, 1 or more"),
        ("n_states", "true", "Toy.n_states: got True, expected int, 1 or more"),
        ("smooth", "1", "Toy.smooth: got 1, expected bool"),
        ("side", "up", "Toy.side: got 'up', expected 'left' or 'right'"),
        ("seed", "x", "Toy.seed: got 'x', expected int or null"),
        ("sizes", '["a"]', "Toy.sizes: got ['a'], expected collections.abc.Sequence[int]"),
        ("n_states", "0", "Toy.n_states: got 0, expected int, 1 or more"),
        ("share", "2", "Toy.share: got 2, expected float, above 0, at most 1"),
        ("n_state", "3", "Toy has no hyper-parameter 'n_state'; did you mean n_states?"),
    ],
)
def test_what_does_not_fit_is_refused_with_field_got_and_expected(key: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        read_values(Toy, {key: value})
    assert str(refusal.value) == message


def test_values_that_are_typed_already_are_checked_the_same_way() -> None:
    assert check_values(Toy, {"n_states": 3}) == {"n_states": 3}
    with pytest.raises(ConfigError, match=r"Toy\.n_states"):
        check_values(Toy, {"n_states": "3"})


def test_presets_and_overrides() -> None:
    assert repr(Toy.from_preset("paper", name="x")) == "Toy(n_states=24, kappa=5, name='x')"
    assert repr(Toy.from_settings({"preset": "paper", "n_states": "9"})) == "Toy(n_states=9, kappa=5)"
    with pytest.raises(ConfigError, match="Toy has no preset 'papers'; did you mean paper"):
        Toy.from_preset("papers")
    with pytest.raises(ConfigError, match=r"Toy\.n_states"):
        Toy.from_preset("wrong")
    with pytest.raises(ConfigError, match="n_states"):
        Toy.from_preset("paper", n_stats=1)


def test_params_of_nested_estimators() -> None:
    toy = Toy(inner=Toy(n_states=2))
    assert toy.get_params()["inner__n_states"] == 2
    assert "inner__n_states" not in toy.get_params(deep=False)
    toy.set_params(inner__n_states=5, inner=Toy(kappa=3.0), seed=1)
    assert repr(toy) == "Toy(seed=1, inner=Toy(n_states=5, kappa=3.0))"


def test_set_params_changes_all_or_nothing() -> None:
    toy = Toy()
    with pytest.raises(ConfigError, match="did you mean kappa"):
        toy.set_params(n_states=1, kapa=2)
    assert repr(toy) == "Toy()"


@dataclass(kw_only=True, eq=False, repr=False)
class ReturnsItself(MomentEstimator[Any]):
    task = "toys"

    def init_moments(self, corpus: Corpus[Any]) -> Counts[Any]:
        return Counts()

    def solve(self, moments: Any) -> Any:
        return self


def test_solve_that_returns_no_moments_is_named() -> None:
    with pytest.raises(TypeError, match=r"ReturnsItself\.solve returned ReturnsItself: return None, or"):
        ReturnsItself().fit([["a", "b"]])
