"""Decoders by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spectralnlp import registry
from spectralnlp.errors import ConfigError
from spectralnlp.inference.trees.decoders import Decoder


def make_decoder(name: str, settings: Mapping[str, Any]) -> Decoder:
    """A decoder by its registered name.

    Raises:
        RegistryError: there is none of that name.
        ConfigError: a setting that it does not have.
    """
    kind = registry.decoders.get(name)
    try:
        decoder: Decoder = kind(**settings)
    except TypeError as error:
        raise ConfigError(f"decoder {name!r}: {error}") from error
    return decoder
