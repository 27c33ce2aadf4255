"""Choose the filter class that predicts with a given kind of sequence parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from spectralnlp.inference.chains.filtering import Filter, OperatorFilter
from spectralnlp.inference.chains.forward_backward import HiddenFilter
from spectralnlp.parameters import HiddenMarkov, ObservableOperators, SequenceParameters


def filter_of(parameters: SequenceParameters) -> Filter:
    """Return the filter that predicts next symbols with the parameters of a sequence model."""
    return _FILTERS[parameters.kind](parameters)


_FILTERS: Mapping[str, Callable[[Any], Filter]] = {
    ObservableOperators.kind: OperatorFilter,
    HiddenMarkov.kind: HiddenFilter,
}
