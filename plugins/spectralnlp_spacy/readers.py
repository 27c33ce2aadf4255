"""Readers for spaCy's training configs: gold documents (``[corpora]``), and texts (``[initialize]``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from spacy.attrs import ORTH, SENT_START, SPACY
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus, Example
from spacy.training.corpus import FILE_TYPE, walk_corpus

from spectralnlp.runtime import expand_inputs, open_text


def gold_tokens(path: Path, limit: int = 0) -> Callable[[Language], Iterator[Example]]:
    """Return the reader ``spectralnlp.GoldTokens.v1``, which keeps gold tokens and gold sentence boundaries.

    ``spacy.Corpus.v1`` gives the pipeline gold tokens, but not gold sentence boundaries.

    Args:
        path: a ``.spacy`` file, or a folder of ``.spacy`` files.
        limit: maximum number of documents; 0 for all.
    """
    corpus = Corpus(path)

    def read(nlp: Language) -> Iterator[Example]:
        docs = corpus.read_docbin(nlp.vocab, walk_corpus(Path(path), FILE_TYPE))
        for doc in islice((doc for doc in docs if len(doc)), limit or None):
            yield Example(bare_copy(doc), doc)

    return read


def bare_copy(doc: Doc) -> Doc:
    """Copy tokens, spaces and sentence boundaries of a document, without other annotation."""
    tokens = doc.to_array([ORTH, SPACY, SENT_START])
    words, spaces = tokens[:, 0].tolist(), tokens[:, 1].astype(bool).tolist()
    return Doc(doc.vocab, words=words, spaces=spaces).from_array([SENT_START], tokens[:, 2:])


def lines(path: str) -> list[str]:
    """Return the non-empty lines of text files; the reader ``spectralnlp.Lines.v1`` of spaCy configs.

    It can supply unlabelled texts to ``spectral_textcat``.

    Args:
        path: a file (also ``.gz``), a folder or a glob pattern.
    """
    texts: list[str] = []
    for file in expand_inputs([path]):
        with open_text(file) as stream:
            texts += [line for line in stream if line.strip()]
    return texts
