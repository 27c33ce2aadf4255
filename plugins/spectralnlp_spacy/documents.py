"""Gold documents for spaCy: from trees, tagged sentences and labelled texts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

from spectralnlp.errors import ConfigError
from spectralnlp.text.conll import AnnotatedSentence
from spectralnlp.text.spans import spans_of
from spectralnlp.trees import Tree
from spectralnlp_spacy.constituents import KEY, Bracket, brackets_of, write_constituents

# Where tags of files go: ``token.tag_``, ``token.pos_``, ``doc.ents``, ``doc.spans["chunks"]``.
Field = Literal["tag", "pos", "ents", "spans"]


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


def docs_of_tags(
    annotated: Iterable[AnnotatedSentence],
    vocab: Vocab,
    *,
    column: str | int | None = None,
    field: Field | None = None,
    sentences: int = 1,
) -> Iterator[Doc]:
    """Documents with gold tokens, sentence boundaries and tags; blanks are unknown, as in `docs_of_trees`.

    Args:
        annotated: sentences; of CoNLL-U both ``pos`` and ``tag`` are taken, if no column is named.
        vocab: of the documents.
        column: of other files, the column with the tags; the last by default.
        field: where the column's tags go; by default to ``tag``.
        sentences: how many of them make a document.

    Raises:
        ConfigError: the tags write spans, and no field is named for them.
        InputError: there is no such column.
    """
    stream = iter(annotated)
    while chunk := list(islice(stream, sentences)):
        words = [word for sentence in chunk for word in sentence.words]
        starts = [number == 0 for sentence in chunk for number, _ in enumerate(sentence.words)]
        if column is None and field is None and "upos" in chunk[0].columns:
            pos, tags = ([t for s in chunk for t in s.columns[name]] for name in ("upos", "xpos"))
            yield Doc(vocab, words=words, sent_starts=starts, pos=pos, tags=tags)
            continue
        tags = [tag for sentence in chunk for tag in sentence.tagged(column)[1]]
        if field is None and any(tag[:2] in ("B-", "I-") for tag in tags):
            raise ConfigError(
                "the tags write spans", hint="say what they are: `field` ents, or `field` spans"
            )
        doc = Doc(vocab, words=words, sent_starts=starts)
        _annotate(doc, tags, field or "tag")
        yield doc


def _annotate(doc: Doc, tags: Sequence[str], field: Field) -> None:
    if field in ("tag", "pos"):
        for token, tag in zip(doc, tags, strict=True):
            setattr(token, f"{field}_", tag)
        return
    spans = [Span(doc, first, end, label=label) for first, end, label in spans_of(tags)]
    if field == "ents":
        doc.set_ents(spans)
    else:
        doc.spans["chunks"] = spans


def docs_of_texts(labelled: Iterable[tuple[str, str | None]], nlp: Language) -> Iterator[Doc]:
    """Documents of whole texts, with all labels in ``doc.cats``.

    Args:
        labelled: texts and their labels; None where there is none.
        nlp: its tokeniser makes the documents.
    """
    examples = list(labelled)
    labels = sorted({label for _, label in examples if label is not None})
    for text, label in examples:
        doc = nlp.make_doc(text)
        if label is not None:
            doc.cats = {each: float(each == label) for each in labels}
        yield doc


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
