"""Files that end the process that reads them, in an importable module, as workers need it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from spectralnlp.text.blocks import read_words


def read_or_die(path: Path) -> Iterator[str]:
    if path.name == "deadly.txt":
        os._exit(1)
    return read_words(path)
