from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.rhmm import RefinementHMM
from spectralnlp.estimators.rhmm.moments import TagTable
from spectralnlp.estimators.rhmm.solve import TagBigrams
from spectralnlp.estimators.rhmm.states import TagEventIndex
from spectralnlp.models.rhmm_tagger import RefinementTagger
from spectralnlp.runtime import InMemoryCorpus, accumulate
from spectralnlp.text.tag_log import TagLog

Sentences = list[tuple[tuple[str, ...], tuple[str, ...]]]


def long_memory(n: int, seed: int) -> Sentences:
    """Brackets that agree across a word: what follows X depends on what came before it, not on its tag.

    "( o )" or "[ o ]", where both closings are tagged by their opening's kind and spelled alike.
    """
    rng = np.random.default_rng(seed)
    sentences = []
    for _ in range(n):
        words: list[str] = []
        tags: list[str] = []
        for _ in range(rng.integers(1, 4)):
            kind = rng.choice(["round", "square"])
            words += ["(" if kind == "round" else "[", rng.choice(["o", "oo", "ooo"]), "end"]
            tags += ["OPEN", "X", kind]
        sentences.append((tuple(words), tuple(tags)))
    return sentences


def tagger_of(fitted: RefinementHMM) -> RefinementTagger:
    return RefinementTagger(fitted.coarse_, fitted.models_, fitted.beam)


def accuracy(tagger: RefinementTagger, sentences: Sentences) -> float:
    tagged = tagger.best_tags([words for words, _ in sentences])
    right = [
        a == b
        for own, (_, gold) in zip(tagged, sentences, strict=True)
        for a, b in zip(own, gold, strict=True)
    ]
    return float(np.mean(right))


@pytest.mark.parametrize(
    ("models", "n_clusters", "least"),
    [("tensors", 1, 0.99), ("clusters", 8, 0.95), ("em", 4, 0.99), ("tensors+clusters+clusters", 8, 0.99)],
)
def test_refinements_carry_what_tags_forget(models: str, n_clusters: int, least: float) -> None:
    train, dev = long_memory(400, 0), long_memory(100, 1)
    refined = RefinementHMM(models=models, n_states=4, n_clusters=n_clusters, em_iterations=150).fit(train)
    assert accuracy(tagger_of(refined), dev) > least
    single = RefinementHMM(models=models, n_states=1, n_clusters=1).fit(train)
    assert accuracy(tagger_of(single), dev) < 0.9


def test_one_refinement_is_one_model_however_it_is_learned() -> None:
    """The supervised hidden Markov model, which the tensors and the counts both come down to."""
    train = long_memory(50, 0)
    models = [
        RefinementHMM(models=name, n_states=1, n_clusters=1).fit(train).models_[0]
        for name in ("tensors", "clusters")
    ]
    for name in ("initial", "final", "leaving", "arriving"):
        np.testing.assert_allclose(getattr(models[0], name), getattr(models[1], name))
    np.testing.assert_allclose(models[0].transitions.values, models[1].transitions.values)
    np.testing.assert_allclose(models[0].lexicon.values, models[1].lexicon.values)


def test_counted_models_are_distributions() -> None:
    for name in ("clusters", "em"):
        model = (
            RefinementHMM(models=name, n_clusters=3, projection="published")
            .fit(long_memory(60, 0))
            .models_[0]
        )
        assert model.tied
        assert model.initial.sum() == pytest.approx(1)
        follow = model.leaving * model.arriving.sum() + model.final
        for (a, b), start, end in zip(
            model.pairs, model.transitions.offsets, model.transitions.offsets[1:], strict=False
        ):
            out = slice(*model.joint_offsets[a : a + 2])
            follow[out] += model.transitions.values[start:end].reshape(-1, model.n_states[b]).sum(axis=1)
        np.testing.assert_allclose(follow, 1.0)


def test_bigrams_are_interpolated_into_distributions() -> None:
    table = TagTable.of(accumulate(TagLog(), InMemoryCorpus(long_memory(30, 0))))
    for interpolate in (True, False):
        bigrams = TagBigrams.of(table, interpolate=interpolate)
        after = bigrams.end + bigrams.escape * bigrams.share.sum()
        np.add.at(after, bigrams.pairs[:, 0], bigrams.follow)
        np.testing.assert_allclose(after, 1.0)
        assert bigrams.begin.sum() == pytest.approx(1)
        assert bool(bigrams.escape.any()) == interpolate


def index_of(sentences: Sentences) -> TagEventIndex:
    table = TagTable.of(accumulate(TagLog(), InMemoryCorpus(sentences)))
    return TagEventIndex.of(table, TagBigrams.of(table, interpolate=True))


def test_em_never_lowers_the_likelihood() -> None:
    index = index_of(long_memory(60, 0))
    start = index.random_counts(np.array([2, 3, 1, 3], np.int32), noise=0.5, random_state=0)
    counts, log_likelihoods = index.refine(start, 15, first_smoothing=0.0, smoothing=0.0)
    assert len(log_likelihoods) == 15
    assert (np.diff(log_likelihoods) > -1e-9).all()
    assert log_likelihoods[-1] > log_likelihoods[0] + 5
    n, events = index.table.n_tokens, counts.events
    assert events.words.sum() == pytest.approx(n)
    assert events.ends.sum() == pytest.approx(events.starts.sum()) == pytest.approx(60)
    assert events.moves.sum() == pytest.approx(n - 60)


def test_hard_states_are_a_fixed_point_of_counting() -> None:
    """States that tell all there is to tell: EM from them expects what was counted."""
    index = index_of(long_memory(40, 0))
    tags, m = index.table.tags, 2
    state = np.zeros(index.table.n_tokens, np.int32)
    square = index.table.tag == tags.index("square")
    state[np.flatnonzero(square) - 1] = state[np.flatnonzero(square) - 2] = 1
    n_states = np.array([m if tag in ("OPEN", "X") else 1 for tag in tags], np.int32)
    counts = index.count_states(state, n_states)
    after, _ = index.refine(counts, 1, first_smoothing=0.0)
    for got, expected in zip(after.events, counts.events, strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-9)


def test_the_same_seed_gives_the_same_bytes() -> None:
    def learn(**settings: int) -> list[bytes]:
        models = (
            RefinementHMM(models="tensors+clusters+em", n_clusters=3, **settings)
            .fit(long_memory(80, 0))
            .models_
        )
        return [model.transitions.values.tobytes() + model.lexicon.values.tobytes() for model in models]

    assert learn() == learn()
    assert learn(random_state=1)[2] != learn()[2]


BAD: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: RefinementHMM().fit([]), InputError, "no tagged words"),
    (lambda: RefinementHMM().fit([((), ())]), InputError, "no tagged words"),
    (
        lambda: RefinementHMM().fit([(("a",), ("X",)), (("a", "b"), ("X",))]),
        InputError,
        r"memory \(sentence 2\): 2 words and 1 tags",
    ),
    (
        lambda: RefinementHMM(models="tensor").fit(long_memory(2, 0)),
        ConfigError,
        "no model is called 'tensor'",
    ),
    (
        lambda: RefinementHMM(n_states=0).fit(long_memory(2, 0)),
        ConfigError,
        "n_states: got 0, expected int, 1 or more",
    ),
    (
        lambda: RefinementHMM(signatures="x").fit(long_memory(2, 0)),
        ConfigError,
        "signatures: got 'x', expected 'auto'",
    ),
]


@pytest.mark.parametrize(("act", "kind", "message"), BAD)
def test_bad_input_is_refused_in_one_line(
    act: Callable[[], object], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message) as refusal:
        act()
    assert "\n" not in str(refusal.value)


def test_very_little_data_is_enough() -> None:
    for preset in ({}, {"preset": "tutorial"}, {"preset": "em"}):
        tagger = tagger_of(RefinementHMM.from_settings(preset).fit([(("go",), ("VERB",))]))
        assert tagger.best_tags([["go", "on"], [], ["go"]]) == [["VERB", "VERB"], [], ["VERB"]]
