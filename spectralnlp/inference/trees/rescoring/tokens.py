"""Values of tokens: words and tags as hashes, and the little that is known of any language's words."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from spectralnlp.inference.trees.rescoring import values
from spectralnlp.inference.trees.rescoring.values import MARGIN, TokenValues
from spectralnlp.parameters import Ints

_BEFORE, _AFTER = 1, 2  # in place of words and tags outside of the sentence
_CACHED_WORDS = 100_000

_COMMAS = frozenset([",", ";", ":", "-", "--", "–", "—", "،", "、", "，"])
_QUOTES = frozenset(['"', "''", "``", "«", "»", "“", "”", "„", "‘", "’", "「", "」"])
_OPENING = frozenset(["(", "[", "{", "-LRB-", "-LSB-", "-LCB-", "（"])
_CLOSING = frozenset([")", "]", "}", "-RRB-", "-RSB-", "-RCB-", "）"])


@lru_cache(maxsize=8192)
def hash_name(*names: str) -> int:
    """64 bits of a name, or of several, the same everywhere and always; never 0, 1 or 2."""
    data = "\0".join(names).encode("utf-8", "surrogatepass")
    return (zlib.crc32(data) | zlib.crc32(data, 1) << 32) or 3


@lru_cache(maxsize=8192)
def kind_of(word: str, tag: str) -> int:
    """Bits of a token (`values.COMMA` and so on); verbs, nouns and conjunctions by how most tagsets begin."""
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
    """Capitals, small letters and digits of a word, no more than two in a row, and its last two letters."""
    shape = ""
    for c in word:
        mark = "X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c
        if shape[-2:] != mark * 2:
            shape += mark
    return f"{shape[:8]}/{word[-2:].lower()}"


class TokenReader:
    """Makes `TokenValues` of sentences.

    Args:
        is_rare: whether a word is so rare that its shape and ending stand for it.
        tags: the name of each label's number.
        clusters_of: a coarse and a fine cluster of a word, as numbers from 1; zeros for none.
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

    def read(self, words: Sequence[str], tag_number: Ints) -> TokenValues:
        """The values of a sentence's tokens.

        Args:
            words: tokens in the model's conventions.
            tag_number: int32 (n_tokens,); the most probable tag of each.
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
        return TokenValues(word, shape, tag, coarse, fine, kind, tag_number)

    def _of_word(self, word: str) -> bytes:
        """Word, shape and clusters, uint64 each."""
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
