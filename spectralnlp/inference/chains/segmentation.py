"""Segment text without blanks (Chinese, Japanese) into words, by a linear chain over characters.

The tag of a character combines its position in the word (beginning, inside, end, single) with the word's part
of speech, so that the chain also models which parts of speech follow one another. Features are n-grams of the
surrounding characters and of their scripts, and, as in KyTea, the longest known words that begin at, end at
or cover the character, with their parts of speech in the treebank.

Sources: H. T. Ng and J. K. Low (2004), Chinese part-of-speech tagging: one-at-a-time or all-at-once?
Word-based or character-based?, EMNLP; G. Neubig, Y. Nakata and S. Mori (2011), Pointwise prediction for
robust, adaptable Japanese morphological analysis, ACL.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.chains.joint_features import key_slots, look_up
from spectralnlp.inference.chains.linear_chains import best_tags
from spectralnlp.inference.chains.tag_scores import sum_rows
from spectralnlp.inference.chains.templates import GOLDEN, MIX, OFFSETS, SHIFT
from spectralnlp.parameters import ChainWeights, LatentGrammar
from spectralnlp.storage import StoredArrays, StoredValues
from spectralnlp.text.scripts import script_of
from spectralnlp.trees import lowest_label

Keys = NDArray[np.uint32]
Codes = NDArray[np.uint64]

# The tag of a character is a place in the word (begins, within, ends, alone), a hyphen and a class.
_BEGINNING, _GOING_ON = "BS", "IE"

_REACH = 3  # characters on either side that n-grams cover
_LONGEST_NGRAM = 3
_LONGEST_WORD = 8  # length of the longest known word that is a feature


def tags_of_words(grammar: LatentGrammar) -> dict[str, list[str]]:
    """Return the possible tags of each word in the lexicon of a grammar."""
    lexicon = grammar.lexicon
    labels = list(map(lowest_label, grammar.symbols))
    names = [labels[tag] for tag in lexicon.tags.tolist()]
    starts = lexicon.starts.tolist()
    return {word: names[starts[i] : starts[i + 1]] for i, word in enumerate(lexicon.words)}


def word_codes(words: Mapping[str, Collection[str]]) -> dict[str, int]:
    """Return a code from 1 to 2³² for each word: a hash of the word's possible tags, used in features."""
    return {word: zlib.crc32(" ".join(sorted(set(tags))).encode()) + 1 for word, tags in words.items()}


def character_keys(texts: Sequence[str], words: Mapping[str, int]) -> Keys:
    """Return the keys of the features of each character of texts.

    Args:
        texts: texts without blanks.
        words: the known words, with their codes from `word_codes`.

    Returns:
        uint32 (n_characters, n_features).
    """
    columns = []
    lengths = [len(text) for text in texts]
    places = np.arange(sum(lengths)) + _REACH * (1 + np.repeat(np.arange(len(texts)), lengths))
    characters = _padded(texts, ord)
    for codes in (characters, _padded(texts, _script_code)):
        for n in range(1, _LONGEST_NGRAM + 1):
            for first in range(-_REACH, _REACH - n + 2):
                columns.append([codes[places + first + k] for k in range(n)])
    found = np.concatenate([_known_words(text, words) for text in texts])
    begins, tags_begun, before, tags_before, ends, within = found.T
    columns += [[begins], [ends], [within], [begins, ends], [before, begins]]
    begun, ended = [tags_begun, begins], [tags_before, before]
    columns += [begun, ended, [*ended, *begun]]
    columns += [[*begun, characters[places - 1]], [*ended, characters[places]]]
    return np.stack([_keys(column, number) for number, column in enumerate(columns)], axis=1)


def _padded(texts: Sequence[str], code: Callable[[str], int]) -> Codes:
    """Return a code for each character, uint64, with zeros before and after each text.

    Args:
        texts: texts without blanks.
        code: function that returns the code of a character.
    """
    codes: list[int] = [0] * _REACH
    for text in texts:
        codes += map(code, text)
        codes += [0] * _REACH
    return np.array(codes, np.uint64)


@lru_cache(maxsize=1 << 16)
def _script_code(character: str) -> int:
    return zlib.crc32(script_of(character).encode()) + 1


def _known_words(text: str, words: Mapping[str, int]) -> Codes:
    """Describe the longest known words around each character of a text.

    Returns:
        uint64 (n_characters, 6), with zeros where there is no such word. Columns 0 and 1: length and code of
        the longest word that begins with the character. Columns 2 and 3: the same of the word that ends just
        before the character. Column 4: length of the word that ends with the character. Column 5: length of
        the word with the character inside, neither first nor last.
    """
    rows = [[0] * 5 for _ in range(len(text) + 1)]
    for start in range(len(text)):
        for end in range(start + 1, min(start + _LONGEST_WORD, len(text)) + 1):
            code = words.get(text[start:end])
            if code is not None:
                length = end - start
                rows[start][:2] = length, code
                if length > rows[end][2]:
                    rows[end][2:4] = length, code
                for inside in rows[start + 1 : end - 1]:
                    inside[4] = max(inside[4], length)
    found = np.array(rows, np.uint64)
    return np.insert(found[:-1], 4, found[1:, 2], axis=1)


def _keys(parts: Sequence[Codes], number: int) -> Keys:
    """Return the key of a feature of each character: a 32-bit hash of the template number and the values.

    Args:
        parts: uint64 arrays; the values that the feature combines.
        number: index of the feature template.
    """
    value = np.full(len(parts[0]), number + 1, np.uint64)
    for part in parts:
        value = (value ^ (part + np.uint64(1))) * MIX
        value = (value ^ (value >> SHIFT)) * GOLDEN
    return np.maximum(value >> SHIFT, 1).astype(np.uint32)


class ChainSegmenter:
    """Word segmenter that tags characters by a linear chain; see `spectralnlp.text.tokenizer.Segmenter`.

    Args:
        weights: weights of the linear chain over characters.
        words: the words that the parser knows, with their tags.
    """

    def __init__(self, weights: ChainWeights, words: Mapping[str, Collection[str]]) -> None:
        self.weights, self.words = weights, words

    def __reduce__(self) -> tuple[object, ...]:
        return ChainSegmenter, (self.weights, self.words)  # without caches

    @cached_property
    def _slots(self) -> Keys:
        return key_slots(self.weights.keys)

    @cached_property
    def _codes(self) -> dict[str, int]:
        return word_codes(self.words)

    def ends(self, text: str) -> list[int]:
        """Return the end offsets of words in a text without blanks, ascending, the last at the text end."""
        tags = self.weights.tags
        emissions = np.zeros((len(text), len(tags)), np.float32)
        sum_rows(look_up(character_keys([text], self._codes), self._slots), self.weights.rows, emissions)
        chain = self.weights.transitions, self.weights.start, self.weights.end
        places = best_tags(emissions, np.array([0, len(text)]), *chain)
        begins = np.array([tag[0] in _BEGINNING for tag in tags])
        return [*(np.flatnonzero(begins[places[1:]]) + 1).tolist(), len(text)]


def read_segmenter(arrays: StoredArrays, values: StoredValues) -> ChainWeights:
    """Read the weights of a segmenter from a model folder.

    Raises:
        ModelError: an array or a value is missing or invalid.
    """
    weights = ChainWeights.from_arrays(arrays.part(n_offsets=len(OFFSETS), n_word_numbers=0), values)
    if not weights.tags or not all(tag[:1] in (*_BEGINNING, *_GOING_ON) for tag in weights.tags):
        raise values.error("tags", f"must begin with one of {', '.join(_BEGINNING + _GOING_ON)}")
    return weights
