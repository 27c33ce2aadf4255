"""Cut text files into blocks of lines, which workers split into sentences and tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from spectralnlp.cli.texts import called, open_lines, sentences_of

if TYPE_CHECKING:
    from spectralnlp.text.tokenizer import Tokenizer
    from spectralnlp.text.tokens import Sentence

# Number of characters after which a block ends, however few lines it has.
MAX_CHARACTERS = 1 << 16


class Block(NamedTuple):
    """A block of lines of a file; no sentence continues past it.

    Attributes:
        text: the lines, separated by line feeds.
        file: name of the file in error messages.
        first: number of the block's first line in the file, from 1.
        offset: number of characters of the file before the block.
        width: length of the longest line before the block since the last blank line, in characters; with it,
            the sentence splitter decides whether lines are wrapped.
    """

    text: str
    file: str
    first: int = 1
    offset: int = 0
    width: int = 0

    def sentences(self, tokenizer: Tokenizer, **written: Any) -> Iterator[Sentence | None]:
        """Return an iterator over the sentences of the block; None for a blank line of tokenised text.

        Args:
            tokenizer, written: see `spectralnlp.cli.texts.sentences`.
        """
        return sentences_of(
            self.text.split("\n"),
            tokenizer,
            self.file,
            first=self.first,
            offset=self.offset,
            width=self.width,
            **written,
        )


def blocks(
    files: Sequence[str], n_lines: int, may_cut: Callable[[str], bool] | None = None
) -> Iterator[list[Block]]:
    """Read files, and yield tasks of about equal size for workers; a task is a list of blocks of lines.

    A task consists of one block of a large file, or of the blocks of several small files.

    Args:
        files: result of `spectralnlp.cli.texts.sources`.
        n_lines: least number of lines of a task; a task of long lines, and the last task, may have fewer.
        may_cut: returns whether a block may end after a line; None allows any line.
    """
    task: list[Block] = []
    size = n_characters = 0
    for file in files:
        with open_lines(file) as lines:
            for block in _blocks_of(lines, called(file), n_lines, may_cut):
                task.append(block)
                size += block.text.count("\n") + 1
                n_characters += len(block.text)
                if size >= n_lines or n_characters >= MAX_CHARACTERS:
                    yield task
                    task, size, n_characters = [], 0, 0
    if task:
        yield task


def _blocks_of(
    lines: Iterable[str], file: str, n_lines: int, may_cut: Callable[[str], bool] | None
) -> Iterator[Block]:
    held: list[str] = []
    size = width = start_width = offset = 0
    first = 1
    for number, line in enumerate(lines, 1):
        held.append(line)
        size += len(line) + 1
        bare = len(line.strip())
        width = max(width, bare) if bare else 0
        if (len(held) >= n_lines or size >= MAX_CHARACTERS) and (may_cut is None or may_cut(line)):
            yield Block("\n".join(held), file, first, offset, start_width)
            first, offset, start_width = number + 1, offset + size, width
            held, size = [], 0
    if held:
        yield Block("\n".join(held), file, first, offset, start_width)
