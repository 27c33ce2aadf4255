"""Compute the feature values of tokens for span scorers: hashes of words and tags, and spelling classes."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from spectralnlp.inference.trees.rescoring import values
from spectralnlp.inference.trees.rescoring.values import MARGIN, Hashes, TokenValues
from spectralnlp.parameters import Ints
from spectralnlp.text.annotations import Annotations

_BEFORE, _AFTER = 1, 2  # values of words and tags before and after the sentence
_CACHED_WORDS = 100_000

_COMMAS = frozenset([",", ";", ":", "-", "--", "–", "—", "،", "、", "，"])
_QUOTES = frozenset(['"', "''", "``", "«", "»", "“", "”", "„", "‘", "’", "「", "」"])
_OPENING = frozenset(["(", "[", "{", "-LRB-", "-LSB-", "-LCB-", "（"])
_CLOSING = frozenset([")", "]", "}", "-RRB-", "-RSB-", "-RCB-", "）"])


@lru_cache(maxsize=8192)
def hash_name(*names: str) -> int:
    """Return a 64-bit hash of one or more names, the same on every machine.

    The hash is never 0, which stands for an absent value.
    """
    data = "\0".join(names).encode("utf-8", "surrogatepass")
    return (zlib.crc32(data) | zlib.crc32(data, 1) << 32) or 3


@lru_cache(maxsize=8192)
def kind_of(word: str, tag: str) -> int:
    """Return which classes a token is in (comma, quotation mark, verb, …), as bits such as `values.COMMA`.

    Verbs, nouns and conjunctions are recognised by prefixes of tags that most tagsets share.
    """
    kind = 0
    for bit, words in (
        (values.COMMA, _COMMAS),
        (values.QUOTE, _QUOTES),
        (values.OPENS, _OPENING),
        (values.CLOSES, _CLOSING),
    ):
        kind |= bit * (word in words)
    begins = tag[:2].upper()
    kind |= values.VERB * (begins[:1] == "V" or begins == "MD")
    kind |= values.NOUN * (begins[:1] == "N" or tag == "PRP")
    return kind | values.CONJUNCTION * (begins in ("CC", "CO"))


def shape_of(word: str) -> str:
    """Return a word's character classes and its last two letters: ``Xxx/se`` for "House".

    At most two equal classes in a row are kept, and at most eight classes in all.
    """
    shape = ""
    for c in word:
        mark = "X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c
        if shape[-2:] != mark * 2:
            shape += mark
    return f"{shape[:8]}/{word[-2:].lower()}"


def _dependency_values(n_tokens: int, annotations: Annotations | None) -> tuple[Hashes, Hashes, Ints]:
    """Return ``relation``, ``annotated_tag`` and ``governor`` of `TokenValues`."""
    names = np.zeros((2, n_tokens + 2 * MARGIN), np.uint64)
    if annotations is None:
        return names[0], names[1], np.full(n_tokens, values.NOT_ANNOTATED, np.int32)
    names[:, :MARGIN], names[:, -MARGIN:] = _BEFORE, _AFTER
    names[0, MARGIN:-MARGIN] = [hash_name("relation", label) for label in annotations.labels]
    names[1, MARGIN:-MARGIN] = [hash_name("annotated", tag) for tag in annotations.tags]
    return names[0], names[1], np.array(annotations.heads, np.int32)


class TokenReader:
    """Converter of sentences to `TokenValues`, the feature values of their tokens.

    Args:
        is_rare: function that returns whether a word is rare; its shape and ending then replace the word.
        tags: names of labels, by id.
        clusters_of: function that returns the coarse and the fine cluster of a word, from 1; zeros for none.
    """

    def __init__(
        self,
        is_rare: Callable[[str], bool],
        tags: Sequence[str],
        clusters_of: Callable[[str], tuple[int, int]],
    ) -> None:
        self.tags = tags
        self._is_rare, self._clusters_of = is_rare, clusters_of
        self._tag_hashes = np.array([hash_name("tag", tag) for tag in tags], np.uint64)
        self._known: dict[str, bytes] = {}

    def read(
        self, words: Sequence[str], tag_number: Ints, annotations: Annotations | None = None
    ) -> TokenValues:
        """Return the feature values of a sentence's tokens.

        Args:
            words: tokens, written in the model's tokenisation conventions.
            tag_number: int32 (n_tokens,); label id of the most probable tag of each token.
            annotations: tags and a dependency parse of the sentence; None for none.
        """
        known = b"".join([self._of_word(word) for word in words])
        columns = np.empty((4, len(words) + 2 * MARGIN), np.uint64)
        columns[:, :MARGIN], columns[:, -MARGIN:] = _BEFORE, _AFTER
        columns[:, MARGIN:-MARGIN] = np.frombuffer(known, np.uint64).reshape(-1, 4).T
        tag = np.full(columns.shape[1], _AFTER, np.uint64)
        tag[:MARGIN], tag[MARGIN:-MARGIN] = _BEFORE, self._tag_hashes[tag_number]
        kind = np.zeros(len(tag), np.int32)
        kind[MARGIN:-MARGIN] = [
            kind_of(word, self.tags[t]) for word, t in zip(words, tag_number.tolist(), strict=True)
        ]
        word, shape, coarse, fine = columns
        relation, annotated_tag, governor = _dependency_values(len(words), annotations)
        return TokenValues(
            word, shape, tag, coarse, fine, kind, relation, annotated_tag, tag_number, governor
        )

    def _of_word(self, word: str) -> bytes:
        """Return four uint64 values as bytes: hashes of a word and of its shape, coarse and fine cluster."""
        found = self._known.get(word)
        if found is None:
            if len(self._known) >= _CACHED_WORDS:
                self._known.clear()
            shape = shape_of(word)
            name = hash_name("rare", shape, word[-3:]) if self._is_rare(word) else hash_name(word.lower())
            coarse, fine = self._clusters_of(word)
            numbers = np.array([name, hash_name("shape", shape), coarse, fine], np.uint64)
            found = self._known[word] = numbers.tobytes()
        return found
