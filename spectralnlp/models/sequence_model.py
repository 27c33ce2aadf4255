"""The trained sequence model, the result of ``spectralnlp.train("hmm", …)``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from spectralnlp.inference.chains.filtering import Filter, OperatorFilter
from spectralnlp.inference.chains.forward_backward import HiddenFilter
from spectralnlp.inference.chains.predictor import SequencePredictor
from spectralnlp.models.changing import ChangingModel
from spectralnlp.parameters import HiddenMarkov, ObservableOperators, read_sequence_parameters
from spectralnlp.storage import Arrays, StoredArrays, StoredValues

_FILTERS: Mapping[str, Callable[[Any], Filter]] = {
    ObservableOperators.kind: OperatorFilter,
    HiddenMarkov.kind: HiddenFilter,
}


@dataclass(frozen=True, repr=False)
class SequenceModel(SequencePredictor, ChangingModel):
    """A model of symbol sequences, which gives likelihoods, next symbols, states and samples.

    Attributes:
        filter: the filter that updates a state at each symbol of a sequence, and predicts the next symbol.
        about: estimator, settings and training data, for ``info`` and the model card.
        card: the model card.

    Examples:
        >>> import spectralnlp
        >>> model = spectralnlp.train("hmm", [["tick", "tock", "tick", "tock"]] * 20, n_states=1)
        >>> model.predict_proba(["tick"]).shape, model.symbols
        ((2, 3), ('tick', 'tock', '<unknown>'))
    """

    filter: Filter
    about: Mapping[str, Any] = field(default_factory=dict)
    card: str = "# A model of sequences\n"

    task = "sequences"
    noun = "a model of sequences"

    def _filter(self) -> Filter:
        return self.filter

    @property
    def summary(self) -> str:
        """The size of the model in a few words, for its ``repr``."""
        return f"{len(self.symbols):,} symbols, {self.filter.width} numbers in a state"

    @property
    def info(self) -> dict[str, Any]:
        """Properties of the model, by name, as the command ``info`` shows them."""
        return {**self.about, "symbols": len(self.symbols), "numbers in a state": self.filter.width}

    def to_stored(self, *, compact: bool = False) -> tuple[dict[str, Any], Arrays]:
        """Return what to store: JSON values, and the parameters of the filter as arrays.

        ``compact`` has no effect.
        """
        model = self.filter.model
        return {"filter": model.to_json(), "about": dict(self.about)}, model.to_arrays()

    @classmethod
    def read_stored(cls, metadata: StoredValues, arrays: StoredArrays, card: str) -> SequenceModel:
        """Build the model from the JSON values, the arrays and the model card of a model folder."""
        parameters = read_sequence_parameters(arrays, metadata.part("filter"))
        return cls(_FILTERS[parameters.kind](parameters), metadata.about(), card)
