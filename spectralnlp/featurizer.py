"""The contract of featurizers: text without labels in, a map from texts to rows of numbers out.

A featurizer is an estimator that a package registers in ``spectralnlp.featurizers``. ``spectralnlp train
NAME`` and ``spectralnlp transform`` know it by its name then, and so does what takes one in place of features
of its own, such as ``intent``.
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
    """A learner of rows of numbers from texts; also a `MomentEstimator` or an `IterativeEstimator`.

    ``fit`` sets ``n_texts_``, the number of texts learned from. A row depends on its own text alone. What was
    learned is numbers and JSON values, so that a model that takes a featurizer can hold it.

    Examples:
        >>> from spectralnlp import Featurizer, registry
        >>> issubclass(registry.featurizers.get("sent"), Featurizer)
        True
    """

    task = "features"

    @abstractmethod
    def transform(self, X: Iterable[str]) -> Any:
        """Turn texts into rows: floats (n_texts, n_features), a numpy array or a CSR matrix of scipy's."""

    @abstractmethod
    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns, an array of strings (n_features,)."""

    @abstractmethod
    def to_stored(self) -> tuple[dict[str, Any], Mapping[str, Array]]:
        """Return what was learned: JSON values, and arrays by name."""

    @abstractmethod
    def read_stored(self, values: StoredValues, arrays: StoredArrays) -> None:
        """Set what was learned.

        Args:
            values: as `to_stored` gave them, checked as they are taken.
            arrays: likewise.

        Raises:
            ModelError: one is missing or not as it must be.
            SpectralError, ValueError: they do not fit together.
        """


def featurizer_to_stored(featurizer: Featurizer) -> tuple[dict[str, Any], Mapping[str, Array]]:
    """Return JSON values and arrays from which `featurizer_from_stored` makes a fitted featurizer again.

    Raises:
        ConfigError: its class is not registered.
    """
    values, arrays = featurizer.to_stored()
    settings = featurizer.get_params(deep=False)
    described = {"name": _registered(type(featurizer)), "settings": settings, "learned": values}
    return described, arrays


def featurizer_from_stored(values: StoredValues, arrays: StoredArrays) -> Featurizer:
    """Return the fitted featurizer that gave these.

    Raises:
        ModelError: a value or an array is missing or not as it must be.
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
    """The full name that a class is registered by."""
    for name in registry.featurizers.names():
        with suppress(RegistryError):  # of another package, which is broken
            if registry.featurizers.get(name) is kind:
                return name
    hint = 'add an entry point in "spectralnlp.featurizers"'
    raise ConfigError(f"{kind.__name__} is no registered featurizer", hint=hint)
