"""Corpora of trees without traces and function tags, from treebank files or from NLTK."""

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
    """Corpus of the trees of one or more treebanks, without traces and function tags.

    The files of a treebank of weight 2 are read twice.

    Args:
        treebanks: the files and the weight of each treebank.
        reader: name of a treebank reader, or ``auto``.
        on_bad: called with the error of each invalid tree, which is skipped; None to raise the first error.
        encoding: encoding of the files; None for the default of the treebank format.
        renaming: table of renamings of labels and tags; None to rename nothing.
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

    def first_source(self) -> TreebankCorpus:
        """Return a corpus of the first treebank alone."""
        return TreebankCorpus(self.treebanks[:1], self.reader, self.on_bad, self.encoding, self.renaming)

    def remarks(self, *, training: bool = False) -> list[str]:
        """Return messages to the user about what is removed, moved or renamed in the trees.

        This reads the files once more.

        Args:
            training: whether to add messages about labels, tags and rules that only one of several treebanks
                has.

        Raises:
            InputError: the table of renamings matches nothing.
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
    """Do nothing with the error of an invalid tree: it will be reported when the trees are read for training.

    `TreebankCorpus.remarks` passes this function as ``on_bad``, so that no error is reported twice.
    """


def _read_clean(
    path: Path, reader: str, on_bad: OnBad | None, encoding: str | None, renaming: Renaming | None
) -> Iterator[Tree]:
    trees = cleaned(read_trees(path, reader, on_bad, encoding))
    return trees if renaming is None else map(renaming.rename, trees)


class _NltkTrees(Corpus[Tree]):
    """Corpus of the trees of an NLTK corpus or collection, without traces and function tags."""

    def __init__(self, corpus: Corpus[Any], on_bad: OnBad | None) -> None:
        self.corpus = corpus
        self.on_bad = on_bad

    def partitions(self) -> Sequence[Partition[Tree]]:
        """Return the partitions of `self.corpus`; traces and function tags are removed from the trees."""
        return [
            Partition(each.document, each.document_index, each.start, partial(_converted, each, self.on_bad))
            for each in self.corpus.partitions()
        ]


def _converted(partition: Partition[Any], on_bad: OnBad | None) -> Iterator[Tree]:
    return cleaned(from_nltk_trees(partition, on_bad=on_bad))


def nltk_trees_of(data: Any, on_bad: OnBad | None = None) -> Corpus[Tree] | None:
    """Return a corpus of trees without traces and function tags if the data holds NLTK trees, else None.

    Args:
        data: an NLTK corpus reader, or a collection or iterator of NLTK trees.
        on_bad: called with the error of each invalid tree, which is skipped; None to raise the first error.

    Returns:
        The corpus; None if the data is something else. An iterator is always returned as a corpus, because
        its first example has been consumed.
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
