"""Parse command-line options that the commands ``sketch`` and ``leverage`` share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from spectralnlp.errors import ConfigError
from spectralnlp.hyperparameters import read_values


def with_settings(kind: Any, size: int, settings: Sequence[str]) -> Any:
    """Make an unfitted sketch with a size and settings written ``key=value``.

    Args:
        kind: class of the sketch.
        size: number of rows of the sketch.
        settings: further settings as text.

    Raises:
        ConfigError: a setting is not written ``key=value``, or the sketch has no such setting.
    """
    pairs: dict[str, str] = {}
    for each in settings:
        key, equals, value = each.partition("=")
        if not equals:
            raise ConfigError(f"--set {each}: not KEY=VALUE")
        pairs[key] = value
    return kind(**{"sketch_size": size, **read_values(kind, pairs)})


def read_ngrams(text: str) -> tuple[int, int]:
    """Parse a range of n-gram lengths such as ``1-3``, or ``2`` for ``2-2``.

    Raises:
        ConfigError: the text is not such a range.
    """
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
    low, high = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= low <= high:
        raise ConfigError(f"--ngrams {text}: not a range such as 1-2")
    return low, high
