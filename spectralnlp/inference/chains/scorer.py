"""Compute the scores of tags for tokens (emissions), from tables that are computed once per word."""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import islice
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.chains.joint_features import joint_keys, key_slots, look_up
from spectralnlp.inference.chains.tag_scores import add_words, sum_rows
from spectralnlp.inference.chains.templates import HERE, N_SLOTS, OFFSETS, word_keys
from spectralnlp.inference.chains.unlabelled import UnlabelledFeatures
from spectralnlp.inference.chains.word_table import WordTable
from spectralnlp.parameters import ChainWeights
from spectralnlp.text.signatures import is_sign

Array32 = NDArray[np.float32]

_MAX_NUMBERS = 1 << 23  # size at which the table of words is cleared
_SIGN = np.float32(50)  # score of the tag of signs for an unknown one, far above any other score


class Scorer:
    """Computes the scores of tags for tokens, and caches the contribution of each different word.

    A word contributes to the scores of the token at its position and of nearby tokens, through its features
    and its word vector. These contributions are computed when the word is first seen. Unknown signs, such as
    emoji, have the tag ``SYM``, if there is one: by their form and context it would vary.

    Args:
        weights: the weights of the linear chain.
        features: vectors and clusters of words.
        known: words whose tags were learned.
    """

    def __init__(
        self, weights: ChainWeights, features: UnlabelledFeatures, known: Container[str] = ()
    ) -> None:
        self.weights, self.features, self.known = weights, features, known
        self._lock = Lock()
        self._slots = key_slots(weights.keys)
        self._begin()

    def _begin(self) -> None:
        n_tags = len(self.weights.tags)
        self.table = WordTable(self.features)
        # Memory is only committed when written to; growing an array would copy it in each batch.
        n_words = _MAX_NUMBERS // (N_SLOTS * n_tags)
        self.scores = np.zeros((N_SLOTS, n_words, n_tags), np.float32)
        self.n_scored = 0

    def emissions(self, sentences: Sequence[Sequence[str]]) -> tuple[Array32, NDArray[np.int64]]:
        """Return the score of each tag for each token, without transitions (emission scores).

        Returns:
            float32 (n_tokens, n_tags), sentences concatenated; and int64 (n_sentences + 1,), sentence starts.
        """
        with self._lock:  # parsers in several threads may share a tagger
            return self._emissions(sentences)

    def _emissions(self, sentences: Sequence[Sequence[str]]) -> tuple[Array32, NDArray[np.int64]]:
        if self.n_scored >= self.scores.shape[1]:
            self._begin()
        encoded = self.table.encode(sentences)
        if self.n_scored < len(self.table):
            self._score_new()
        rows = look_up(joint_keys(self.table, encoded), self._slots)
        emissions = np.zeros((int(encoded.starts[-1]), len(self.weights.tags)), np.float32)
        add_words(encoded.types, encoded.starts, self.scores, rows, self.weights.rows, emissions)
        return emissions, encoded.starts

    def _score_new(self) -> None:
        new = slice(self.n_scored, len(self.table))
        if (missing := len(self.table) - self.scores.shape[1]) > 0:  # a batch with very many new words
            self.scores = np.pad(self.scores, ((0, 0), (0, missing), (0, 0)))
        vectors = self.table.vectors[new]
        for offset in range(len(OFFSETS)):
            self.scores[offset, new] = vectors @ self.weights.words[offset]
        for slot, keys in enumerate(word_keys(self.table.hashes[new])):
            sum_rows(look_up(keys, self._slots), self.weights.rows, self.scores[slot, new])
        if "SYM" in self.weights.tags:
            added = islice(reversed(self.table.words), len(self.table) - self.n_scored)
            signs = [self.table.words[word] for word in added if is_sign(word) and word not in self.known]
            self.scores[HERE, signs, self.weights.tags.index("SYM")] += _SIGN
        self.n_scored = len(self.table)
