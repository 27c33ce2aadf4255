"""Decoders by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_type_hints

from spectralnlp import registry
from spectralnlp.errors import ConfigError
from spectralnlp.inference.trees.decoders import Decoder
from spectralnlp.storage import checked_value


def make_decoder(name: str, settings: Mapping[str, Any]) -> Decoder:
    """A decoder by its registered name.

    Raises:
        RegistryError: there is none of that name.
        ConfigError: a setting that it does not have, or of another type.
    """
    kind = registry.decoders.get(name)
    hints = get_type_hints(kind.__init__)
    try:
        for setting, value in settings.items():
            checked_value(hints.get(setting, Any), value)
        decoder: Decoder = kind(**settings)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"decoder {name!r}: {error}") from error
    return decoder
