"""Base class of results (parses, taggings) that keep a reference to their model, for explanations."""

from __future__ import annotations

from typing import Any

from spectralnlp.errors import ConfigError


class ModelResult:
    """Base class of results with a reference to their model, which pickling drops and comparison ignores."""

    model: Any

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "model": None}

    def _asked_model(self) -> Any:
        """Return the model that gave this result.

        Raises:
            ConfigError: the model is unknown, as it is after pickling.
        """
        if self.model is None:
            raise ConfigError(
                "the result does not know its model", hint="call the method explain of the model"
            )
        return self.model
