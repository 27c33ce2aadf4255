"""Convert trees, tagged sentences and labelled texts to spaCy documents with gold annotation."""

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

# Names for where tags are written: ``token.tag_``, ``token.pos_``, ``doc.ents``, ``doc.spans["chunks"]``.
Field = Literal["tag", "pos", "ents", "spans"]


def docs_of_trees(
    trees: Iterable[Tree], vocab: Vocab, *, sentences: int = 1, key: str = KEY
) -> Iterator[Doc]:
    """Yield documents with gold tokens, tags, sentence boundaries and constituents.

    A treebank does not record spaces: ``doc.has_unknown_spaces`` is true, so that spaCy trains and evaluates
    on the gold tokens.

    Args:
        trees: trees without traces and function tags.
        vocab: vocabulary of the documents.
        sentences: number of sentences per document.
        key: key of the constituents in ``doc.spans``.
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
        first, leaves = len(words), tree.words()
        words += leaves
        tags += tree.tags()
        starts += [True, *[False] * (len(leaves) - 1)]
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
    """Yield documents with gold tokens, sentence boundaries and tags.

    Spaces are unknown, as in `docs_of_trees`.

    Args:
        annotated: tagged sentences. If they come from CoNLL-U files, and ``column`` and ``field`` are None,
            both ``pos`` and ``tag`` are set.
        vocab: vocabulary of the documents.
        column: name or number of the column with the tags; None for the last one.
        field: where the tags are written: ``tag``, ``pos``, ``ents``, or ``spans`` for
            ``doc.spans["chunks"]``; None for ``tag``.
        sentences: number of sentences per document.

    Raises:
        ConfigError: the tags mark spans (``B-…``, ``I-…``), and ``field`` is None.
        InputError: the column does not exist.
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
                "the tags are spans", hint="choose where to write them: `field` ents, or `field` spans"
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
    """Yield a document for each text; ``doc.cats`` maps its label to 1 and all other labels to 0.

    Args:
        labelled: pairs (text, label); an unlabelled text has the label None and gets no ``doc.cats``.
        nlp: pipeline whose tokenizer creates the documents.
    """
    examples = list(labelled)
    labels = sorted({label for _, label in examples if label is not None})
    for text, label in examples:
        doc = nlp.make_doc(text)
        if label is not None:
            doc.cats = {each: float(each == label) for each in labels}
        yield doc


def write_docs(docs: Iterable[Doc], path: Path) -> int:
    """Write documents to a ``.spacy`` file; after an error, no partial file is left.

    Args:
        docs: the documents.
        path: path of the file.

    Returns:
        The number of documents.

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
