"""A reader of treebanks with a tree a line: its name, a tab, its brackets."""

from collections.abc import Callable, Iterator
from pathlib import Path

from spectralnlp import Tree
from spectralnlp.errors import InputError
from spectralnlp.runtime import open_text
from spectralnlp.trees import read_brackets


class NamedTrees:
    """Trees with names, which are left out."""

    def sniff(self, beginning: str) -> bool:
        """Whether a file that begins so looks like one of these."""
        return "\t(" in beginning.partition("\n")[0]

    def read(self, path: str | Path, on_bad: Callable[[InputError], None] | None = None) -> Iterator[Tree]:
        """Yield the trees of a file, plain or gzipped.

        Args:
            path: the file.
            on_bad: called with the error of each bad tree, which is then left out; None to raise the first.

        Raises:
            InputError: the file cannot be read, or a tree is bad and there is no ``on_bad``.
        """
        with open_text(path) as lines:
            brackets = (line.partition("\t")[2] for line in lines)
            yield from read_brackets(brackets, path=path, on_bad=on_bad)


NAMED = NamedTrees()
