from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product

import numpy as np
import pytest

from benchmarks.true_hmm import TrueHMM
from spectralnlp.errors import ConfigError, InputError, ModelError
from spectralnlp.estimators.hmm import HMM
from spectralnlp.estimators.hmm.hkz import solve_hkz
from spectralnlp.estimators.hmm.moments import NGramCounts
from spectralnlp.estimators.hmm.ngrams import NGramTable
from spectralnlp.estimators.hmm.solve import PredictionSettings, solve_regression
from spectralnlp.estimators.hmm.states import RegressionOptions
from spectralnlp.inference.chains.filtering import Filter, OperatorFilter, run_sequences
from spectralnlp.inference.chains.forward_backward import HiddenFilter
from spectralnlp.models.sequence_model import SequenceModel
from spectralnlp.parameters import HiddenMarkov
from spectralnlp.runtime import InMemoryCorpus, accumulate, use_engine
from spectralnlp.storage import StoredArrays
from spectralnlp.tasks.sequences import SequenceTask

TRUE = TrueHMM.random(seed=32)  # three states that show
SYMBOLS = tuple(f"s{x}" for x in range(len(TRUE.emission)))
# No floor under probabilities, and no bound of negative ones.
UNTOUCHED = PredictionSettings(
    symbols=SYMBOLS, base=np.full(len(SYMBOLS), 1 / len(SYMBOLS)), floor=0.0, tolerance=np.inf
)


def hkz(table: NGramTable, n_states: int, *, whitening: bool, all_triples: bool = False) -> Filter:
    operators, _ = solve_hkz(
        table, UNTOUCHED, n_states, all_triples=all_triples, whitening=whitening, random_state=0
    )
    return OperatorFilter(operators)


def regression(table: NGramTable, n_states: int, history: int) -> Filter:
    exact = {"backoff": 0.0, "ridge": 0.0, "damping": 60.0, "operator_count": 0, "leave_one_out": False}
    options = RegressionOptions(
        n_states=n_states, history=history, target=history + 1, random_state=0, **exact
    )
    operators, _ = solve_regression(table, UNTOUCHED, options)
    return OperatorFilter(operators)


STATIONARY = TRUE.stationary()
# What counts any three symbols or more is exact where all positions are alike.
EXACT: dict[str, tuple[TrueHMM, Callable[[TrueHMM], Filter]]] = {
    "published": (TRUE, lambda true: hkz(true.ngrams(3, 3), 3, whitening=False)),
    "whitened": (TRUE, lambda true: hkz(true.ngrams(3, 3), 3, whitening=True)),
    "all triples": (STATIONARY, lambda true: hkz(true.ngrams(3, 7), 3, whitening=True, all_triples=True)),
    "regression": (STATIONARY, lambda true: regression(true.ngrams(3, 5), 3, history=1)),
    "longer histories": (STATIONARY, lambda true: regression(true.ngrams(4, 5), 3, history=2)),
}


@pytest.mark.parametrize("name", EXACT)
def test_true_moments_give_the_forward_algorithm(name: str) -> None:
    true, solve = EXACT[name]
    rng = np.random.default_rng(1)
    sequences = [rng.integers(0, len(SYMBOLS), size=n).astype(np.int32) for n in (1, 2, 3, 7, 20)]
    scores = np.zeros(len(sequences))

    def visit(which, position, p, states, symbols):  # type: ignore[no-untyped-def]
        scores[which] += np.log(p[np.arange(len(which)), symbols])
        for row, i in enumerate(which):
            truth = true.next_symbols(sequences[i][:position].tolist())
            np.testing.assert_allclose(p[row], truth, atol=1e-8)

    run_sequences(solve(true), sequences, visit)
    np.testing.assert_allclose(scores, [true.log_probability(each.tolist()) for each in sequences], rtol=1e-8)


def test_all_positions_leave_a_bias_where_a_chain_does_not_start_stationary() -> None:
    """Sequences end after pairs that no triple follows; two symbols of history leave little of it."""
    bias = {}
    for name in ("all triples", "longer histories"):
        model = SequenceModel(EXACT[name][1](TRUE))
        bias[name] = np.abs(model.predict_proba([SYMBOLS[0]])[-1] - TRUE.next_symbols([0])).sum()
    assert 1e-2 > bias["all triples"] > 1e-3 > bias["longer histories"] > 1e-4


@pytest.mark.parametrize(
    "settings",
    [{"preset": "tutorial"}, {"preset": "tutorial", "whitening": "true"}, {"algorithm": "hkz"}, {}],
)
def test_more_states_than_the_data_bear_are_said_in_one_line(settings: dict[str, str]) -> None:
    true = TrueHMM(
        np.array([0.5, 0.5]),
        np.array([[0.9, 0.2], [0.1, 0.8]]),
        np.array([[0.4, 0.05], [0.3, 0.05], [0.2, 0.2], [0.05, 0.3], [0.05, 0.4]]),
    ).stationary()
    model = HMM.from_settings({**settings, "n_states": "4"}).fit(true.sample(10_000, 3, seed=0))
    (line,) = model.remarks()
    assert line.startswith("the data bear n_states=2, not 4: the next singular values (")
    assert f"below the sampling error, {model.spectrum_.noise:.2g}" in line
    assert not model.set_params(n_states=2).fit(true.sample(10_000, 3, seed=0)).remarks()
    assert SequenceTask().to_model(model).info["singular values"] == model.spectrum_.rounded()


@pytest.mark.filterwarnings("ignore:n_states lowered")
def test_the_default_number_of_states_is_not_remarked_on() -> None:
    model = HMM().fit(STATIONARY.sample(500, 5, seed=0))
    assert (model.singular_values_ < model.spectrum_.noise).any()
    assert not model.remarks()


@pytest.mark.parametrize(
    ("settings", "true"),
    [
        ({"preset": "tutorial"}, TRUE),
        ({"preset": "tutorial", "whitening": "true"}, TRUE),
        ({"preset": "tutorial", "triples": "all"}, STATIONARY),
        ({"stabilise": "false"}, TRUE),
    ],
)
def test_error_falls_with_the_root_of_the_sample(
    settings: dict[str, str], true: TrueHMM, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_ridge = property(lambda model: RegressionOptions.of(model, ridge=0.0))
    monkeypatch.setattr(HMM, "_regression_options", without_ridge)
    queries = [[0], [1, 2], [3, 0, 1], [2, 2]]
    errors = []
    sizes = (1_000, 64_000)
    for n in sizes:
        each = []
        for seed in range(3):
            corpus = InMemoryCorpus(true.sample(n, 6, seed))
            model = HMM.from_settings({**settings, "n_states": "3"}).fit(corpus)
            columns = [model.symbols.index(symbol) for symbol in SYMBOLS]
            for query in queries:
                p = model.predict_proba([SYMBOLS[x] for x in query])[-1][columns]
                each.append(np.abs(p - true.next_symbols(query)).sum())
        errors.append(np.mean(each))
    slope = np.log(errors[1] / errors[0]) / np.log(sizes[1] / sizes[0])
    assert -0.8 < slope < -0.35, errors


@pytest.mark.parametrize("name", [*EXACT, "hidden"])
@pytest.mark.parametrize("history", [[], [0], [1, 2, 3, 0]])
def test_steps_ahead_are_those_of_the_true_model(name: str, history: list[int]) -> None:
    true, solve = EXACT.get(name, (TRUE, lambda true: HiddenFilter(hidden_markov(true))))
    found = SequenceModel(solve(true)).predict([SYMBOLS[x] for x in history], steps=4)
    for step in range(4):
        truth = sum(
            np.exp(true.log_probability([*history, *between]) - true.log_probability(history))
            * true.next_symbols([*history, *between])
            for between in product(range(len(SYMBOLS)), repeat=step)
        )
        np.testing.assert_allclose(found[step], truth, atol=1e-8)


def hidden_markov(true: TrueHMM) -> HiddenMarkov:
    return HiddenMarkov(
        symbols=SYMBOLS, initial=true.initial, transition=true.transition, emission=true.emission
    )


SENTENCES = [line.split() for line in ["a b a b c", "b a b a", "c a b", "a", "a b c a b c", "c c a b"] * 5]


@pytest.mark.parametrize("preset", [None, "tutorial"])
@pytest.mark.filterwarnings("ignore:n_states lowered")
def test_every_prediction_is_a_distribution(preset: str | None) -> None:
    estimator = HMM() if preset is None else HMM.from_preset(preset)
    model = estimator.fit(InMemoryCorpus(SENTENCES))
    rng = np.random.default_rng(0)
    for _ in range(20):
        sequence = rng.choice(["a", "b", "c", "unheard of"], size=30).tolist()
        p = model.predict_proba(sequence)
        assert p.shape == (31, 4)
        assert (p >= 0).all()
        np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
        ahead = model.predict(sequence, steps=3)
        np.testing.assert_array_equal(ahead[0], p[-1])
        assert (ahead >= 0).all()
        np.testing.assert_allclose(ahead.sum(axis=1), 1.0, atol=1e-12)
        observed = np.log(p[np.arange(30), model.encode(sequence)]).sum()
        assert model.score([sequence])[0] == pytest.approx(observed)
        assert np.isfinite(model.transform(sequence)).all()


def test_longer_histories_are_learned() -> None:
    """The symbol after b depends on the one before it, which no model of one symbol can know."""
    rng = np.random.default_rng(0)
    parts = [["x", "b", "1"], ["y", "b", "2"], ["x", "c", "1"], ["y", "d", "2"]]
    chosen = rng.choice(4, size=(300, 6), p=[0.3, 0.3, 0.2, 0.2])
    lines = [[symbol for part in row for symbol in parts[part]] for row in chosen]
    model = HMM(n_states=5).fit(InMemoryCorpus(lines))
    one, two = model.symbols.index("1"), model.symbols.index("2")
    after_x, after_y = model.predict_proba(["x", "b"])[-1], model.predict_proba(["y", "b"])[-1]
    assert after_x[one] > 0.8 > 0.2 > after_x[two]
    assert after_y[two] > 0.8 > 0.2 > after_y[one]


def test_samples_look_like_the_data_and_depend_on_the_seed_alone() -> None:
    model = HMM(n_states=2).fit(InMemoryCorpus([["a", "b"] * 10] * 20))
    first = model.sample(50, length=10, random_state=3)
    assert first == model.sample(50, length=10, random_state=3) != model.sample(50, length=10, random_state=4)
    pairs = [pair for row in first for pair in pairwise(row)]
    assert np.mean([pair in {("a", "b"), ("b", "a")} for pair in pairs]) > 0.85
    assert model.sample(2, length=0) == [[], []]


def test_any_engine_and_partition_gives_the_same_bytes() -> None:
    whole = HMM(n_states=3).fit(InMemoryCorpus(SENTENCES)).operators_
    with use_engine("threads", jobs=2):
        parts = HMM(n_states=3).fit(InMemoryCorpus(SENTENCES, n_partitions=4)).operators_
    assert whole.operators.tobytes() == parts.operators.tobytes()
    assert whole.emission.tobytes() == parts.emission.tobytes()


def test_rare_symbols_have_no_operator_but_lead_somewhere() -> None:
    model = HMM(n_states=3, operator_count=20).fit(InMemoryCorpus([*SENTENCES, ["rare", "a", "b"]]))
    index = dict(zip(model.symbols, model.operators_.operator_index, strict=True))
    assert index["a"] >= 0 > index["rare"]
    assert model.predict_proba(["rare"])[-1].argmax() == model.symbols.index("a")


def test_unknown_symbols_are_as_likely_as_those_seen_once() -> None:
    model = HMM(n_states=3).fit(InMemoryCorpus([*SENTENCES, ["new", "a"]]))
    p = model.predict_proba([])[0]
    assert p[-1] == pytest.approx(p[model.symbols.index("new")], rel=0.2)
    assert np.isfinite(model.score([["never", "seen", "a"]])).all()


@pytest.mark.parametrize("preset", [None, "tutorial"])
def test_one_symbol_lowers_the_rank_with_a_warning(preset: str | None) -> None:
    estimator = HMM() if preset is None else HMM.from_preset(preset)
    with pytest.warns(UserWarning, match=r"n_states lowered from \d+ to 1: .* \(singular values"):
        model = estimator.fit(InMemoryCorpus([["a", "a", "a"], ["a"]]))
    p = model.predict_proba(["a", "b", "a"])
    assert np.isfinite(p).all()
    assert p[1, 0] > 0.9


@pytest.mark.parametrize("preset", [None, "tutorial"])
@pytest.mark.filterwarnings("ignore:n_states lowered")
def test_sequences_of_one_symbol_each(preset: str | None) -> None:
    estimator = HMM() if preset is None else HMM.from_preset(preset)
    model = estimator.fit(InMemoryCorpus([["a"], ["b"], ["a"]]))
    assert np.isfinite(model.predict_proba(["a", "b", "c"])).all()


@pytest.mark.filterwarnings("ignore:n_states lowered")
def test_bad_input_is_refused_in_one_line() -> None:
    for corpus in ([], [[], []]):
        with pytest.raises(InputError, match="no symbols to learn from"):
            HMM().fit(InMemoryCorpus(corpus))
    with pytest.raises(ConfigError, match="n_states: got 0, expected int, 1 or more"):
        HMM(n_states=0).fit(InMemoryCorpus(SENTENCES))
    with pytest.raises(ConfigError, match="do not fit in 64 bits"):
        NGramCounts(6, vocabulary=[str(i) for i in range(50_000)])
    model = HMM(n_states=2).fit(InMemoryCorpus(SENTENCES))
    with pytest.raises(InputError, match="a text where tokens"):
        model.score(["a b"])
    with pytest.raises(InputError, match="a text where tokens"):
        model.predict("a b")
    with pytest.raises(ConfigError, match="cannot predict 0 steps ahead"):
        model.predict(["a"], steps=0)


def test_no_nan_with_many_symbols() -> None:
    """Above 512 symbols the SVD is randomised; nothing V × V is dense."""
    rng = np.random.default_rng(0)
    lines = [[f"w{i}" for i in rng.zipf(1.3, 12) % 2000] for _ in range(1500)]
    model = HMM(n_states=10, operator_count=30).fit(InMemoryCorpus(lines))
    assert len(model.symbols) > 600
    assert np.isfinite(model.score(lines[:20])).all()


@pytest.mark.parametrize("codes", [[(0, 0)], [(1, 0)]])
def test_kept_n_grams_end_in_a_symbol_and_begin_with_boundaries(codes: list[tuple[int, int]]) -> None:
    counts = accumulate(NGramCounts(2), InMemoryCorpus([["a", "b"], ["b"]]))
    arrays = counts.arrays()
    counts.check_arrays(StoredArrays(arrays))
    edited = np.array([first << 31 | second for first, second in codes], np.int64)
    with pytest.raises(ModelError, match="boundary"):
        counts.check_arrays(StoredArrays({**arrays, "codes": edited, "counts": np.ones(1, np.int64)}))


def test_counts_of_all_symbols_do_not_merge_with_those_of_a_vocabulary() -> None:
    kept, restricted = NGramCounts(2), NGramCounts(2, vocabulary=["a"])
    for one, other in ((kept, restricted), (restricted, kept)):
        with pytest.raises(ConfigError, match="differ in vocabulary"):
            one.merge(other)


def test_kept_counts_are_solved_as_those_of_two_passes() -> None:
    corpus = InMemoryCorpus([*SENTENCES, ["rare", "a", "b"]])
    model = HMM(n_states=3, max_symbols=2)
    kept = accumulate(model.init_kept_moments(corpus), corpus)
    assert model.solve(kept) is None
    fitted = HMM(n_states=3, max_symbols=2).fit(corpus).operators_
    assert model.operators_.symbols == fitted.symbols
    assert model.operators_.operators.tobytes() == fitted.operators.tobytes()


@pytest.mark.parametrize("symbol", ["a\0b", "\udc80"])
def test_symbols_that_cannot_be_kept_are_refused_when_counted(symbol: str) -> None:
    corpus = InMemoryCorpus([["a", symbol]])
    with pytest.raises(InputError, match="cannot be kept"):
        accumulate(HMM().init_kept_moments(corpus), corpus)
