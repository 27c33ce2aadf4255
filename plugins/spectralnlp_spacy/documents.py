"""Gold documents for spaCy: from trees, tagged sentences and labelled texts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spectralnlp.errors import ConfigError
from spectralnlp.trees import Tree
from spectralnlp_spacy.constituents import KEY, Bracket, brackets_of, write_constituents


def docs_of_trees(
    trees: Iterable[Tree], vocab: Vocab, *, sentences: int = 1, key: str = KEY
) -> Iterator[Doc]:
    """Documents with gold tokens, tags, sentence boundaries and constituents.

    The treebank does not say where blanks were: ``doc.has_unknown_spaces`` holds, which makes spaCy train and
    evaluate on these tokens.

    Args:
        trees: cleaned trees.
        vocab: of the documents.
        sentences: how many of them make a document.
        key: where constituents go: ``doc.spans[key]``.
    """
    stream = iter(trees)
    while chunk := list(islice(stream, sentences)):
        yield _doc_of_trees(chunk, vocab, key)


def _doc_of_trees(trees: Sequence[Tree], vocab: Vocab, key: str) -> Doc:
    words: list[str] = []
    tags: list[str] = []
    starts: list[bool] = []
    brackets: list[Bracket] = []
    for tree in trees:
        tree = tree if not tree.is_preterminal else Tree("TOP", [tree])
        first, own = len(words), tree.words()
        words += own
        tags += tree.tags()
        starts += [True, *[False] * (len(own) - 1)]
        brackets += brackets_of(tree, range(first, len(words)))
    doc = Doc(vocab, words=words, tags=tags, sent_starts=starts)
    write_constituents(doc, key, brackets, tags)
    return doc


def write_docs(docs: Iterable[Doc], path: Path) -> int:
    """Write a ``.spacy`` file, whole or not at all.

    Args:
        docs: the documents.
        path: the file.

    Returns:
        How many documents there were.

    Raises:
        ConfigError: the file cannot be written.
    """
    packed = DocBin(docs=docs)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(packed.to_bytes())
        partial.replace(path)
    except OSError as error:
        raise ConfigError(f"cannot write the documents: {error.strerror}", path=path) from error
    finally:
        partial.unlink(missing_ok=True)
    return len(packed)
