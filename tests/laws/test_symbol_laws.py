"""What is not text: every estimator keeps it as it is, or refuses it and names the row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from estimator_cases import TRAINING
from test_estimator_laws import estimator_params

from spectralnlp import registry
from spectralnlp.errors import SpectralError
from spectralnlp.estimator import Estimator
from spectralnlp.runtime import Corpus, InMemoryCorpus
from spectralnlp.testing.asserting import require

Put = Callable[[Any, Any], Any]

# Values that stand for a symbol, word, tag, text or tree; the first ones may be symbols and tags.
INTEGERS = (7, np.int64(7), True, np.bool_(True))
OTHERS = (1.5, float("nan"), None, b"x", ("a",), np.array([1, 2]))
ROW = 6  # number of the first example with such a value


def _first_word(example: Any, value: Any) -> Any:
    return [value, *example[1:]]


# By task: the places where a value is put, and those where integers are kept.
PLACES: Mapping[str, Mapping[str, Put]] = {
    "features": {"text": lambda example, value: value},
    "intents": {"text": lambda example, value: (value, "open")},
    "labelled-features": {"text": lambda example, value: (value, "open")},
    "parsing": {"tree": lambda example, value: value},
    "sequences": {"symbol": _first_word},
    "tagging": {
        "word": lambda example, value: (_first_word(example[0], value), example[1]),
        "tag": lambda example, value: (example[0], _first_word(example[1], value)),
    },
    "topics": {"word": _first_word},
    "vectors": {"word": _first_word},
}
KEPT: Mapping[str, Callable[[Any], Any]] = {
    "symbol of hmm": lambda model: model.symbols,
    "symbol of hmm-em": lambda model: model.symbols,
    "word of rhmm": lambda model: model.known,
    "tag of rhmm": lambda model: model.tags,
    "tag of tagger": lambda model: model.tags,
}
QUICK: Mapping[str, Mapping[str, Any]] = {
    "hmm": {"n_states": 2},
    "hmm-em": {"n_states": 2, "iterations": 1},
    "rhmm": {"n_states": 2},
    "tagger": {"epochs": 1},
}


def sequences_with(value: Any, put: Put, task: str) -> list[Any]:
    examples = list(TRAINING[task]())[:20]
    return [*examples[: ROW - 1], *(put(example, value) for example in examples[ROW - 1 :])]


def cases(task: str) -> Iterator[tuple[str, Put, Any, bool]]:
    for place, put in PLACES[task].items():
        for number, value in enumerate((*INTEGERS, *OTHERS)):
            yield place, put, value, number < len(INTEGERS)


@pytest.mark.filterwarnings("ignore:n_states lowered")
@pytest.mark.parametrize("wrap", [list, InMemoryCorpus])
@pytest.mark.parametrize("cls", [each for each in estimator_params() if each.id not in ("toy", "cca.v1")])
def test_what_is_not_text_is_kept_or_refused(
    cls: Callable[[], type[Estimator[Any]]], wrap: Callable[[Any], Any], request: pytest.FixtureRequest
) -> None:
    kind = cls()
    name = request.node.callspec.id.rpartition("-")[0].partition(".")[0]
    for place, put, value, is_integer in cases(kind.task):
        of = KEPT.get(f"{place} of {name}") if is_integer else None
        data: list[Any] | Corpus[Any] = wrap(sequences_with(value, put, kind.task))
        what = f"the {place} {value!r}"
        try:
            fitted = kind(**QUICK.get(name, {})).fit(data)
        except SpectralError as error:
            message = str(error)
            require(of is None, f"{what} is kept, not refused: {message}")
            require(
                f"sentence {ROW}" in message or f"text {ROW}" in message, f"{what}: no row in {message!r}"
            )
            require(type(value).__name__ in message, f"{what}: no type in {message!r}")
            require("\n" not in message, f"{what}: more than one line")
        else:
            require(of is not None, f"{what} was taken for something else")
            assert of is not None
            plain = value.item() if isinstance(value, np.generic) else value
            kept = of(registry.tasks.get(kind.task)().wrap(fitted))
            there = any(type(each) is type(plain) and each == plain for each in kept)
            require(there, f"{what} is kept as it is, not among {kept}")
