"""The kernels of the random field held against enumeration and numerical gradients."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from spectralnlp.estimators.tagger import CRFTagger, estimator, random_field
from spectralnlp.estimators.tagger.field_kernels import FIRST_SUM, count_expected
from spectralnlp.estimators.tagger.held_out import choose_bias, lower_outside
from spectralnlp.estimators.tagger.kernels import (
    ChainScores,
    Examples,
    ScoreWeights,
    emissions_of,
    score_sentence,
    zero_weights,
)
from spectralnlp.estimators.tagger.random_field import RandomField
from spectralnlp.inference.chains.feature_kernels import FIRST, INNER
from spectralnlp.inference.chains.templates import HERE, N_SLOTS, OFFSETS
from spectralnlp.jit import padded

N_TAGS, N_FEATURES, N_TYPES = 3, 17, 7
LENGTHS = (3, 1, 4, 2, 1)


def random_examples(seed: int, word_width: int = 2) -> Examples:
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


EVERY = np.arange(len(LENGTHS))


def field(epochs: int = 100) -> RandomField:
    return RandomField(N_FEATURES, N_TAGS, 2, epochs=epochs)


def random_weights(seed: int) -> ScoreWeights:
    rng = np.random.default_rng(seed)
    weights = ScoreWeights(*(rng.normal(size=each.shape).astype(np.float32) for each in field().weights))
    weights.words[:, :, N_TAGS:] = 0.0
    return weights


def score(tags: tuple[int, ...], emissions: np.ndarray, chain: tuple[np.ndarray, ...]) -> float:
    between, first, last = chain
    total = first[tags[0]] + last[tags[-1]] + sum(emissions[t, y] for t, y in enumerate(tags))
    return float(total + sum(between[a, b] for a, b in pairwise(tags)))


def chain_of(weights: ScoreWeights, forbidden: ChainScores) -> tuple[np.ndarray, ...]:
    learned = (weights.transitions, weights.start, weights.end)
    return tuple(w.astype(float) + no for w, no in zip(learned, forbidden, strict=True))


def surprise(
    s: int, examples: Examples, weights: ScoreWeights, forbidden: ChainScores, dropped: np.ndarray
) -> float:
    """-log p(tags | words) of a sentence, by enumeration."""
    n = LENGTHS[s]
    emissions = np.zeros((n, padded(N_TAGS)), np.float32)
    score_sentence(s, examples, weights, dropped, emissions)
    chain = chain_of(weights, forbidden)
    scores = [score(tags, emissions, chain) for tags in product(range(N_TAGS), repeat=n)]
    gold = tuple(examples.tags[examples.starts[s] : examples.starts[s + 1]].tolist())
    return float(np.logaddexp.reduce(scores)) - score(gold, emissions, chain)


def features_of(e: Examples, s: int, t: int) -> Iterator[tuple[tuple[Any, ...], float]]:
    """Names and values of the features of a token: the array of weights, and where in it."""
    first = int(e.starts[s])
    place = first + 4 * s + 2 + t
    words = [(slot, int(e.types[place + offset])) for slot, offset in enumerate(OFFSETS)]
    own = (FIRST if t == 0 else INNER, int(e.types[place]))
    for slot, word in [*words, own]:
        at = slot * N_TYPES + word
        for row in e.rows[e.row_starts[at] : e.row_starts[at + 1]].tolist():
            yield ("features", row), 1.0
    for slot, word in words:
        for j, value in enumerate(e.words[word].tolist()):
            yield ("words", slot, j), value
    for row in e.joint[first + t].tolist():
        if row >= 0:
            yield ("features", row), 1.0


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_sums_over_features(seed: int) -> None:
    examples, weights = random_examples(seed), random_weights(seed)
    order = np.array([2, 0])
    emissions, starts = emissions_of(examples, order, weights)
    assert starts.tolist() == [0, 4, 7]
    tokens = [(int(s), t) for s in order for t in range(LENGTHS[s])]
    for row, (s, t) in zip(emissions, tokens, strict=True):
        named = features_of(examples, s, t)
        expected = sum(value * getattr(weights, name)[tuple(at)][:N_TAGS] for (name, *at), value in named)
        np.testing.assert_allclose(row, expected, atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_expected_counts_are_those_of_all_sequences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = 5, N_TAGS
    emissions = (3 * rng.normal(size=(n, k))).astype(np.float32)
    chain = chain_of(random_weights(seed), some_forbidden(seed))
    every = list(product(range(k), repeat=n))
    weights = np.exp([score(tags, emissions, chain) for tags in every])
    tags_expected, pairs_expected = np.zeros((n, k)), np.zeros((k, k))
    for tags, p in zip(every, weights / weights.sum(), strict=True):
        for t, y in enumerate(tags):
            tags_expected[t, y] += p
        for a, b in pairwise(tags):
            pairs_expected[a, b] += p
    pairs = np.zeros((k, k))
    forward, backward, scaled = (np.empty((n, k)) for _ in range(3))
    assert count_expected(emissions, np.exp(chain[0]), chain[1], chain[2], forward, backward, scaled, pairs)
    np.testing.assert_allclose(emissions, tags_expected, atol=1e-6)
    np.testing.assert_allclose(pairs, pairs_expected, atol=1e-6)


def test_nothing_is_counted_where_no_sequence_is_allowed() -> None:
    never = np.full((N_TAGS, N_TAGS), 0.0)
    spaces = [np.empty((2, N_TAGS)) for _ in range(3)]
    pairs, zeros = np.zeros((N_TAGS, N_TAGS)), np.zeros(N_TAGS)
    assert not count_expected(np.zeros((2, N_TAGS), np.float32), never, zeros, zeros, *spaces, pairs)
    assert not pairs.any()


@pytest.mark.parametrize("dropout", [0.0, 0.9])
def test_steps_go_down_the_gradient(dropout: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """AdaGrad's sums of a first step are squares of the gradient, here that of differences."""
    monkeypatch.setattr(random_field, "_DROPOUT", dropout)
    forbidden = ChainScores(*(np.zeros_like(each) for each in some_forbidden(0)))
    for s in (0, 2):
        examples, weights = random_examples(s), random_weights(s)
        examples = examples._replace(tags=some_tags(examples))
        model = field()
        model.weights = ScoreWeights(*(each.copy() for each in weights))
        dropped = np.random.default_rng(0).random(len(examples.types)) < dropout
        dropped[examples.types < 2] = False
        model.epoch(examples, np.array([s]), forbidden)
        for name in ("transitions", "start", "end"):
            before, after = getattr(weights, name), getattr(model.weights, name)
            sums = getattr(model.sums, name) - FIRST_SUM
            for at in np.ndindex(before.shape):
                slope = difference(name, at, s, examples, weights, forbidden, dropped)
                assert sums[at] == pytest.approx(slope**2, abs=2e-3)
                if abs(slope) > 0.05:
                    assert np.sign(before[at] - after[at]) == np.sign(slope)
        for at in np.ndindex(weights.words[:, :, :N_TAGS].shape):
            slope = difference("words", at, s, examples, weights, forbidden, dropped)
            assert model.sums.words[at] - FIRST_SUM == pytest.approx(slope**2, abs=2e-2)
        for name in ("features", "words"):
            before, after = getattr(weights, name), getattr(model.weights, name)
            # A feature that is seen more than once takes a step each time, whose squares add up otherwise.
            slopes = [
                (
                    difference(name, at, s, examples, weights, forbidden, dropped),
                    float(before[at] - after[at]),
                )
                for at in np.ndindex(before.shape)
            ]
            agree = [slope * step > 0 for slope, step in slopes if abs(slope) > 0.2]
            assert len(agree) > 3
            assert np.mean(agree) > 0.8
            assert all(step == 0 for slope, step in slopes if slope == 0 and name == "features")


def some_tags(examples: Examples) -> np.ndarray:
    return np.random.default_rng(9).integers(0, N_TAGS, len(examples.tags)).astype(np.int32)


def difference(
    name: str,
    at: tuple[int, ...],
    s: int,
    examples: Examples,
    weights: ScoreWeights,
    forbidden: ChainScores,
    dropped: np.ndarray,
) -> float:
    """The slope of the surprise in one weight, by differences."""
    values = []
    for by in (1e-2, -1e-2):
        moved = getattr(weights, name).copy()
        moved[at] += by
        values.append(surprise(s, examples, weights._replace(**{name: moved}), forbidden, dropped))
    if values[0] == values[1]:
        return 0.0
    return (values[0] - values[1]) / 2e-2


def test_a_word_that_is_forgotten_has_only_what_others_have_too() -> None:
    examples, weights = random_examples(1), random_weights(1)
    s, n = 2, LENGTHS[2]
    base = int(examples.starts[s]) + 4 * s + 2
    dropped = np.zeros(len(examples.types), bool)
    dropped[base + 1] = True
    found, without = (np.zeros((n, padded(N_TAGS)), np.float32) for _ in range(2))
    score_sentence(s, examples, weights, dropped, found)
    score_sentence(s, examples, weights, np.zeros_like(dropped), without)
    word = int(examples.types[base + 1])
    for t in range(n):
        lost = np.zeros(N_TAGS)
        for slot in {0, 1, 2, 3, 4} & {3 - t}:
            place = slot * N_TYPES + word
            lost += weights.features[examples.rows[examples.row_starts[place] : examples.named[place]]].sum(0)
        if t == 1:
            place = 6 * N_TYPES + word
            lost += weights.features[examples.rows[examples.row_starts[place] : examples.named[place]]].sum(0)
        pairs = examples.joint[examples.starts[s] + t]
        for p, of in enumerate(((t - 1, t), (t, t + 1))):
            if 1 in of and pairs[p] >= 0:
                lost += weights.features[pairs[p]]
        np.testing.assert_allclose((without - found)[t, :N_TAGS], lost, atol=1e-5)


def test_it_learns_what_can_be_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_field, "_DROPOUT", 0.0)
    examples = random_examples(0)
    allowed = ChainScores(*(np.zeros_like(each) for each in some_forbidden(0)))
    model, none = field(), np.zeros(len(examples.types), bool)

    def total() -> float:
        return sum(surprise(int(s), examples, model.weights, allowed, none) for s in EVERY)

    before = total()
    for _ in range(100):
        model.epoch(examples, EVERY, allowed)
    assert total() < 0.1 * before
    after = [each.copy() for each in model.weights]
    model.epoch(examples, EVERY, allowed)  # the rate has come down to nothing
    for old, new in zip(after, model.weights, strict=True):
        np.testing.assert_array_equal(old, new)


def test_features_that_name_a_word_are_those_that_no_other_word_has() -> None:
    words = [(("oak", "oats", "elm"), ("A", "A", "B")), (("oak",), ("A",))]
    learner = CRFTagger(epochs=1).fit(words)
    examples = learner._number(words, ["A", "B"]).examples
    n_types = len(examples.words)  # with the edges of sentences
    owners: dict[int, set[int]] = {}
    bounds = list(zip(examples.row_starts[:-1], examples.named, examples.row_starts[1:], strict=True))
    for place, (first, _, last) in enumerate(bounds):
        for row in examples.rows[first:last].tolist():
            owners.setdefault(row, set()).add(place % n_types)
    for first, named, last in bounds:
        assert all(len(owners[row]) == 1 for row in examples.rows[first:named].tolist())
        assert all(len(owners[row]) > 1 for row in examples.rows[named:last].tolist())
    assert {1, 2, 3} <= {len(each) for each in owners.values()}


NAMES = [
    (("Ada", "met", "Bo", "in", "Rome", "."), ("B-PER", "O", "B-PER", "O", "B-LOC", "O")),
    (("it", "rained", "all", "day"), ("O", "O", "O", "O")),
    (("Lovelace", "left", "."), ("B-PER", "O", "O")),
]


def test_members_are_averaged_where_spans_are_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    def learned(members: int) -> Any:
        monkeypatch.setattr(estimator, "_MEMBERS", members)
        return CRFTagger(epochs=2).fit(NAMES * 4).weights_

    one, three = learned(1), learned(3)
    assert one.keys.tobytes() == three.keys.tobytes()
    assert not np.array_equal(one.features, three.features)
    assert np.abs(one.features - three.features).max() < np.abs(one.features).max()


def test_less_for_outside_finds_more_spans() -> None:
    chain = ChainScores(np.zeros((3, 3), np.float32), np.zeros(3, np.float32), np.zeros(3, np.float32))
    lower = lower_outside(chain, ["B-X", "I-X", "O"], 0.5)
    assert lower.transitions.tolist() == [[0, 0, -0.5]] * 3
    assert lower.start.tolist() == [0, 0, -0.5]
    assert lower.end.tolist() == [0, 0, 0]


def test_the_bias_is_the_best_on_held_out_sentences() -> None:
    """Two of three names are a little less probable than not: finding all three is best."""
    names = ["O", "S-X"]
    base = random_examples(0)
    starts = np.arange(5, dtype=np.int64)  # sentences of a word
    examples = base._replace(
        types=np.array([[1, 0, word, 0, 1] for word in range(2, 6)], np.int32).ravel(),
        starts=starts,
        tags=np.array([1, 1, 1, 0], np.int32),
        joint=np.full((4, 2), -1, np.int32),
        row_starts=np.zeros_like(base.row_starts),
        named=np.zeros_like(base.named),
        words=np.array([[0], [0], [0.6], [0.4], [0.3], [2.0]], np.float32),
    )
    weights = zero_weights(1, 2, 1)
    weights.words[HERE, 0, 0] = 1.0
    allowed = ChainScores(*(np.zeros_like(each) for each in weights[2:]))
    assert choose_bias(examples, np.arange(4), weights, allowed, names) == 0.75
    assert choose_bias(examples, np.arange(3, 4), weights, allowed, names) == 0.0, "no spans"
