"""Results of models that can ask their model for the reason."""

from __future__ import annotations

from typing import Any

from spectralnlp.errors import ConfigError


class MadeByModel:
    """A result that remembers its model; the model is no part of its value, and a pickle leaves it out."""

    model: Any

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "model": None}

    def _asked_model(self) -> Any:
        """Return the model.

        Raises:
            ConfigError: it is not known, as after a pickle.
        """
        if self.model is None:
            raise ConfigError(
                "the result does not know its model", hint="call the method explain of the model"
            )
        return self.model
