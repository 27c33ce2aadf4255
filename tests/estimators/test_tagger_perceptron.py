"""The perceptron's kernel held against one of dictionaries and enumeration."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np
import pytest

from spectralnlp.estimators.tagger.kernels import ChainScores, Examples, ScoreWeights
from spectralnlp.estimators.tagger.perceptron import Perceptron, emissions_of
from spectralnlp.inference.chains.feature_kernels import FIRST, INNER
from spectralnlp.inference.chains.templates import N_SLOTS, OFFSETS

N_TAGS, N_FEATURES, N_TYPES = 3, 17, 7
LENGTHS = (3, 1, 4, 2, 1)


def random_examples(seed: int, word_width: int = 2, token_width: int = 3) -> Examples:
    """Sentences of numbers. Vectors are eighths, so that sums are exact and ties are ties."""
    rng = np.random.default_rng(seed)
    starts = np.cumsum([0, *LENGTHS], dtype=np.int64)
    n = int(starts[-1])
    types = np.concatenate([[1, 0, *rng.integers(2, N_TYPES, length), 0, 1] for length in LENGTHS])
    counts = rng.integers(0, 4, N_SLOTS * N_TYPES)
    return Examples(
        types=types.astype(np.int32),
        starts=starts,
        tags=rng.integers(0, N_TAGS, n).astype(np.int32),
        row_starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        rows=rng.integers(0, N_FEATURES, counts.sum()).astype(np.int32),
        named=(np.cumsum([0, *counts[:-1]]) + rng.integers(0, counts + 1)).astype(np.int64),
        joint=rng.integers(-1, N_FEATURES, (n, 2)).astype(np.int32),
        words=(rng.integers(-8, 9, (N_TYPES, word_width)) / 8).astype(np.float32),
        tokens=(rng.integers(-8, 9, (n, token_width)) / 8).astype(np.float32),
    )


def some_forbidden(seed: int) -> ChainScores:
    """Some transitions are; the first tag may always stand."""
    rng = np.random.default_rng(seed)
    forbidden = []
    for shape in ((N_TAGS, N_TAGS), (N_TAGS,), (N_TAGS,)):
        each = np.where(rng.random(shape) < 0.3, -np.inf, 0).astype(np.float32)
        each.flat[0] = 0
        forbidden.append(each)
    return ChainScores(*forbidden)


class Reference:
    """A structured perceptron as first written down: a dictionary from (feature, tag) to weight."""

    def __init__(self, examples: Examples, forbidden: ChainScores) -> None:
        self.examples, self.forbidden = examples, forbidden
        self.weights: dict[tuple[object, ...], float] = defaultdict(float)
        self.history = [dict(self.weights)]

    def features(self, s: int, t: int) -> Iterator[tuple[tuple[object, ...], float]]:
        """Names and values of the features of a token."""
        e = self.examples
        first = int(e.starts[s])
        place = first + 4 * s + 2 + t
        words = [(slot, int(e.types[place + offset])) for slot, offset in enumerate(OFFSETS)]
        own = (FIRST if t == 0 else INNER, int(e.types[place]))
        for slot, word in [*words, own]:
            at = slot * N_TYPES + word
            for row in e.rows[e.row_starts[at] : e.row_starts[at + 1]].tolist():
                yield ("feature", row), 1.0
        for slot, word in words:
            for j, value in enumerate(e.words[word].tolist()):
                yield ("word", slot, j), value
        for row in e.joint[first + t].tolist():
            if row >= 0:
                yield ("feature", row), 1.0
        for j, value in enumerate(e.tokens[first + t].tolist()):
            yield ("token", j), value

    def emissions(self, s: int) -> list[list[float]]:
        n = int(self.examples.starts[s + 1] - self.examples.starts[s])
        return [
            [
                sum(value * self.weights[*name, y] for name, value in self.features(s, t))
                for y in range(N_TAGS)
            ]
            for t in range(n)
        ]

    def best(self, s: int) -> tuple[int, ...]:
        """The best tags; of equals the one whose last tag is first, then the one before it."""
        emissions = self.emissions(s)
        between, first, last = self.forbidden

        def score(tags: tuple[int, ...]) -> float:
            total = self.weights["start", tags[0]] + first[tags[0]] + self.weights["end", tags[-1]]
            total += last[tags[-1]] + sum(emissions[t][y] for t, y in enumerate(tags))
            return total + sum(self.weights["to", a, b] + between[a, b] for a, b in pairwise(tags))

        tags = product(range(N_TAGS), repeat=len(emissions))
        return min(tags, key=lambda each: (-score(each), each[::-1]))

    def learn(self, s: int) -> int:
        gold = tuple(self.examples.tags[self.examples.starts[s] : self.examples.starts[s + 1]].tolist())
        found = self.best(s)
        for tags, sign in ((gold, 1.0), (found, -1.0)):
            for t, y in enumerate(tags):
                for name, value in self.features(s, t):
                    self.weights[*name, y] += sign * value
            for a, b in pairwise(tags):
                self.weights["to", a, b] += sign
            self.weights["start", tags[0]] += sign
            self.weights["end", tags[-1]] += sign
        self.history.append(dict(self.weights))
        return sum(g != f for g, f in zip(gold, found, strict=True))

    def mean(self) -> dict[tuple[object, ...], float]:
        """Over the beginning and what there was after each sentence."""
        total: dict[tuple[object, ...], float] = defaultdict(float)
        for weights in self.history:
            for name, value in weights.items():
                total[name] += value / len(self.history)
        return total


def by_name(weights: ScoreWeights) -> dict[tuple[object, ...], float]:
    """Arrays of weights in the reference's names."""
    features, words, tokens, transitions, start, end = (each.tolist() for each in weights)
    named = {("feature", i, y): value for i, row in enumerate(features) for y, value in enumerate(row)}
    for slot, matrix in enumerate(words):
        named |= {("word", slot, j, y): v for j, row in enumerate(matrix) for y, v in enumerate(row)}
    named |= {("token", j, y): value for j, row in enumerate(tokens) for y, value in enumerate(row)}
    named |= {("to", a, b): value for a, row in enumerate(transitions) for b, value in enumerate(row)}
    named |= {("start", y): value for y, value in enumerate(start)}
    return named | {("end", y): value for y, value in enumerate(end)}


@pytest.mark.parametrize("widths", [(2, 3), (0, 0), (2, 0)])
@pytest.mark.parametrize("seed", range(5))
def test_epochs_and_averages_are_the_references(seed: int, widths: tuple[int, int]) -> None:
    examples, forbidden = random_examples(seed, *widths), some_forbidden(seed)
    model, reference = Perceptron(N_FEATURES, N_TAGS, *widths), Reference(examples, forbidden)
    rng = np.random.default_rng(seed)
    for _ in range(4):
        order = rng.permutation(len(LENGTHS))[:4]
        wrong = model.epoch(examples, order, forbidden)
        assert wrong == sum(reference.learn(int(s)) for s in order)
        ours = by_name(model.weights)
        assert ours == {name: reference.weights[name] for name in ours}, "to the last bit"
    assert model.time == 16
    mean, ours = reference.mean(), by_name(model.average())
    assert any(ours.values())
    for name, value in ours.items():
        assert value == pytest.approx(mean[name], abs=1e-6), name


def test_scores_are_the_references() -> None:
    examples = random_examples(3)
    model, reference = Perceptron(N_FEATURES, N_TAGS, 2, 3), Reference(examples, some_forbidden(3))
    every = np.arange(len(LENGTHS))
    model.epoch(examples, every, some_forbidden(3))
    for s in every:
        reference.learn(int(s))
    order = np.array([2, 0])
    emissions, starts = emissions_of(examples, order, model.weights)
    assert starts.tolist() == [0, 4, 7]
    expected = [row for s in order for row in reference.emissions(int(s))]
    np.testing.assert_allclose(emissions, expected, atol=1e-6)


def test_it_learns_what_can_be_learned_and_then_stops() -> None:
    examples = random_examples(0)
    allowed = ChainScores(*(np.zeros_like(each) for each in some_forbidden(0)))
    model, order = Perceptron(N_FEATURES, N_TAGS, 2, 3), np.arange(len(LENGTHS))
    wrong = [model.epoch(examples, order, allowed) for _ in range(60)]
    assert wrong[0] > 0
    assert wrong[-1] == 0
    before = [each.copy() for each in model.weights]
    model.epoch(examples, order, allowed)
    for old, new in zip(before, model.weights, strict=True):
        np.testing.assert_array_equal(old, new)
    assert model.epoch(examples, order[:0], allowed) == 0
