"""Scores of the tags of tokens, by tables of words."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.chains.joint_features import joint_keys, key_slots, look_up
from spectralnlp.inference.chains.tag_scores import add_largest, add_words, sum_rows, sum_units
from spectralnlp.inference.chains.templates import N_SLOTS, OFFSETS, word_keys
from spectralnlp.inference.chains.unlabelled import UnlabelledFeatures
from spectralnlp.inference.chains.word_table import WordTable, hidden_clusters
from spectralnlp.parameters import ChainWeights

Array32 = NDArray[np.float32]

_MOST_NUMBERS = 1 << 23  # in the table of words: then it is begun anew
_MOST_HIDDEN = 1 << 25  # if there are hidden units, in theirs


class Scorer:
    """Scores of tags, by tables that grow with the words seen.

    What a word adds to the scores of a token in each place around it is summed up once, when the word is
    first seen: its features, and its vector times the weights of vectors.
    """

    def __init__(self, weights: ChainWeights, features: UnlabelledFeatures) -> None:
        self.weights, self.features = weights, features
        self._lock = Lock()
        self._slots = key_slots(weights.keys)
        self._hidden_slots = None if weights.hidden is None else key_slots(weights.hidden.keys)
        self._begin()

    def _begin(self) -> None:
        n_tags = len(self.weights.tags)
        self.table = WordTable(self.features)
        # The system gives memory as it is written to; an array that grows would be copied with each batch.
        n_words = _MOST_NUMBERS // (N_SLOTS * n_tags)
        n_hidden = 0 if self.weights.hidden is None else self.weights.hidden.n_hidden
        if n_hidden:
            n_words = min(n_words, _MOST_HIDDEN // (N_SLOTS * n_hidden))
        self.scores = np.zeros((N_SLOTS, n_words, n_tags), np.float32)
        self.units = np.zeros((N_SLOTS, n_words, n_hidden), np.float32)
        self.n_scored = 0

    def emissions(self, sentences: Sequence[Sequence[str]]) -> tuple[Array32, NDArray[np.int64]]:
        """Scores of tags by what is seen of each token.

        Returns:
            float32 (n_tokens, n_tags), sentences one after the other, and int64 (n_sentences + 1,) starts.
        """
        with self._lock:  # parsers in threads listen to one tagger
            return self._emissions(sentences)

    def _emissions(self, sentences: Sequence[Sequence[str]]) -> tuple[Array32, NDArray[np.int64]]:
        if self.n_scored >= self.scores.shape[1]:
            self._begin()
        encoded = self.table.encode(sentences)
        if self.n_scored < len(self.table):
            self._score_new()
        rows = look_up(joint_keys(self.table, encoded), self._slots)
        emissions = encoded.vectors @ self.weights.tokens
        add_words(encoded.types, encoded.starts, self.scores, rows, self.weights.features, emissions)
        if (layer := self.weights.hidden) is not None:
            units = np.empty((len(emissions), layer.n_hidden), np.float32)
            sum_units(encoded.types, encoded.starts, self.units, layer.bias, units)
            add_largest(units @ layer.outputs + layer.fine_bias, layer.tag_of, emissions)
        return emissions, encoded.starts

    def _score_new(self) -> None:
        new = slice(self.n_scored, len(self.table))
        if (missing := len(self.table) - self.scores.shape[1]) > 0:  # of one batch
            self.scores = np.pad(self.scores, ((0, 0), (0, missing), (0, 0)))
            self.units = np.pad(self.units, ((0, 0), (0, missing), (0, 0)))
        vectors = self.table.vectors[new]
        layer = self.weights.hidden
        for offset in range(len(OFFSETS)):
            self.scores[offset, new] = vectors @ self.weights.words[offset]
            if layer is not None:
                np.matmul(vectors, layer.words[offset], out=self.units[offset, new])
        clusters = self.table.clusters[new]
        if layer is not None:
            clusters = hidden_clusters(self.table, new)
        for slot, keys in enumerate(word_keys(self.table.hashes[new], clusters)):
            sum_rows(look_up(keys, self._slots), self.weights.features, self.scores[slot, new])
            if layer is not None and self._hidden_slots is not None:
                sum_rows(look_up(keys, self._hidden_slots), layer.features, self.units[slot, new])
        self.n_scored = len(self.table)
