"""Labelled and unlabelled texts in files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from spectralnlp.errors import InputError
from spectralnlp.runtime import Corpus, FileCorpus, OnBad, Partition, open_text
from spectralnlp_sketch.labelled import Example


class ExampleFiles(Corpus[Example]):
    """Files of labelled texts, and behind them files of unlabelled ones.

    Args:
        labelled: files of lines ``label TAB text``.
        unlabelled: files of texts, one a line; of lines with tabs, what is behind the first.
        on_bad: called for each line that cannot be read; None to stop there.
    """

    def __init__(
        self, labelled: Sequence[str | Path], unlabelled: Sequence[str | Path], on_bad: OnBad | None = None
    ) -> None:
        self.paths = [*labelled, *unlabelled]
        self._labelled = FileCorpus(labelled, partial(read_labelled, on_bad=on_bad))
        self._unlabelled = FileCorpus(unlabelled, partial(read_unlabelled, on_bad=on_bad))

    def partitions(self) -> list[Partition[Example]]:
        """One a file."""
        first = list(self._labelled.partitions())
        rest = [
            Partition(each.document, len(first) + each.document_index, 0, each.read)
            for each in self._unlabelled.partitions()
        ]
        return first + rest


def read_labelled(path: Path, on_bad: OnBad | None) -> Iterator[Example]:
    """Examples of lines ``label TAB text``; empty lines are passed over.

    Raises:
        InputError: with ``on_bad`` None, a line without a tab, a label or a text, or bytes not in UTF-8.
    """
    for number, line in _lines(path, on_bad):
        label, tab, text = line.partition("\t")
        if tab and label.strip() and text.strip():
            yield Example(text, label.strip())
            continue
        what = "no tab" if not tab else "no label before the tab" if not label.strip() else "an empty text"
        error = InputError(what, path=path, line=number, hint="lines are: label, tab, text")
        if on_bad is None:
            raise error
        on_bad(error)


def read_unlabelled(path: Path, on_bad: OnBad | None) -> Iterator[Example]:
    """Examples of texts, one a line; a label and a tab before a text are left out, and so are empty lines."""
    for _, line in _lines(path, on_bad):
        label, tab, text = line.partition("\t")
        yield Example(text if tab else label)


def _lines(path: Path, on_bad: OnBad | None) -> Iterator[tuple[int, str]]:
    """Lines that hold something, with their numbers."""
    try:
        with open_text(path) as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, line
    except InputError as error:
        if on_bad is None:
            raise
        on_bad(error)
