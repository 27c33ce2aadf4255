"""Read files or standard input, raw, tokenized or tagged, as a stream of sentences."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spectralnlp.errors import InputError

if TYPE_CHECKING:
    from spectralnlp.text.conll import AnnotatedSentence
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
    tokenizer: Tokenizer, files: Sequence[str], *, meter: Meter | None = None, **written: Any
) -> Iterator[Sentence | None]:
    """Yield the sentences of all files, reading lazily.

    Args:
        tokenizer: tokenizer with the model's conventions.
        files: result of `sources`.
        meter: counter of the bytes that are read.
        written: arguments of `sentences_of` that tell how the text is written.
    """
    for file in files:
        with open_lines(file, meter) as lines:
            yield from sentences_of(lines, tokenizer, called(file), **written)


def sentences_of(
    lines: Iterable[str],
    tokenizer: Tokenizer,
    file: str,
    *,
    tokenized: bool = False,
    tagged: bool = False,
    conllu: bool = False,
    known: Collection[str] | None = None,
    first: int = 1,
    offset: int = 0,
    width: int = 0,
) -> Iterator[Sentence | None]:
    """Return an iterator over the sentences of some lines.

    Args:
        lines: the lines, without line ends.
        tokenizer: tokenizer with the model's conventions.
        file: name of the file in error messages.
        tokenized: the text has one sentence per line, with blanks between tokens; a blank line yields None.
        tagged: like ``tokenized``, with tokens as ``word_TAG``.
        conllu: the text is CoNLL-U, whose tags, heads and relations become annotations.
        known: valid tags of tagged text; None allows any.
        first, offset, width: where the lines begin; see `spectralnlp.cli.blocks.Block`.
    """
    from spectralnlp.text.sentences import read_tagged, read_tokenized, split_sentences

    ended = (line + "\n" for line in lines)  # offsets count a line end as one character
    if tagged:
        return read_tagged(ended, tokenizer, file, offset=offset, first=first, known=known)
    if conllu:
        from spectralnlp.text.conll import read_conllu

        return (_annotated(each, tokenizer) for each in read_conllu(ended, file))
    if tokenized:
        return read_tokenized(ended, tokenizer, file, offset=offset, first=first)
    return split_sentences(ended, tokenizer, offset=offset, width=width)


def _annotated(sentence: AnnotatedSentence, tokenizer: Tokenizer) -> Sentence:
    from spectralnlp.text.tokens import Sentence

    words = Sentence.from_words(sentence.words, forms=tokenizer.normalise_all(sentence.words))
    return replace(words, annotations=sentence.annotations())


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
