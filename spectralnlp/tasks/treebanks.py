"""Treebanks as corpora: cleaned trees of files, and of NLTK."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from spectralnlp.errors import InputError
from spectralnlp.runtime import Corpus, FileCorpus, OnBad, Partition, as_corpus
from spectralnlp.tasks.several_treebanks import Contents, Source, report_differences, report_renaming
from spectralnlp.trees import (
    NltkCorpus,
    Tree,
    cleaned,
    from_nltk_trees,
    is_nltk_corpus,
    is_nltk_tree,
    read_trees,
)
from spectralnlp.trees.readers.recognition import changes_of
from spectralnlp.trees.renaming import Renaming


class TreebankCorpus(FileCorpus[Tree]):
    """The cleaned trees of files of one treebank or several; a file that counts twice is there twice.

    Args:
        treebanks: where the files are, and how often they count.
        reader: name of a treebank reader, or ``auto``.
        on_bad: called for each bad tree, which is then left out; None to stop at the first.
        encoding: of the files; None for what is usual for the treebank.
        renaming: of labels and tags; None to leave them.
    """

    def __init__(
        self,
        treebanks: Sequence[Source],
        reader: str,
        on_bad: OnBad | None,
        encoding: str | None,
        renaming: Renaming | None,
    ) -> None:
        self.treebanks, self.renaming = treebanks, renaming
        self.reader, self.on_bad, self.encoding = reader, on_bad, encoding
        read = partial(_read_clean, reader=reader, on_bad=on_bad, encoding=encoding, renaming=renaming)
        super().__init__(
            [path for each in treebanks for path in each.paths for _ in range(each.weight)], read
        )

    def first(self) -> TreebankCorpus:
        """Return the first of the treebanks, which decides how tokens are written."""
        return TreebankCorpus(self.treebanks[:1], self.reader, self.on_bad, self.encoding, self.renaming)

    def remarks(self, *, training: bool = False) -> list[str]:
        """Say what is left out and moved, what the table renames; for training, what only one treebank has.

        Files are read for that; as trees, where there is a table or a second treebank.

        Raises:
            InputError: the table renames nothing.
        """
        paths = [path for each in self.treebanks for path in each.paths]
        lines = changes_of(paths, self.reader, self.encoding)
        compared = training and len(self.treebanks) > 1
        if self.renaming is None and not compared:
            return lines
        read = partial(_read_clean, reader=self.reader, on_bad=_ignore, encoding=self.encoding, renaming=None)
        contents = [Contents.of(each, read, self.renaming) for each in self.treebanks]
        if self.renaming is not None:
            lines += report_renaming(contents, self.renaming)
        return lines + (report_differences(contents) if compared else [])


def _ignore(error: InputError) -> None:
    """Leave out a bad tree: those who learn from the trees are told."""


def _read_clean(
    path: Path, reader: str, on_bad: OnBad | None, encoding: str | None, renaming: Renaming | None
) -> Iterator[Tree]:
    trees = cleaned(read_trees(path, reader, on_bad, encoding))
    return trees if renaming is None else map(renaming.rename, trees)


class _NltkTrees(Corpus[Tree]):
    """The cleaned trees of another corpus, whose examples are NLTK's."""

    def __init__(self, corpus: Corpus[Any], on_bad: OnBad | None) -> None:
        self.corpus = corpus
        self.on_bad = on_bad

    def partitions(self) -> Sequence[Partition[Tree]]:
        """The partitions of the other corpus."""
        return [
            Partition(each.document, each.document_index, each.start, partial(_converted, each, self.on_bad))
            for each in self.corpus.partitions()
        ]


def _converted(partition: Partition[Any], on_bad: OnBad | None) -> Iterator[Tree]:
    return cleaned(from_nltk_trees(partition, on_bad=on_bad))


def nltk_trees_of(data: Any, on_bad: OnBad | None = None) -> Corpus[Tree] | None:
    """Make a corpus of the cleaned trees of NLTK.

    Args:
        data: a corpus reader of NLTK's, or a collection or an iterator of its trees.
        on_bad: called for each bad tree, which is then left out; None to stop at the first.

    Returns:
        The corpus; None if the data are something else. An iterator, from which the first example had to be
        taken, is always a corpus.
    """
    if is_nltk_corpus(data):
        return NltkCorpus(data, on_bad)
    if isinstance(data, Iterator):
        first = list(islice(data, 1))
        examples = chain(first, data)
        is_nltk = bool(first) and is_nltk_tree(first[0])
        return as_corpus(cleaned(from_nltk_trees(examples, on_bad=on_bad)) if is_nltk else examples)
    if isinstance(data, Corpus | str | Path) or not isinstance(data, Collection):
        return None
    return _NltkTrees(as_corpus(data), on_bad) if is_nltk_tree(next(iter(data), None)) else None
