"""Moments of text in memory that is fixed from the start: words are numbered by hashing."""

from __future__ import annotations

from typing import Any

from spectralnlp.errors import ConfigError
from spectralnlp.estimators.eigenwords.kernels import ID_BITS
from spectralnlp.estimators.eigenwords.moments import CountedPairs
from spectralnlp.estimators.eigenwords.pairs import PairTable
from spectralnlp.estimators.eigenwords.words import HashedWords


class HashedPairCounts(CountedPairs[HashedWords]):
    """Counts of words and pairs, words numbered by hashing; see `CountedPairs`.

    Words that meet in a number are one word. They are called by the one with the smallest hash, which may
    have been in any part of the text: so these counts can be merged, but nothing can be taken out of them.
    They do not go to disk: of more than ``max_pairs`` pairs, the rarest are dropped.

    Args:
        hash_bits: there are 2^hash_bits numbers.
        window: largest distance.
        lowercase: count words in small letters.
        max_pairs: pairs remembered at most.

    Examples:
        >>> from spectralnlp.estimators.eigenwords import HashedPairCounts
        >>> from spectralnlp import InMemoryCorpus
        >>> from spectralnlp.runtime import accumulate
        >>> accumulate(HashedPairCounts(hash_bits=10), InMemoryCorpus([["a", "b"], ["b", "c"]])).n_tokens
        4
    """

    subtractable = False

    def __init__(
        self, hash_bits: int, window: int = 2, lowercase: bool = True, max_pairs: int = 12_000_000
    ) -> None:
        if not 1 <= hash_bits < ID_BITS:
            raise ConfigError(f"hash_bits must be between 1 and {ID_BITS - 1}, not {hash_bits}")
        super().__init__(window, lowercase, max_pairs)
        if max_pairs < 2 * window:
            raise ConfigError(f"max_pairs is too small: {max_pairs}")
        self.hash_bits = hash_bits
        self._clear()

    def n_numbers(self, n_words: int) -> int:
        """One for each hash."""
        return 1 << self.hash_bits

    def _clear(self) -> None:
        self._n_forgotten = 0
        self.words = HashedWords(self.hash_bits)
        self.pairs = PairTable(self.max_pairs)

    def parameters(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {name: getattr(self, name) for name in ("hash_bits", "window", "lowercase", "max_pairs")}
