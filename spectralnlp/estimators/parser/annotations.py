"""Annotations (tags and dependency parses) of training sentences, read from files and found by the words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np

from spectralnlp.errors import InputError
from spectralnlp.parameters import AnnotationScheme
from spectralnlp.runtime import expand_inputs
from spectralnlp.text.annotations import ROOT, Annotations
from spectralnlp.text.conll import read_annotated
from spectralnlp.text.conventions import Conventions

_PENN = Conventions()
# How errors are made (benchmarks/experiments/span-scorer.md).
_SHARE_WITHOUT_ERRORS, _LARGEST_SHARE, _LABELS, _TAGS = 0.5, 0.4, 0.5, 0.2


@dataclass(frozen=True)
class KnownAnnotations:
    """Annotations of sentences, by the sentences' words.

    Attributes:
        scheme: name of the pipeline or file, and all labels and tags.
        by_words: the annotations, by a hash of the words; of sentences that occur again, the first ones.
    """

    scheme: AnnotationScheme
    by_words: Mapping[bytes, Annotations]

    @classmethod
    def read(cls, files: str | Sequence[str]) -> KnownAnnotations:
        """Read the annotations in CoNLL-U files, folders or globs.

        Raises:
            InputError: a file is missing, is not CoNLL-U, or has no sentences; or annotations are invalid.
        """
        by_words: dict[bytes, Annotations] = {}
        labels, tags = set[str](), set[str]()
        name = ""
        for path in expand_inputs([files] if isinstance(files, str) else files):
            sentence = None
            for sentence in read_annotated(path, "conllu"):
                annotations = sentence.annotations()
                labels.update(annotations.labels)
                tags.update(annotations.tags)
                name = name or sentence.generator or Path(path).name
                by_words.setdefault(_key(sentence.words), annotations)
            if sentence is None:
                raise InputError("no annotated sentences", path=path, hint="give CoNLL-U")
        return cls(AnnotationScheme(name, tuple(sorted(labels)), tuple(sorted(tags))), by_words)

    def of_sentences(self, sentences: Sequence[Sequence[str]]) -> list[Annotations | None]:
        """Return the annotations of each sentence, None if it has none.

        Args:
            sentences: the words of each; brackets and quotes may be written otherwise than in the files.

        Raises:
            InputError: no sentence has annotations.
        """
        found = [self.by_words.get(_key(words)) for words in sentences]
        if not any(found):
            what = f"none of the {len(sentences):,} sentences has annotations in `annotations`"
            raise InputError(what, hint="annotate the same tokens")
        return found


def with_errors(sentences: Sequence[Annotations | None], random_state: int) -> list[Annotations | None]:
    """Return annotations with errors in half of the sentences, so that a scorer learns not to rely on them.

    In these, a share of the tokens, from 0 to 40 % and 13 % in the mean, get another head, half of them
    another label, and a fifth another tag, drawn from the sentence.

    Args:
        sentences: the annotations of each sentence, or None.
        random_state: seed.
    """
    random = np.random.default_rng(random_state)
    return [
        each if each is None or random.random() < _SHARE_WITHOUT_ERRORS else _corrupted(each, random)
        for each in sentences
    ]


def _corrupted(annotations: Annotations, random: np.random.Generator) -> Annotations:
    heads, labels, tags = list(annotations.heads), list(annotations.labels), list(annotations.tags)
    share = _LARGEST_SHARE * random.random() ** 2
    for token in np.flatnonzero(random.random(len(heads)) < share).tolist():
        if heads[token] == ROOT:
            continue
        new, label, tag = random.integers(len(heads), size=3).tolist()
        if not _is_above(token, new, heads):
            heads[token] = new
        if random.random() < _LABELS:
            labels[token] = annotations.labels[label]
        if random.random() < _TAGS:
            tags[token] = annotations.tags[tag]
    return Annotations(heads, labels, tags)


def _is_above(token: int, other: int, heads: Sequence[int]) -> bool:
    """Return whether a token is another one, or above it."""
    while other not in (token, ROOT):
        other = heads[other]
    return other == token


def _key(words: Iterable[str]) -> bytes:
    """Return a hash of words, the same for ``-LRB-`` and ``(``, and for all double quotation marks."""
    plain = "\0".join(map(_PENN.plain, words))
    return blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=16).digest()
