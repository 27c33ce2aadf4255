"""Hash the forms of words that serve as features: the word, its shape, its affixes and a few flags.

The forms depend on the word alone. A kernel computes them once per word type, without building strings.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.chains.feature_kernels import (
    DIGIT,
    LOWER,
    N_PREFIXES,
    N_SUFFIXES,
    OTHER,
    UPPER,
    hash_forms,
)
from spectralnlp.runtime import offsets_of

Hashes = NDArray[np.uint64]

# Columns of `form_hashes`; affixes are lowercased, and every word has the form ``any``.
FORMS = (
    *("word", "cased", "shape"),
    *(f"prefix{n}" for n in range(1, N_PREFIXES + 1)),
    *(f"suffix{n}" for n in range(1, N_SUFFIXES + 1)),
    *("digit", "hyphen", "capital", "capitals", "shape+suffix3", "any"),
)

_TABLE = np.array(
    [
        UPPER if c.isupper() else LOWER if c.islower() else DIGIT if c.isdigit() else OTHER
        for c in map(chr, range(0x600))
    ],
    np.uint8,
)  # Latin, Greek, Cyrillic, Armenian, Hebrew


def form_hashes(words: Sequence[str]) -> Hashes:
    """Return hashes of the forms of words.

    Args:
        words: any words.

    Returns:
        uint64 (n_words, n_forms), columns as in `FORMS`; 0 where a word has no such form, such as a suffix
        of five letters if it has only three. Hashes are the same in every process.
    """
    low, low_bounds = _characters([word.lower() for word in words])
    cased, cased_bounds = _characters(words)
    hashes = np.zeros((len(words), len(FORMS)), np.uint64)
    hash_forms(low, low_bounds, cased, cased_bounds, _TABLE, hashes)
    return hashes


def shape_of(word: str) -> str:
    """Return the shape of a word: X for capitals, x for lowercase letters, 0 for digits.

    Other characters stay as they are. Equal characters in a row are reduced to one.
    """
    marks = {UPPER: "X", LOWER: "x", DIGIT: "0"}
    groups = [_TABLE[ord(c)] if ord(c) < len(_TABLE) else OTHER for c in word]
    shape = [marks.get(int(group), c) for c, group in zip(word, groups, strict=True)]
    return "".join(mark for mark, before in zip(shape, ["", *shape], strict=False) if mark != before)


def _characters(words: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    text = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.uint32)
    bounds = offsets_of([len(word) for word in words])
    return text, bounds
