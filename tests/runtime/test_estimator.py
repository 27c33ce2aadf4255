from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pytest

from spectralnlp.errors import ConfigError
from spectralnlp.estimator import Estimator, check_params, coerce_params
from spectralnlp.runtime import Corpus


class Toy(Estimator):
    task = "toys"
    presets: Mapping[str, Mapping[str, object]] = {  # type: ignore[misc]
        "paper": {"n_states": 24, "kappa": 5},
        "wrong": {"n_states": "many"},
    }

    def __init__(
        self,
        n_states: int = 8,
        kappa: float = 1.0,
        smooth: bool = True,
        name: str = "toy",
        side: Literal["left", "right"] = "left",
        seed: int | None = None,
        sizes: Sequence[int] = (1, 2),
        inner: Any = None,
        unhinted=3,  # type: ignore[no-untyped-def]
    ) -> None:
        self.n_states = n_states
        self.kappa = kappa
        self.smooth = smooth
        self.name = name
        self.side = side
        self.seed = seed
        self.sizes = sizes
        self.inner = inner
        self.unhinted = unhinted

    def fit(self, corpus: Corpus[Any], y: None = None) -> Toy:
        self.fitted_ = True
        return self


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
        ("unhinted=4", 4),
    ],
)
def test_text_becomes_what_the_annotation_says(text: str, expected: object) -> None:
    key, _, value = text.partition("=")
    result = coerce_params(Toy, {key: value})[key]
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("n_states", "many", "Toy.n_states: got 'many', expected int"),
        ("n_states", "1.5", "Toy.n_states: got 1.5, expected int"),
        ("n_states", "true", "Toy.n_states: got True, expected int"),
        ("smooth", "1", "Toy.smooth: got 1, expected bool"),
        ("side", "up", "Toy.side: got 'up', expected 'left' or 'right'"),
        ("seed", "x", "Toy.seed: got 'x', expected int or null"),
        ("sizes", '["a"]', "Toy.sizes: got ['a'], expected collections.abc.Sequence[int]"),
        ("unhinted", "x", "Toy.unhinted: got 'x', expected int"),
        ("n_state", "3", "Toy has no hyper-parameter 'n_state'; did you mean n_states?"),
    ],
)
def test_what_does_not_fit_is_refused_with_field_got_and_expected(key: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        coerce_params(Toy, {key: value})
    assert str(refusal.value) == message


def test_values_that_are_typed_already_are_checked_the_same_way() -> None:
    assert check_params(Toy, {"n_states": 3}) == {"n_states": 3}
    with pytest.raises(ConfigError, match=r"Toy\.n_states"):
        check_params(Toy, {"n_states": "3"})


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
