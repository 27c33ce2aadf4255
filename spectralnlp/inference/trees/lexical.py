"""Values of tags for the tokens of a sentence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.words.lexical import LexiconRows, Lookup
from spectralnlp.jit import kernel
from spectralnlp.parameters import Floats, LatentGrammar

# Value of a tag that neither a word nor its signature was seen with, where nothing else derives.
_ANY_TAG = 1e-4


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
