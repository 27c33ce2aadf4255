"""Read trees from NLTK's corpus readers and tree objects, without importing NLTK."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from spectralnlp.errors import InputError
from spectralnlp.runtime import Corpus, OnBad, Partition
from spectralnlp.trees.transforms import cleaned
from spectralnlp.trees.tree import Tree


def is_nltk_corpus(data: object) -> bool:
    """Return whether an object is an NLTK treebank reader: it has a method ``parsed_sents``.

    Examples:
        >>> from spectralnlp.trees import is_nltk_corpus
        >>> is_nltk_corpus(["no", "corpus"])
        False
    """
    return callable(getattr(data, "parsed_sents", None))


def is_nltk_tree(example: object) -> bool:
    """Return whether an object is an NLTK tree: it has methods ``label`` and ``leaves``.

    Examples:
        >>> import nltk
        >>> from spectralnlp.trees import is_nltk_tree
        >>> is_nltk_tree(nltk.Tree("NP", ["bread"])), is_nltk_tree("(NP bread)")
        (True, False)
    """
    return callable(getattr(example, "label", None)) and callable(getattr(example, "leaves", None))


class NltkCorpus(Corpus[Tree]):
    """Corpus of the trees of an NLTK corpus reader, without traces and function tags (`clean`).

    Each of the reader's files is a document.

    Args:
        corpus: an object with ``parsed_sents()``, and with ``fileids()`` if it has several files.
        on_bad: called with the error of each invalid tree, which is skipped; None to raise the first error.

    Examples:
        >>> import nltk
        >>> from spectralnlp.trees import NltkCorpus
        >>> class Trees:
        ...     def fileids(self):
        ...         return ["one"]
        ...     def parsed_sents(self, fileids=None):
        ...         return [nltk.Tree.fromstring("(NP (NN bread))")]
        ...
        >>> [str(tree) for tree in NltkCorpus(Trees())]
        ['(NP (NN bread))']
    """

    def __init__(self, corpus: Any, on_bad: OnBad | None = None) -> None:
        self.corpus = corpus
        self.on_bad = on_bad

    def partitions(self) -> Sequence[Partition[Tree]]:
        """Return one partition for each file."""
        find = getattr(self.corpus, "fileids", None)
        names: list[str | None] = list(find()) if callable(find) else [None]
        return [
            Partition(name or "memory", index, 0, partial(_cleaned, self.corpus, name, self.on_bad))
            for index, name in enumerate(names)
        ]


def _cleaned(corpus: Any, name: str | None, on_bad: OnBad | None) -> Iterator[Tree]:
    return cleaned(from_nltk_corpus(corpus, name, on_bad))


def from_nltk_corpus(corpus: Any, name: str | None = None, on_bad: OnBad | None = None) -> Iterator[Tree]:
    """Return an iterator over the trees of an NLTK corpus reader, unchanged (with traces and function tags).

    Args:
        corpus: an object with ``parsed_sents()``.
        name: a file, one of its ``fileids()``; None for all files.
        on_bad: called with the error of each invalid tree, which is skipped; None to raise the first error.

    Raises:
        InputError: the object has no parsed sentences; or, if ``on_bad`` is None, a parsed sentence is not a
            constituency tree, or has a leaf without a preterminal.

    Examples:
        >>> import nltk
        >>> from spectralnlp.trees import from_nltk_corpus
        >>> class Trees:
        ...     def fileids(self):
        ...         return ["one"]
        ...     def parsed_sents(self, fileids=None):
        ...         return [nltk.Tree.fromstring("(NP (NN bread))")]
        ...
        >>> [str(tree) for tree in from_nltk_corpus(Trees())]
        ['(NP (NN bread))']
    """
    if not is_nltk_corpus(corpus):
        raise InputError(f"a {type(corpus).__name__} has no parsed_sents()", hint="give a treebank's reader")
    sentences = corpus.parsed_sents() if name is None else corpus.parsed_sents(name)
    return from_nltk_trees(sentences, name, on_bad)


def from_nltk_trees(
    trees: Iterable[Any], name: str | None = None, on_bad: OnBad | None = None
) -> Iterator[Tree]:
    """Convert NLTK's trees to `Tree` objects without changing them otherwise.

    Args:
        trees: NLTK's trees, such as those of ``parsed_sents()``; `Tree` objects are yielded unchanged.
        name: name of their file, for error messages.
        on_bad: called with the error of each invalid tree, which is skipped; None to raise the first error.

    Raises:
        InputError: an item is not a tree, or a leaf has no preterminal; only if ``on_bad`` is None.

    Examples:
        >>> import nltk
        >>> from spectralnlp.trees import from_nltk_trees
        >>> [str(tree) for tree in from_nltk_trees([nltk.Tree.fromstring("(NP (NN bread))")])]
        ['(NP (NN bread))']
    """
    for number, parsed in enumerate(trees, 1):
        try:
            yield parsed if isinstance(parsed, Tree) else _converted(parsed)
        except ValueError as error:
            located = InputError(str(error), path=name, sentence=number)
            if on_bad is None:
                raise located from error
            on_bad(located)


def _converted(parsed: Any) -> Tree:
    if not is_nltk_tree(parsed):
        raise ValueError(f"a {type(parsed).__name__} is no constituency tree")
    return Tree.from_nltk(parsed)
