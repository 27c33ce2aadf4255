"""Words of text that has no blanks between them: a chain of characters, by the model of taggers.

The tag of a character says whether a word begins at it, and the part of speech of its word: words are found
with their tags, so that a chain knows which may follow one another. Its features are n-grams of the
characters around it and of their scripts, and the longest known words that begin, end or go on at it, as in
KyTea.

Sources: H. T. Ng and J. K. Low (2004), Chinese part-of-speech tagging: one-at-a-time or all-at-once?
Word-based or character-based?, EMNLP; G. Neubig, Y. Nakata and S. Mori (2011), Pointwise prediction for
robust, adaptable Japanese morphological analysis, ACL.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Container, Sequence
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.chains.joint_features import key_slots, look_up
from spectralnlp.inference.chains.linear_chains import best_tags
from spectralnlp.inference.chains.tag_scores import sum_rows
from spectralnlp.inference.chains.templates import GOLDEN, MIX, OFFSETS, SHIFT
from spectralnlp.parameters import ChainWeights
from spectralnlp.storage import StoredArrays, StoredValues
from spectralnlp.text.scripts import script_of

Keys = NDArray[np.uint32]
Codes = NDArray[np.uint64]

# The tag of a character is one of these, a hyphen and a class: it begins a word or goes on with one. Models
# that were trained earlier say also where a word ends (E) and which words have one character (S).
_BEGINNING, _GOING_ON = "BS", "IE"

_REACH = 3  # characters on either side that n-grams take in
_LONGEST_NGRAM = 3
_LONGEST_WORD = 8  # of the known words that are features


def character_keys(texts: Sequence[str], words: Container[str]) -> Keys:
    """The features of the characters of texts, one after the other.

    Args:
        texts: without blanks.
        words: known ones.

    Returns:
        uint32 (n_characters, n_features).
    """
    columns = []
    lengths = [len(text) for text in texts]
    places = np.arange(sum(lengths)) + _REACH * (1 + np.repeat(np.arange(len(texts)), lengths))
    for codes in (_padded(texts, ord), _padded(texts, _script_code)):
        for n in range(1, _LONGEST_NGRAM + 1):
            for first in range(-_REACH, _REACH - n + 2):
                columns.append([codes[places + first + k] for k in range(n)])
    found = np.concatenate([_known_words(text, words) for text in texts])
    begins, ends, within = found.T
    before = np.append(np.uint64(0), ends[:-1])
    columns += [[begins], [ends], [within], [begins, ends], [before, begins]]
    return np.stack([_keys(column, number) for number, column in enumerate(columns)], axis=1)


def _padded(texts: Sequence[str], code: Callable[[str], int]) -> Codes:
    """Numbers of characters, uint64; zeros around each text."""
    codes: list[int] = [0] * _REACH
    for text in texts:
        codes += map(code, text)
        codes += [0] * _REACH
    return np.array(codes, np.uint64)


@lru_cache(maxsize=1 << 16)
def _script_code(character: str) -> int:
    return zlib.crc32(script_of(character).encode()) + 1


def _known_words(text: str, words: Container[str]) -> Codes:
    """Lengths of the longest known words that begin at each character, end there, go on; uint64 (n, 3)."""
    lengths = np.zeros((len(text), 3), np.uint64)
    for start in range(len(text)):
        for length in range(1, min(_LONGEST_WORD, len(text) - start) + 1):
            if text[start : start + length] in words:
                end = start + length
                lengths[start, 0] = length
                lengths[end - 1, 1] = max(lengths[end - 1, 1], length)
                lengths[start + 1 : end - 1, 2] = np.maximum(lengths[start + 1 : end - 1, 2], length)
    return lengths


def _keys(parts: Sequence[Codes], number: int) -> Keys:
    """32 bits of the parts of a feature and its number."""
    value = np.full(len(parts[0]), number + 1, np.uint64)
    for part in parts:
        value = (value ^ (part + np.uint64(1))) * MIX
        value = (value ^ (value >> SHIFT)) * GOLDEN
    return np.maximum(value >> SHIFT, 1).astype(np.uint32)


class ChainSegmenter:
    """Finds words by the weights of a chain; see `spectralnlp.text.tokenizer.Segmenter`.

    Args:
        weights: of the places of characters in words.
        words: those that the parser knows.
    """

    def __init__(self, weights: ChainWeights, words: Container[str]) -> None:
        self.weights, self.words = weights, words

    def __reduce__(self) -> tuple[object, ...]:
        return ChainSegmenter, (self.weights, self.words)  # what is cached stays behind

    @cached_property
    def _slots(self) -> Keys:
        return key_slots(self.weights.keys)

    def ends(self, text: str) -> list[int]:
        """Return where words end, ascending, the last at the end of the text, which holds no blanks."""
        tags = self.weights.tags
        emissions = np.zeros((len(text), len(tags)), np.float32)
        sum_rows(look_up(character_keys([text], self.words), self._slots), self.weights.rows, emissions)
        chain = self.weights.transitions, self.weights.start, self.weights.end
        places = best_tags(emissions, np.array([0, len(text)]), *chain)
        begins = np.array([tag[0] in _BEGINNING for tag in tags])
        return [*(np.flatnonzero(begins[places[1:]]) + 1).tolist(), len(text)]


def read_segmenter(arrays: StoredArrays, values: StoredValues) -> ChainWeights:
    """The weights of a model folder.

    Raises:
        ModelError: an array or a value is not as it must be.
    """
    weights = ChainWeights.from_arrays(arrays.part(n_offsets=len(OFFSETS), n_word_numbers=0), values)
    if not weights.tags or not all(tag[:1] in (*_BEGINNING, *_GOING_ON) for tag in weights.tags):
        raise values.error("tags", f"must begin with one of {', '.join(_BEGINNING + _GOING_ON)}")
    return weights
