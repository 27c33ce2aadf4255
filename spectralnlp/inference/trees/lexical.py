"""Values of tags for the tokens of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp.jit import kernel
from spectralnlp.parameters import Floats, LatentGrammar, Lexicon, Offsets
from spectralnlp.text.signatures import Signature, signature_chain

_ANY_TAG = 1e-4
"""Value of a tag that neither a word nor its signature was seen with, where nothing else derives."""

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


def coarse_values(
    grammar: LatentGrammar, found: Lookup, allowed: NDArray[np.bool_] | None, *, any_tag: bool = False
) -> Floats:
    """Value of each tag for each token under a grammar of one state.

    Args:
        grammar: the coarse grammar.
        found: the tokens' entries.
        allowed: bool (n_tokens, n_symbols), the tags that each token may have; None for all.
        any_tag: let every token have every tag (for sentences that have no derivation otherwise).

    Returns:
        float64 (n_tokens, n_symbols).
    """
    values = np.zeros((len(found.entries), len(grammar.symbols)))
    lexicon = grammar.lexicon
    _fill(
        found.entries, found.signatures, lexicon.starts, lexicon.tags, lexicon.values, lexicon.backoff, values
    )
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
def _fill(entries, signatures, starts, row_tags, row_values, backoff, values):
    for i in range(len(entries)):
        entry, signature = entries[i], signatures[i]
        if entry != signature and backoff[entry] > 0.0:
            for row in range(starts[signature], starts[signature + 1]):
                values[i, row_tags[row]] = backoff[entry] * row_values[row]
        for row in range(starts[entry], starts[entry + 1]):
            values[i, row_tags[row]] = row_values[row]
