"""Read treebanks whose phrases may be discontinuous (crossing branches) as ordinary trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from spectralnlp.errors import InputError
from spectralnlp.runtime import OnBad, open_text, report_bad, reported
from spectralnlp.trees.readers.changes import ReadingChanges
from spectralnlp.trees.readers.raising import continuous
from spectralnlp.trees.readers.reader import ENCODING_HINT, EncodedReader
from spectralnlp.trees.readers.sentence_graph import SentenceGraph
from spectralnlp.trees.tree import Tree

# Sentences in the lines of a file; the last argument is called with the error of each bad one.
Parse: TypeAlias = Callable[[Iterable[str], "str | Path | None", OnBad], Iterator[SentenceGraph]]


@dataclass(frozen=True)
class GraphReader(EncodedReader):
    """Reader for one treebank format with discontinuous phrases; its trees have no crossing branches.

    Args:
        parse: function that yields the sentences in the lines of a file, as `SentenceGraph`.
        declared: function that returns the encoding declared at the beginning of a file, or None if there is
            no declaration; None to use ``encoding`` for all files.
        functions: whether labels of phrases and words have their functions, ``NP-SB``, ``PPER-SB``.
    """

    parse: Parse
    declared: Callable[[str], str | None] | None = None
    functions: bool = False

    def with_encoding(self, encoding: str) -> GraphReader:
        """Return a reader that uses another encoding, whatever encoding the files declare."""
        return replace(self, encoding=encoding, declared=None)

    def read(self, path: str | Path, on_bad: OnBad | None = None) -> Iterator[Tree]:
        """Return an iterator over the trees of a file, made continuous by `raising`, each under a root.

        Raises:
            InputError: the file cannot be read, or a sentence is invalid and ``on_bad`` is None.
        """
        return (continuous(graph, functions=self.functions) for graph in self.graphs(path, on_bad))

    def changes(self, path: str | Path) -> ReadingChanges:
        """Count the nodes that `read` removes and moves in a file; invalid sentences are skipped.

        Raises:
            InputError: the file cannot be read.
        """
        counts = ReadingChanges()
        for graph in self.graphs(path, _pass_over):
            continuous(graph, counts)
        return counts

    def graphs(self, path: str | Path, on_bad: OnBad | None = None) -> Iterator[SentenceGraph]:
        """Yield the sentences of a file as graphs, whose phrases may be discontinuous (crossing branches)."""
        with open_text(path, self.encoding, hint=ENCODING_HINT, declared=self.declared) as lines:
            yield from reported(self.parse(lines, path, partial(report_bad, on_bad=on_bad)), on_bad)


def _pass_over(error: InputError) -> None:
    pass
