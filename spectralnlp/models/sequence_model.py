"""A model of sequences: what `spectralnlp train hmm` makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spectralnlp.errors import ModelError
from spectralnlp.inference.chains.filter_arrays import pack_filter, unpack_filter
from spectralnlp.inference.chains.filtering import Filter
from spectralnlp.inference.chains.predictor import SequencePredictor
from spectralnlp.storage import StoredModel, save_model


@dataclass(frozen=True)
class SequenceModel(SequencePredictor):
    """Likelihoods, next symbols, states and samples of sequences of symbols.

    Attributes:
        filter: what predicts.
        about: what the model was made from.
        card: the model card.
    """

    filter: Filter
    about: Mapping[str, Any] = field(default_factory=dict)
    card: str = "# A model of sequences\n"

    task = "sequences"

    def _filter(self) -> Filter:
        return self.filter

    @property
    def info(self) -> dict[str, Any]:
        """Properties of the model, by name."""
        return {**self.about, "symbols": len(self.symbols), "numbers in a state": self.filter.width}

    def save(self, path: str | Path) -> None:
        """Write a model folder; parameters are stored as float32."""
        described, arrays = pack_filter(self.filter)
        metadata = {"filter": described, "about": dict(self.about)}
        save_model(path, kind=self.task, metadata=metadata, arrays=arrays, card=self.card)

    @classmethod
    def from_stored(cls, stored: StoredModel) -> SequenceModel:
        """The model in a folder.

        Raises:
            ModelError: the folder does not hold a model of sequences.
        """
        try:
            filter_ = unpack_filter(stored.metadata["filter"], stored.arrays)
            return cls(filter_, stored.metadata["about"])
        except (KeyError, TypeError, ValueError, IndexError) as error:
            what = f"not a model of sequences: {error!r}"
            raise ModelError(what, path=stored.path, hint="train it again") from error
