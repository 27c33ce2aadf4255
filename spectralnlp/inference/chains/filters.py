"""The filter of each kind of parameters of sequences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from spectralnlp.inference.chains.filtering import Filter, MixtureFilter, OperatorFilter
from spectralnlp.inference.chains.forward_backward import HiddenFilter
from spectralnlp.parameters import HiddenMarkov, ObservableOperators, SequenceMixture, SequenceParameters


def filter_of(parameters: SequenceParameters) -> Filter:
    """A filter that predicts with these parameters."""
    return _FILTERS[parameters.kind](parameters)


def _mixture_of(parameters: SequenceMixture) -> MixtureFilter:
    return MixtureFilter([filter_of(part) for part in parameters.parts], parameters.weights)


_FILTERS: Mapping[str, Callable[[Any], Filter]] = {
    ObservableOperators.kind: OperatorFilter,
    HiddenMarkov.kind: HiddenFilter,
    SequenceMixture.kind: _mixture_of,
}
