"""The text format of word2vec: a line ``n_words dimensions``, then a word and its vector per line."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.runtime import open_text

_HEADER = re.compile(r"(\d{1,18}) (\d{1,9}) *")  # numbers of words and of values

Array32 = NDArray[np.float32]


def write_word2vec(path: str | Path, words: Sequence[str], vectors: Array32) -> None:
    """Write word vectors in word2vec's text format, with enough digits to restore float32 exactly.

    The file is replaced atomically.

    Args:
        path: the file.
        words: the words, none of which contains a blank.
        vectors: float32 (n_words, dimensions).

    Raises:
        ConfigError: the file cannot be written.
    """
    target = Path(path)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    line = " ".join(["%.9g"] * vectors.shape[1])
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            file.write(f"{len(words)} {vectors.shape[1]}\n")
            for word, row in zip(words, vectors.tolist(), strict=True):
                file.write(f"{word} {line % tuple(row)}\n")
        partial.replace(target)
    except OSError as error:
        raise ConfigError(f"cannot write the vectors: {error.strerror}", path=path) from error
    finally:
        partial.unlink(missing_ok=True)


def read_word2vec(path: str | Path) -> tuple[list[str], Array32]:
    """Return the words and vectors of a text file in word2vec's format, plain or gzipped.

    If a word occurs twice, the first vector counts.

    Raises:
        InputError: a line has a value that is not a finite number, or not as many values as the lines before
            (the message names the line); or the file has no vectors, or not as many as its header says.
    """
    vectors: dict[str, Array32] = {}
    promised: tuple[int, int] | None = None
    width, n_lines = 0, 0
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            word, *values = line.rstrip(" ").split(" ")
            if number == 1 and (header := _HEADER.fullmatch(line)):
                promised = int(header[1]), int(header[2])
                width = promised[1]
                continue
            if not line.strip():
                continue
            width = width or len(values)
            if len(values) != width or not width:
                what = f"{len(values)} numbers after {word!r}, not {width}"
                raise InputError(what, path=path, line=number)
            n_lines += 1
            vectors.setdefault(word, _numbers(values, path, number))
    if not vectors:
        raise InputError("no vectors", path=path)
    if promised is not None and n_lines != promised[0]:
        what = f"{n_lines} vectors, but the first line promises {promised[0]}"
        raise InputError(what, path=path, hint="the file may be cut short")
    return list(vectors), np.stack(list(vectors.values()))


def _numbers(values: Sequence[str], path: str | Path, line: int) -> Array32:
    try:
        with np.errstate(over="ignore"):
            numbers = np.array(values, np.float64).astype(np.float32)
    except ValueError:
        raise InputError("not all are numbers", path=path, line=line) from None
    if not np.isfinite(numbers).all():
        raise InputError("a NaN or an infinity among the numbers", path=path, line=line)
    return numbers
