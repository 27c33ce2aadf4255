"""Templates and hash keys of the single-word features by which a linear chain tags a token.

A single-word feature is a pair (slot, form): a form, such as a suffix, of the word in a slot. There is a slot
for each offset from the token, -2 to 2, one for sentence-initial tokens and one for all other tokens. The
scores that a word contributes in a slot depend on the word alone and are summed once per word. Multi-word
features, for which this is impossible, are in `joint_features`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.chains.feature_kernels import N_OFFSETS
from spectralnlp.inference.chains.word_forms import FORMS, Hashes

Keys = NDArray[np.uint32]

OFFSETS = tuple(range(-(N_OFFSETS // 2), N_OFFSETS // 2 + 1))
HERE = OFFSETS.index(0)
# Slots: the words at the offsets, then the token itself if sentence-initial, or if not.
N_SLOTS = len(OFFSETS) + 2
FIRST_SLOT, INNER_SLOT = len(OFFSETS), len(OFFSETS) + 1

_NEIGHBOUR = ("word", "shape", "suffix2", "suffix3")
_OWN = tuple(form for form in FORMS if form not in ("shape+suffix3", "any"))
TEMPLATES = tuple(
    (slot, FORMS.index(form))
    for slot, forms in enumerate(
        (("word",), _NEIGHBOUR, _OWN, _NEIGHBOUR, ("word",), ("any", "shape"), ("shape+suffix3",))
    )
    for form in forms
)

# Multipliers and shift of the hash function.
GOLDEN, MIX, SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93), np.uint64(32)


def _keys(hashes: Hashes, template: int) -> Keys:
    """Return the key of a feature of each word, a 32-bit hash of the template number and the hashed form.

    The key is 0 where the hash is 0.
    """
    salt = np.uint64((template + 1) * int(GOLDEN) & 0xFFFFFFFFFFFFFFFF)
    mixed = (hashes ^ salt) * MIX
    mixed = ((mixed ^ (mixed >> SHIFT)) * GOLDEN) >> SHIFT
    return np.where(hashes == 0, 0, np.maximum(mixed, 1)).astype(np.uint32)


def word_keys(hashes: Hashes) -> list[Keys]:
    """Return the keys of the features that words have in each slot (position relative to the token).

    Args:
        hashes: uint64 (n_words, n_forms), from `form_hashes`.

    Returns:
        For each slot, uint32 (n_words, n); 0 where a word does not have the feature.
    """
    columns: list[list[Keys]] = [[] for _ in range(N_SLOTS)]
    for template, (slot, form) in enumerate(TEMPLATES):
        columns[slot].append(_keys(hashes[:, form], template))
    return [np.stack(each, axis=1) for each in columns]


def find_rows(keys: Keys, known: Keys) -> NDArray[np.int32]:
    """Return the positions of keys in a sorted array, int32; -1 for keys that are not in it, and for 0."""
    if len(known) == 0:
        return np.full(keys.shape, -1, np.int32)
    at = np.searchsorted(known, keys)
    at[at == len(known)] = 0
    return np.where((known[at] == keys) & (keys != 0), at, -1).astype(np.int32)
