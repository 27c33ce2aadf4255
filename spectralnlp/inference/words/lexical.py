"""Where a sentence's words are in a lexicon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spectralnlp.parameters import Floats, Lexicon, Offsets
from spectralnlp.text.signatures import Signature, signature_chain

_RARE = 0.16
"""Share of the signature in the tags of a word seen five times or less, by default."""


@dataclass(frozen=True)
class Lookup:
    """Where a sentence's tokens are in a lexicon.

    Attributes:
        entries: int64 (n_tokens,); entry of each token, a word's or a signature's.
        signatures: int64 (n_tokens,); entry of each token's signature.
        log_weight: natural logarithm of the product of p(word).
        tag_weights: float64 (n_tokens, n_symbols); factors of the tags' values, from elsewhere; or None.
    """

    entries: Offsets
    signatures: Offsets
    log_weight: float
    tag_weights: Floats | None = None


def look_up(lexicon: Lexicon, words: Sequence[str], signature: Signature) -> Lookup:
    """Find each word; a sentence-initial word that is unknown or rare tries its lower case.

    An unknown word has the finest of its signatures that the lexicon knows.

    Args:
        lexicon: the lexicon.
        words: tokens in the model's conventions.
        signature: the lexicon's signature function.
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
        if entry is None:
            chain = signature_chain(signature(word, position, lexicon.word_index), word)
            sign = next((index[name] for name in chain if name in index), last_resort)
            entries[position] = signatures[position] = n_words + sign
        else:
            entries[position] = entry
            signatures[position] = n_words + int(lexicon.word_signature[entry])
    return Lookup(entries, signatures, float(lexicon.log_weight[entries].sum()))


def is_rare(lexicon: Lexicon, word: str) -> bool:
    """Whether a word is unknown to a lexicon, or was seen at most five times."""
    entry = lexicon.word_index.get(word)
    return entry is None or _is_rare(lexicon, entry)


def _is_rare(lexicon: Lexicon, entry: int) -> bool:
    return float(lexicon.backoff[entry]) >= _RARE
