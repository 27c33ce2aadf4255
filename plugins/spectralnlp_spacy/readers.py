"""Readers for the sections ``[corpora]`` and ``[initialize]`` of spaCy's configs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus, Example

from spectralnlp.corpus import expand_inputs, open_text


def gold_tokens(path: Path, limit: int = 0) -> Callable[[Language], Iterator[Example]]:
    """``spectralnlp.GoldTokens.v1``: a ``.spacy`` corpus read with gold tokens and gold sentence boundaries.

    ``spacy.Corpus.v1`` gives the pipeline gold tokens, but not gold sentence boundaries.

    Args:
        path: a ``.spacy`` file, or a folder of such.
        limit: how many documents to read; 0 for all.
    """
    corpus = Corpus(path, limit=limit)

    def read(nlp: Language) -> Iterator[Example]:
        for example in corpus(nlp):
            yield Example(bare_copy(example.reference), example.reference)

    return read


def bare_copy(doc: Doc) -> Doc:
    """The same tokens, blanks and sentence boundaries, without annotation."""
    starts = [token.is_sent_start for token in doc] if doc.has_annotation("SENT_START") else None
    return Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        sent_starts=starts,
    )


def lines(path: str) -> list[str]:
    """``spectralnlp.Lines.v1``: the lines of text files that are not empty, such as unlabelled text.

    Args:
        path: a file (``.gz`` too), a folder or a pattern.
    """
    texts: list[str] = []
    for file in expand_inputs([path]):
        with open_text(file) as stream:
            texts += [line for line in stream if line.strip()]
    return texts
