"""The trained featurizer, the result of ``spectralnlp.train("sent", …)``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from spectralnlp.featurizer import Featurizer, featurizer_from_stored, featurizer_to_stored
from spectralnlp.runtime import items_of
from spectralnlp.storage import Array, StorableModel, StoredArrays, StoredValues


@dataclass(eq=False, repr=False)  # not frozen: pipelines set attributes of their steps
class Features(StorableModel):
    """A trained featurizer, as a scikit-learn transformer that needs no ``fit``.

    Attributes:
        featurizer: the fitted featurizer.
        about: estimator, settings and training data, for ``info`` and the model card.
        card: the model card, in Markdown.

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
        """Transform texts to features (n_texts, n_features); a data frame if chosen with `set_output`.

        Raises:
            InputError: ``X`` is a single text, or an item is not a text.
        """
        hint = "give a list of texts"
        return self.featurizer.transform(items_of(X, "several texts are expected", hint=hint))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the features, an array of strings (n_features,)."""
        return self.featurizer.get_feature_names_out(input_features)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Set the output format of `transform`: ``default``, ``pandas`` or ``polars``, as in scikit-learn."""
        featurizer: Any = self.featurizer
        featurizer.set_output(transform=transform)
        return self

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Return the featurizer unchanged, because it is trained already; scikit-learn calls this method."""
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return an empty dictionary: a trained featurizer has no parameters to set."""
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
        """The size of the featurizer in a few words, for its ``repr``."""
        return f"{len(self.get_feature_names_out()):,} features"

    @property
    def info(self) -> dict[str, Any]:
        """Properties of the featurizer, by name, as the command ``info`` shows them."""
        return {**self.about, "features": len(self.get_feature_names_out())}

    def to_stored(self, *, compact: bool = False) -> tuple[dict[str, Any], Mapping[str, Array]]:
        """Return the JSON values and the arrays to store; ``compact`` has no effect."""
        metadata, arrays = featurizer_to_stored(self.featurizer)
        return {"featurizer": metadata, "about": dict(self.about)}, arrays

    @classmethod
    def read_stored(cls, metadata: StoredValues, arrays: StoredArrays, card: str) -> Self:
        """Build the featurizer from the JSON values, the arrays and the model card of a model folder."""
        return cls(featurizer_from_stored(metadata.part("featurizer"), arrays), metadata.about(), card)
