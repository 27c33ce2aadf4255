"""Base class of featurizers, estimators that learn from raw text how to map texts to feature vectors.

A package registers its featurizers in ``spectralnlp.featurizers``. ``spectralnlp train NAME`` and
``spectralnlp transform`` then accept a featurizer by name, and so do estimators that take a featurizer as a
setting, such as ``intent``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from spectralnlp import registry
from spectralnlp.errors import ConfigError, RegistryError
from spectralnlp.estimator import Estimator
from spectralnlp.storage import Array, StoredArrays, StoredValues


class Featurizer(Estimator[str]):
    """Base class of featurizers; a subclass is also a `MomentEstimator` or an `IterativeEstimator`.

    ``fit`` sets ``n_texts_``, the number of training texts. A text's feature vector depends on that text
    alone. Learned parameters are arrays and JSON values, so that a model can store the featurizer that it
    uses.

    Examples:
        >>> from spectralnlp import Featurizer, registry
        >>> issubclass(registry.featurizers.get("sent"), Featurizer)
        True
    """

    task = "features"

    @abstractmethod
    def transform(self, X: Iterable[str]) -> Any:
        """Return the features of texts: floats (n_texts, n_features), a numpy array or a scipy CSR matrix."""

    @abstractmethod
    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the features, an array of strings (n_features,)."""

    @abstractmethod
    def to_stored(self) -> tuple[dict[str, Any], Mapping[str, Array]]:
        """Return the learned parameters: JSON values, and arrays by name."""

    @abstractmethod
    def read_stored(self, values: StoredValues, arrays: StoredArrays) -> None:
        """Set the learned parameters from stored ones.

        Args:
            values: JSON values from `to_stored`; each is checked when it is read.
            arrays: arrays from `to_stored`; each is checked when it is read.

        Raises:
            ModelError: a value or an array is missing or malformed.
            SpectralError, ValueError: the values and arrays are inconsistent.
        """


def featurizer_to_stored(featurizer: Featurizer) -> tuple[dict[str, Any], Mapping[str, Array]]:
    """Return JSON values and arrays from which `featurizer_from_stored` restores a fitted featurizer.

    Raises:
        ConfigError: the class of the featurizer is not registered.
    """
    values, arrays = featurizer.to_stored()
    settings = featurizer.get_params(deep=False)
    metadata = {"name": _registered(type(featurizer)), "settings": settings, "learned": values}
    return metadata, arrays


def featurizer_from_stored(values: StoredValues, arrays: StoredArrays) -> Featurizer:
    """Return the fitted featurizer that `featurizer_to_stored` stored.

    Raises:
        ModelError: a value or an array is missing or malformed.
        RegistryError: the featurizer is not installed.
    """
    kind: type[Featurizer] = registry.featurizers.get(values.take("name", str))
    try:
        featurizer = kind.from_settings({}, values.take("settings", Mapping[str, Any]))
        featurizer.validate()
    except ConfigError as error:
        raise values.error("settings", f"is refused: {error.what}") from error
    featurizer.read_stored(values.part("learned"), arrays)
    return featurizer


def _registered(kind: type[Featurizer]) -> str:
    """Return the full name under which a class is registered."""
    for name in registry.featurizers.names():
        with suppress(RegistryError):  # of another package, which is broken
            if registry.featurizers.get(name) is kind:
                return name
    hint = 'add an entry point in "spectralnlp.featurizers"'
    raise ConfigError(f"{kind.__name__} is no registered featurizer", hint=hint)
