"""Hidden units: a small network that learns finer tags, of text that a first tagger tagged, then gold ones.

It sees what the chain sees of single words, and their classes, and what it gets wrong differs: the sum of
both is better than either. It learns from far more tokens than are tagged by hand, so that what is not linear
in the features is learned at all: self-training, by Adam (Kingma and Ba 2015) with dropout (Srivastava,
Hinton, Krizhevsky, Sutskever and Salakhutdinov 2014).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.tagger.finer_tags import FineTags
from spectralnlp.estimators.tagger.hidden_kernels import Batch, Rows, add_features, descend_features
from spectralnlp.estimators.tagger.rows import naming_first
from spectralnlp.estimators.tagger.self_tagging import TaggedText
from spectralnlp.inference.chains.templates import (
    FIRST_SLOT,
    INNER_SLOT,
    OFFSETS,
    find_rows,
    naming_keys,
    word_keys,
)
from spectralnlp.inference.chains.unlabelled import UnlabelledFeatures
from spectralnlp.inference.chains.word_table import Encoded, WordTable, hidden_clusters
from spectralnlp.parameters import HiddenLayer, Ints

Floats32 = NDArray[np.float32]

# Features of the gold tokens that are seen less often are left out.
_FEWEST_SEEN = 5
# Tokens of text that are learned from at most, and of a step; of gold tokens in a step.
_MOST_TEXT, _TEXT_BATCH, _GOLD_BATCH = 12_000_000, 2048, 512
_GOLD_EPOCHS = 6
# Longest steps of dense weights and of features, of text and of gold tokens.
_TEXT_RATES, _GOLD_RATES = (2e-3, 0.05), (4e-4, 0.02)
# Shares of words not known by name, and of units that are off, of text and of gold tokens.
_WORD_DROPOUT = 0.2
_TEXT_DROPOUT, _GOLD_DROPOUT = 0.2, 0.3
# What vectors, of length 1, are multiplied with; what scores of the network count beside those of the chain.
_VECTOR_SCALE = np.float32(3)
_SHARE = np.float32(0.75)
_WARM_UP = 100  # steps
# Units are on at first, or without vectors none would ever learn.
_FIRST_BIAS = 0.1


class Tagged(NamedTuple):
    """Tagged tokens: sentences as numbers of a `WordTable`, and int32 (n_tokens,) fine tags."""

    encoded: Encoded
    tags: Ints


def learn_of_text(
    features: UnlabelledFeatures,
    log: TaggedText,
    fine: FineTags,
    held_out: NDArray[np.int64],
    n_hidden: int,
    rng: np.random.Generator,
) -> tuple[HiddenLayer, Floats32]:
    """Return what `learn_hidden` does.

    Args:
        features: vectors, clusters and classes of words.
        log: a text that a tagger gave fine tags.
        fine: training sentences with theirs.
        held_out: int64; numbers of sentences to learn of last.
        n_hidden, rng: as for `learn_hidden`.
    """
    table = WordTable(replace(features, eigentokens=()))
    text = Tagged(*log.encoded(table))
    encoded = table.encode([words for words, _ in fine.sentences])
    number = {name: i for i, name in enumerate(fine.names)}
    tags = np.array([number[tag] for _, tags in fine.sentences for tag in tags], np.int32)
    sentence = np.repeat(np.arange(len(fine.sentences)), np.diff(encoded.starts))
    apart = np.isin(sentence, held_out)
    return learn_hidden(table, text, Tagged(encoded, tags), apart, fine.tag_of, n_hidden, rng)


def learn_hidden(
    table: WordTable,
    text: Tagged,
    gold: Tagged,
    held_out: NDArray[np.bool_],
    tag_of: Ints,
    n_hidden: int,
    rng: np.random.Generator,
) -> tuple[HiddenLayer, Floats32]:
    """Return a layer that learned a text's tags, then gold ones.

    Args:
        table: words of both.
        text: tags of a first tagger.
        gold: tags given.
        held_out: bool (n_gold_tokens,); tokens of which is learned in the last epoch only.
        tag_of: int32 (n_fine,); the tag of each fine tag.
        n_hidden: units.
        rng: chooses the first weights, the order, what is dropped.

    Returns:
        The layer, and float32 (n_held_out, n_tags), its scores of tokens held out before it learned of them.
    """
    network = _Network(table, gold, tag_of, n_hidden, rng)
    n_text = min(_MOST_TEXT, len(text.tags))
    order, places, first = rng.permutation(len(text.tags))[:n_text], text.encoded.places, _firsts(text)
    n_steps = -(-n_text // _TEXT_BATCH)
    for step in range(n_steps):
        which = order[step * _TEXT_BATCH : (step + 1) * _TEXT_BATCH]
        slower = np.float32(min(1.0, (step + 1) / _WARM_UP) * (1 - 0.9 * step / n_steps))
        batch = network.batch(text.encoded.types, places[which], first[which])
        network.step(batch, text.tags[which], slower, _TEXT_RATES, _TEXT_DROPOUT)
    places, first = gold.encoded.places, _firsts(gold)
    every, apart = np.arange(len(gold.tags)), np.flatnonzero(held_out)
    scores = np.zeros((0, int(tag_of.max()) + 1), np.float32)
    for epoch in range(_GOLD_EPOCHS):
        last = epoch == _GOLD_EPOCHS - 1
        if last:
            scores = network.scores(gold.encoded.types, places[apart], first[apart])
        order = rng.permutation(every if last else every[~held_out])
        slower = np.float32(1 - epoch / _GOLD_EPOCHS)
        for begin in range(0, len(order), _GOLD_BATCH):
            which = order[begin : begin + _GOLD_BATCH]
            batch = network.batch(gold.encoded.types, places[which], first[which])
            network.step(batch, gold.tags[which], slower, _GOLD_RATES, _GOLD_DROPOUT)
    return network.layer(), scores


def _firsts(tagged: Tagged) -> NDArray[np.bool_]:
    first = np.zeros(len(tagged.tags), bool)
    starts = tagged.encoded.starts
    first[starts[:-1][np.diff(starts) > 0]] = True
    return first


class _Network:
    def __init__(
        self, table: WordTable, gold: Tagged, tag_of: Ints, n_hidden: int, rng: np.random.Generator
    ) -> None:
        self.tag_of, self.rng, self.time = tag_of, rng, 0
        self.keys, self.seen = _features(table, gold)
        self.vectors = table.vectors * _VECTOR_SCALE
        width, n_fine = self.vectors.shape[1] * len(OFFSETS), len(tag_of)
        self.dense = [
            (rng.normal(size=(width, n_hidden)) / np.sqrt(max(1, width))).astype(np.float32),
            np.full(n_hidden, _FIRST_BIAS, np.float32),
            (rng.normal(size=(n_hidden, n_fine)) * 0.05).astype(np.float32),
            np.zeros(n_fine, np.float32),
        ]
        self.means = [(np.zeros_like(each), np.zeros_like(each)) for each in self.dense]
        self.features = np.zeros((len(self.keys), n_hidden), np.float32)
        self.sums = np.full(len(self.keys), 1e-6, np.float32)

    def batch(self, types: Ints, places: NDArray[np.int64], first: NDArray[np.bool_]) -> Batch:
        """Return tokens, some of their words not to be known by name."""
        dropped = self.rng.random((len(places), len(OFFSETS))) < _WORD_DROPOUT
        return Batch(types, places, first, dropped)

    def _units(self, batch: Batch) -> tuple[Floats32, Floats32]:
        """Return the vectors around tokens, side by side, and the sums that units are of."""
        around = batch.types[batch.places[:, None] + np.array(OFFSETS)]
        vectors = self.vectors[around].reshape(len(around), len(self.dense[0]))
        sums = vectors @ self.dense[0] + self.dense[1]
        add_features(batch, self.seen, self.features, sums)
        return vectors, sums

    def step(
        self, batch: Batch, tags: Ints, slower: np.float32, rates: tuple[float, float], dropout: float
    ) -> None:
        """Take a step down the gradient of the surprise at some tokens' tags."""
        n = len(tags)
        vectors, sums = self._units(batch)
        on = self.rng.random(sums.shape, dtype=np.float32) >= dropout
        mask = np.where((sums > 0) & on, np.float32(1 / (1 - dropout)), np.float32(0))
        units = sums * mask
        errors = units @ self.dense[2] + self.dense[3]
        errors -= errors.max(axis=1, keepdims=True)
        np.exp(errors, out=errors)
        errors /= errors.sum(axis=1, keepdims=True)
        errors[np.arange(n), tags] -= 1
        slopes = (errors @ self.dense[2].T) * mask  # of each token's own surprise
        gradients = (vectors.T @ slopes, slopes.sum(axis=0), units.T @ errors, errors.sum(axis=0))
        self.time += 1
        dense_rate = np.float32(rates[0]) * slower
        for weights, total, (mean, square) in zip(self.dense, gradients, self.means, strict=True):
            gradient = total / np.float32(n)
            mean += np.float32(0.1) * (gradient - mean)
            square += np.float32(0.001) * (gradient * gradient - square)
            unbiased = mean / np.float32(1 - 0.9**self.time)
            weights -= (
                dense_rate
                * unbiased
                / (np.sqrt(square / np.float32(1 - 0.999**self.time)) + np.float32(1e-8))
            )
        rate = np.float32(rates[1]) * slower
        descend_features(batch, self.seen, self.features, self.sums, slopes, rate)

    def scores(self, types: Ints, places: NDArray[np.int64], first: NDArray[np.bool_]) -> Floats32:
        """Return what the layer will add to the scores of tags of tokens."""
        none = np.zeros((len(places), len(OFFSETS)), bool)
        _, sums = self._units(Batch(types, places, first, none))
        fine = (np.maximum(sums, 0) @ self.dense[2] + self.dense[3]) * _SHARE
        found = np.full((len(places), int(self.tag_of.max()) + 1), -np.inf, np.float32)
        np.maximum.at(found.T, self.tag_of, fine.T)
        return found

    def layer(self) -> HiddenLayer:
        """Return the layer as it is now."""
        words, bias, outputs, tag_bias = self.dense
        used = self.features.any(axis=1)
        return HiddenLayer(
            keys=self.keys[used],
            features=self.features[used],
            words=(words * _VECTOR_SCALE).reshape(len(OFFSETS), -1, len(bias)),
            bias=bias,
            outputs=outputs * _SHARE,
            fine_bias=tag_bias * _SHARE,
            tag_of=self.tag_of,
        )


def _features(table: WordTable, gold: Tagged) -> tuple[NDArray[np.uint32], Rows]:
    """Return uint32, ascending, the features that gold tokens often have, and those of all words."""
    every = slice(0, len(table))
    by_slot = word_keys(table.hashes, hidden_clusters(table, every))
    places, first = gold.encoded.places, _firsts(gold)
    often = []
    for slot, keys in enumerate(by_slot):
        at = {FIRST_SLOT: places[first], INNER_SLOT: places[~first]}.get(slot)
        if at is None:
            at = places + OFFSETS[slot]
        found, n_seen = np.unique(keys[gold.encoded.types[at]], return_counts=True)
        often.append(found[(n_seen >= _FEWEST_SEEN) & (found != 0)])
    keys = np.unique(np.concatenate(often))
    names = np.isin(keys, naming_keys(table.hashes))
    row_starts, rows, named = naming_first([find_rows(each, keys) for each in by_slot], names)
    return keys, Rows(row_starts, rows, named, len(table))
