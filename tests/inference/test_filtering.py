from __future__ import annotations

import numpy as np

from spectralnlp.inference.chains.filtering import OperatorFilter, run_sequences
from spectralnlp.parameters import ObservableOperators


def random_operators(V: int = 6, k: int = 4, seed: int = 0) -> ObservableOperators:
    """Operators whose linear predictions are often negative."""
    rng = np.random.default_rng(seed)
    operators = rng.standard_normal((V - 1, k, k)) / V
    normaliser = rng.standard_normal(k)
    operators[:] += np.outer(np.eye(k)[0], normaliser) / V
    emission = np.vstack([normaliser @ operators, rng.standard_normal(k) / V])
    state = normaliser / (normaliser @ normaliser)
    return ObservableOperators(
        symbols=tuple("abcdef"),
        initial=state,
        normaliser=normaliser,
        stationary=state,
        emission=emission,
        operators=operators,
        operator_index=np.array([0, 1, 2, 3, 4, -1], np.int32),
        arrival=np.tile(state, (V, 1)),
        base=np.full(V, 1 / V),
        floor=0.01,
        tolerance=0.1,
    )


def reference(model: ObservableOperators, sequence: list[int]) -> list[np.ndarray]:
    """The three steps of the module's docstring, one symbol at a time."""
    state, predictions = model.initial, []
    for x in sequence:
        p = model.emission @ state
        negative = -p[p < 0].sum()
        if negative > model.tolerance:
            keep = model.tolerance / negative
            state = keep * state + (1 - keep) * model.stationary
            p = model.emission @ state
        mixed = np.maximum(p, 0) + model.floor * model.base
        predictions.append(mixed / mixed.sum())
        moved = None
        if p[x] > 0 and model.operator_index[x] >= 0:
            moved = model.operators[model.operator_index[x]] @ state
        if moved is None or model.normaliser @ moved <= 0:
            state = model.arrival[x]
        else:
            weight = p[x] / mixed[x]
            state = weight * moved / (model.normaliser @ moved) + (1 - weight) * model.arrival[x]
    return predictions


def test_filtering_agrees_with_the_reference_side_by_side() -> None:
    model = random_operators()
    rng = np.random.default_rng(1)
    sequences = [rng.integers(0, 6, n).astype(np.int32) for n in (5, 0, 9, 1, 9)]
    seen: dict[tuple[int, int], np.ndarray] = {}

    def visit(which, position, p, states, symbols):  # type: ignore[no-untyped-def]
        for row, i in enumerate(which):
            seen[i, position] = p[row].copy()
            assert symbols[row] == sequences[i][position]

    run_sequences(OperatorFilter(model), sequences, visit)
    assert len(seen) == sum(map(len, sequences))
    for i, sequence in enumerate(sequences):
        for position, p in enumerate(reference(model, sequence.tolist())):
            np.testing.assert_allclose(seen[i, position], p, rtol=1e-9)
            assert (p >= 0).all()


def test_shrinking_leaves_at_most_the_tolerance() -> None:
    model = random_operators(seed=3)
    states = np.random.default_rng(2).standard_normal((50, 4)) * 3
    _, kept = OperatorFilter(model).predict(states)
    at_mean = -np.minimum(model.emission @ model.stationary, 0).sum()
    assert (-np.minimum(kept @ model.emission.T, 0).sum(axis=1) <= model.tolerance + at_mean + 1e-12).all()


def test_a_state_that_predicts_nothing_falls_back_to_the_base() -> None:
    model = random_operators()
    silent = ObservableOperators(**{**vars(model), "floor": 0.0, "emission": np.zeros((6, 4))})
    p, _ = OperatorFilter(silent).predict(np.ones((2, 4)))
    np.testing.assert_allclose(p, 1 / 6)
