"""Task of featurizers that learn from labelled texts: let commands read them, train and save."""

from __future__ import annotations

from typing import Any

from spectralnlp.models.features import Features
from spectralnlp.storage import StoredModel
from spectralnlp.tasks.features import FeaturesTask
from spectralnlp_sketch.labelled_task import LabelledTextsTask


class LabelledFeaturesTask(LabelledTextsTask):
    """Task of training featurizers that learn from labels; the trained ones are those of `FeaturesTask`."""

    name = "labelled-features"
    default_card = FeaturesTask.default_card

    def wrap(self, fitted: Any) -> Features:
        """Wrap a fitted featurizer as a model that can be saved."""
        return Features(fitted)

    def training_counts(self, fitted: Any) -> dict[str, int]:
        """Return the numbers of labelled and unlabelled training texts, by name."""
        n_labelled = len(fitted.held_out_)
        return {"training texts": n_labelled, "unlabelled texts": fitted.n_texts_ - n_labelled}

    def load(self, stored: StoredModel) -> Features:
        """Return the featurizer that a model folder holds."""
        return Features.from_stored(stored)
