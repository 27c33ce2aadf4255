"""Read files or standard input, raw, tokenized or tagged, as a stream of sentences."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from spectralnlp.errors import InputError

if TYPE_CHECKING:
    from spectralnlp.text.tokenizer import Tokenizer
    from spectralnlp.text.tokens import Sentence

STDIN = "-"


class Meter:
    """Counter of the bytes that a command has read.

    Args:
        files: all files that the command will read.
    """

    def __init__(self, files: Sequence[str]) -> None:
        self.files, self.n_bytes = files, 0

    def size(self) -> int | None:
        """Return the size of all files in bytes; None if one is compressed, a pipe or on another machine."""
        plain = all(Path(file).is_file() and not file.endswith(".gz") for file in self.files)
        return sum(Path(file).stat().st_size for file in self.files) or None if plain else None

    def counted(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield lines (without line ends), counting their bytes as they are read."""
        for line in lines:
            self.n_bytes += 1 + (len(line) if line.isascii() else len(line.encode()))
            yield line


def sources(files: Sequence[str]) -> list[str]:
    """Return the paths of the files that command-line arguments name, ``-`` for standard input.

    Args:
        files: paths of files or folders, or glob patterns; empty for standard input.

    Raises:
        InputError: a file is missing.
    """
    from spectralnlp.runtime import expand_inputs

    found: list[str] = []
    for file in files or [STDIN]:
        found += [STDIN] if file == STDIN else map(str, expand_inputs([file]))
    return found


def sentences(
    tokenizer: Tokenizer,
    files: Sequence[str],
    *,
    tokenized: bool = False,
    tagged: bool = False,
    known: Collection[str] | None = None,
    meter: Meter | None = None,
) -> Iterator[Sentence | None]:
    """Yield the sentences of all files, reading lazily.

    Args:
        tokenizer: tokenizer with the model's conventions.
        files: result of `sources`.
        tokenized: the text has one sentence per line, with blanks between tokens; a blank line yields None.
        tagged: like ``tokenized``, with tokens as ``word_TAG``.
        known: valid tags of tagged text; None allows any.
        meter: counter of the bytes that are read.
    """
    from spectralnlp.text.sentences import read_tagged, read_tokenized, split_sentences

    for file in files:
        with open_lines(file, meter) as bare:
            lines = (line + "\n" for line in bare)  # offsets count a line end as one character
            if tagged:
                yield from read_tagged(lines, tokenizer, called(file), known=known)
            elif tokenized:
                yield from read_tokenized(lines, tokenizer, called(file))
            else:
                yield from split_sentences(lines, tokenizer)


@contextmanager
def open_lines(file: str, meter: Meter | None = None) -> Iterator[Iterator[str]]:
    """Yield an iterator over the lines of a file or of standard input, without line ends."""
    from spectralnlp.runtime import decode_lines, open_text

    if file != STDIN:
        with open_text(file) as lines:
            yield lines if meter is None else meter.counted(lines)
    elif sys.stdin is None:
        raise InputError("standard input is closed", hint="give a file")
    else:
        yield decode_lines(sys.stdin.buffer, called(file))


def called(file: str) -> str:
    """Return the name of a file for error messages, also for standard input (``-``)."""
    return "<stdin>" if file == STDIN else file
