"""Look up the words of a sentence in a grammar's lexicon, and compute the weights of their tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.jit import kernel, kernel_part
from spectralnlp.parameters import Floats, Ints, LatentGrammar, Lexicon, Offsets
from spectralnlp.text.signatures import Signature, other_spelling, signature_chain

# Back-off weight of the signature, by default, for a word seen at most five times.
_RARE = 0.16

# Row number where an entry does not have the tag.
NO_ROW = -1

# Factor of the default weights that every tag gets in sentences that have no derivation otherwise.
_ANY_TAG = 1e-4


class LexiconRows(NamedTuple):
    """The arrays of a lexicon as a named tuple, which kernels accept as an argument.

    The class :class:`~spectralnlp.parameters.Lexicon` describes each array.
    """

    starts: Offsets
    tags: Ints
    offsets: Offsets
    values: Floats
    backoff: Floats

    @classmethod
    def of(cls, lexicon: Lexicon) -> LexiconRows:
        """Return the arrays of a lexicon, without copying them."""
        return cls(lexicon.starts, lexicon.tags, lexicon.offsets, lexicon.values, lexicon.backoff)


@kernel
def find_row(lexicon, entry, signature, tag):
    """Find the row with a token's vector for a tag, and the weight of that vector.

    Args:
        lexicon: LexiconRows.
        entry, signature: indices of the token's entry and of its signature's entry.
        tag: symbol of the tag.

    Returns:
        The word's row and 1, or its signature's row and the word's back-off weight; NO_ROW and 0 if neither
        has the tag.
    """
    row = _row_of(lexicon.tags, lexicon.starts[entry], lexicon.starts[entry + 1], tag)
    if row != NO_ROW:
        return row, 1.0
    if entry != signature:
        row = _row_of(lexicon.tags, lexicon.starts[signature], lexicon.starts[signature + 1], tag)
        if row != NO_ROW:
            return row, lexicon.backoff[entry]
    return NO_ROW, 0.0


@kernel_part
def _row_of(tags: Any, first: int, last: int, tag: int) -> int:
    """Return the row of a tag among the rows of a lexicon entry; NO_ROW if the entry does not have the tag.

    Args:
        tags: int32 (n_rows,); tag of each row of the lexicon, ascending within an entry.
        first, last: range of the entry's rows, ``last`` exclusive.
        tag: symbol of the tag.
    """
    end = last
    while first < last:
        middle = (first + last) // 2
        if tags[middle] < tag:
            first = middle + 1
        else:
            last = middle
    return first if first < end and tags[first] == tag else NO_ROW


@dataclass(frozen=True)
class Lookup:
    """The entries of a sentence's tokens in a lexicon.

    Attributes:
        entries: int64 (n_tokens,); index of each token's entry, which is that of the word or, if the lexicon
            lacks the word, of its signature.
        signatures: int64 (n_tokens,); index of the entry of each token's signature (spelling class).
        is_rare: bool (n_tokens,); whether the token is unknown or was seen at most five times.
        log_weight: natural logarithm of the product of p(word) over tokens.
        tag_weights: float64 (n_tokens, n_symbols); factors by which the lexical weights of tags are
            multiplied, from a tagger or word clusters; None for no factors.
    """

    entries: Offsets
    signatures: Offsets
    is_rare: NDArray[np.bool_]
    log_weight: float
    tag_weights: Floats | None = None


def look_up(lexicon: Lexicon, words: Sequence[str], signature: Signature) -> Lookup:
    """Look up the tokens of a sentence in a lexicon.

    A sentence-initial word that is unknown or rare is also tried in lower case. In a language other than
    English, an unknown word is also tried in its `other_spelling`. A word that is still unknown gets the
    entry of its signature (spelling class), the most specific one that the lexicon has.

    Args:
        lexicon: the lexicon.
        words: tokens, written in the model's tokenisation conventions.
        signature: function of the lexicon that maps unknown words to signatures (spelling classes).
    """
    n_words, index, last_resort = len(lexicon.words), lexicon.signature_index, len(lexicon.signatures) - 1
    entries = np.empty(len(words), np.int64)
    signatures = np.empty(len(words), np.int64)
    for position, word in enumerate(words):
        entry = lexicon.word_index.get(word)
        if position == 0 and (entry is None or _is_rare(lexicon, entry)):
            lower = lexicon.word_index.get(word.lower())
            if lower is not None and (entry is None or lexicon.log_weight[lower] > lexicon.log_weight[entry]):
                entry = lower
        if entry is None and lexicon.scheme == "neutral":  # not in English, where ``$`` is the dollar sign
            entry = lexicon.word_index.get(other_spelling(word))
        if entry is None:
            chain = signature_chain(signature(word, position, lexicon.word_index), word)
            sign = next((index[name] for name in chain if name in index), last_resort)
            entries[position] = signatures[position] = n_words + sign
        else:
            entries[position] = entry
            signatures[position] = -1
    known = signatures < 0
    signatures[known] = n_words + lexicon.word_signature[entries[known]]
    log_weight = float(lexicon.log_weight[entries].sum())
    return Lookup(entries, signatures, are_rare(lexicon, entries), log_weight)


def is_rare(lexicon: Lexicon, word: str) -> bool:
    """Return whether a word is not in a lexicon, or was seen at most five times in its training data."""
    entry = lexicon.word_index.get(word)
    return entry is None or _is_rare(lexicon, entry)


def are_rare(lexicon: Lexicon, entries: Offsets) -> NDArray[np.bool_]:
    """Return which lexicon entries stand for rare or unknown words, bool (n_entries,).

    These are the entries of words seen at most five times, and of signatures (spelling classes).

    Args:
        lexicon: the lexicon.
        entries: int64 (n_entries,); indices of entries.
    """
    n_words = len(lexicon.words)
    rare = entries >= n_words
    rare[~rare] = lexicon.backoff[entries[~rare]] >= _RARE
    return rare


def _is_rare(lexicon: Lexicon, entry: int) -> bool:
    return float(lexicon.backoff[entry]) >= _RARE


def coarse_values(
    grammar: LatentGrammar, found: Lookup, allowed: NDArray[np.bool_] | None, *, any_tag: bool = False
) -> Floats:
    """Return the lexical weight of each tag for each token, under a grammar with one state per symbol.

    Args:
        grammar: the coarse grammar.
        found: the tokens' lexicon entries.
        allowed: bool (n_tokens, n_symbols), the tags that each token may have; None for all. If a token has
            no weight for any of its allowed tags, these tags get the grammar's default weights.
        any_tag: whether to give each token a small weight for every tag, for sentences that cannot be parsed
            otherwise.

    Returns:
        float64 (n_tokens, n_symbols).
    """
    values = np.zeros((len(found.entries), len(grammar.symbols)))
    _fill(LexiconRows.of(grammar.lexicon), found.entries, found.signatures, values)
    if found.tag_weights is not None:
        values *= found.tag_weights
    if any_tag:
        values = np.maximum(values, _ANY_TAG * grammar.tag_default)
    if allowed is not None:
        unseen = ~(allowed & (values > 0)).any(axis=1)
        values[unseen] = grammar.tag_default
        values[~allowed] = 0.0
    return values


@kernel
def _fill(lexicon, entries, signatures, values):
    starts, tags, backoff = lexicon.starts, lexicon.tags, lexicon.backoff
    for i in range(len(entries)):
        entry, signature = entries[i], signatures[i]
        if entry != signature and backoff[entry] > 0.0:
            for row in range(starts[signature], starts[signature + 1]):
                values[i, tags[row]] = backoff[entry] * lexicon.values[row]
        for row in range(starts[entry], starts[entry + 1]):
            values[i, tags[row]] = lexicon.values[row]
