"""Features of texts: what ``spectralnlp train sent`` and other featurizers make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from spectralnlp.errors import InputError
from spectralnlp.featurizer import Featurizer, featurizer_from_stored, featurizer_to_stored
from spectralnlp.storage import Array, StorableModel, StoredArrays, StoredValues


@dataclass(eq=False, repr=False)  # not frozen: pipelines set attributes of their steps
class Features(StorableModel):
    """A trained featurizer, as a transformer of scikit-learn's that needs no ``fit``.

    Attributes:
        featurizer: what was fitted.
        about: estimator, settings and the like, for ``info`` and the model card.
        card: the model card, Markdown.

    Examples:
        >>> import spectralnlp
        >>> features = spectralnlp.train("sent", "corpora/intents/unlabelled.txt", n_components=10)
        >>> features.transform(["how much is a ticket"]).shape
        (1, 10)
    """

    featurizer: Featurizer
    about: Mapping[str, Any] = field(default_factory=dict)
    card: str = "# A featurizer\n"

    task = "features"
    noun = "a featurizer"

    def transform(self, X: Iterable[str]) -> Any:
        """Turn texts into rows (n_texts, n_features); a data frame after ``set_output``.

        Raises:
            InputError: it is one text, or an item is none.
        """
        if isinstance(X, str | bytes):
            raise InputError("one text where several are expected", hint="give a list of texts")
        return self.featurizer.transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns, an array of strings (n_features,)."""
        return self.featurizer.get_feature_names_out(input_features)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what `transform` returns: ``default``, ``pandas`` or ``polars``, as of scikit-learn's."""
        featurizer: Any = self.featurizer
        featurizer.set_output(transform=transform)
        return self

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Do nothing: in a pipeline the featurizer stays as it was trained."""
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return no parameters: there is nothing left to set."""
        return {}

    def __sklearn_clone__(self) -> Self:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        featurizer: Any = self.featurizer
        return featurizer.__sklearn_tags__()

    @property
    def summary(self) -> str:
        """Its size in a few words."""
        return f"{len(self.get_feature_names_out()):,} features"

    @property
    def info(self) -> dict[str, Any]:
        """Properties of the featurizer, by name."""
        return {**self.about, "features": len(self.get_feature_names_out())}

    def to_stored(self, *, compact: bool = False) -> tuple[dict[str, Any], Mapping[str, Array]]:
        """What was learned; there is no compact form."""
        described, arrays = featurizer_to_stored(self.featurizer)
        return {"featurizer": described, "about": dict(self.about)}, arrays

    @classmethod
    def read_stored(cls, metadata: StoredValues, arrays: StoredArrays, card: str) -> Self:
        """The featurizer that gave these."""
        return cls(featurizer_from_stored(metadata.part("featurizer"), arrays), metadata.about(), card)
