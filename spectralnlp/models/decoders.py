"""Make decoders, which choose a tree from a parse forest, by their registered names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_type_hints

from spectralnlp import registry
from spectralnlp.errors import ConfigError
from spectralnlp.inference.trees.decoders import Decoder
from spectralnlp.storage import checked_value


def make_decoder(name: str, settings: Mapping[str, Any]) -> Decoder:
    """Make a decoder by its registered name.

    Args:
        name: name of the decoder, as ``spectralnlp plugins`` lists it.
        settings: keyword arguments of the decoder's class.

    Raises:
        RegistryError: no decoder has this name.
        ConfigError: the decoder does not have a setting, or a setting is of another type.
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
