"""Taggers: hidden Markov models with refined tags, linear chains of scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spectralnlp.parameters.arrays import Floats, Ints, Offsets
from spectralnlp.parameters.grammars import DenseTensors, Lexicon


@dataclass(frozen=True, eq=False)
class RefinedMarkov:
    """A hidden Markov model whose observed tags are refined by hidden states (Stratos et al. 2013).

    Token i has tag a, state h and word x. A state is a vector of m_a numbers, what a word says of it one of
    k_a numbers, and the two meet in their *joint* of j_a numbers: their outer product, j = m · k, or, if
    ``tied``, their product entry by entry, j = m = k. Spectral parameters may be negative; tied ones are
    probabilities.

    From a to b the model goes by ``transitions`` (a, b) + ``leaving``[a] ⊗ ``arriving``[b]; the second term
    keeps every sequence of tags possible.

    Attributes:
        tags: names; a tag is its index.
        n_states: int32 (n_tags,); m_a.
        n_lexical: int32 (n_tags,); k_a.
        tied: how a state and a word meet.
        initial: float64 (sum of m_a,); of the first token, laid end to end.
        final: float64 (sum of j_a,); of the last one.
        leaving: float64 (sum of j_a,).
        arriving: float64 (sum of m_a,).
        pairs: int32 (n_pairs, 2); tags a, b that follow one another, lexicographically sorted.
        transitions: their matrices (j_a, m_b).
        lexicon: vectors of k_a numbers, p(word | tag, state) / p(word).
    """

    tags: tuple[str, ...]
    n_states: Ints
    n_lexical: Ints
    tied: bool
    initial: Floats
    final: Floats
    leaving: Floats
    arriving: Floats
    pairs: Ints
    transitions: DenseTensors
    lexicon: Lexicon = field(repr=False)

    @cached_property
    def n_joint(self) -> Ints:
        """int32 (n_tags,): j_a."""
        return self.n_states if self.tied else self.n_states * self.n_lexical

    @cached_property
    def state_offsets(self) -> Offsets:
        """int64 (n_tags + 1,): where each tag's vector lies in ``initial`` and ``arriving``."""
        return np.concatenate([[0], np.cumsum(self.n_states, dtype=np.int64)])

    @cached_property
    def joint_offsets(self) -> Offsets:
        """int64 (n_tags + 1,): where each tag's vector lies in ``final`` and ``leaving``."""
        return np.concatenate([[0], np.cumsum(self.n_joint, dtype=np.int64)])

    @cached_property
    def pair_index(self) -> Ints:
        """int32 (n_tags, n_tags): which of ``pairs``, -1 for none."""
        index = np.full((len(self.tags),) * 2, -1, np.int32)
        index[self.pairs[:, 0], self.pairs[:, 1]] = np.arange(len(self.pairs))
        return index


@dataclass(frozen=True, eq=False)
class ChainWeights:
    """A linear chain of tags whose scores are linear in features and vectors of words around a token.

    Attributes:
        tags: T names.
        keys: uint32 (n_features,), ascending; hashes of features.
        features: float32 (n_features, T).
        words: float32 (n_offsets, k, T); of the vectors of the words around.
        tokens: float32 (l, T); of the vector of the token's context.
        transitions: float32 (T, T); from, to; -inf where forbidden, as below.
        start: float32 (T,); of the first tag.
        end: float32 (T,); of the last tag.
        temperature: a score divided by it is a natural logarithm of a weight.
    """

    tags: tuple[str, ...]
    keys: NDArray[np.uint32]
    features: NDArray[np.float32]
    words: NDArray[np.float32]
    tokens: NDArray[np.float32]
    transitions: NDArray[np.float32]
    start: NDArray[np.float32]
    end: NDArray[np.float32]
    temperature: float = 1.0
