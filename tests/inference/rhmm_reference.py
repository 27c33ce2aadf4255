"""A plain reference for refinement hidden Markov models: random parameters, and sums over all tags."""

from __future__ import annotations

from itertools import product

import numpy as np

from spectralnlp.inference.words.lexical import Lookup, are_rare
from spectralnlp.parameters import DenseTensors, Lexicon, RefinedMarkov

N_WORDS = 3


def random_model(*, tied: bool, seed: int = 0) -> RefinedMarkov:
    """Three tags of 1, 2 and 3 states; not every pair has a matrix. Untied numbers may be negative."""
    rng = np.random.default_rng(seed)
    m = np.array([1, 2, 3], np.int32)
    k = m if tied else np.array([2, 1, 3], np.int32)
    joint = m if tied else m * k
    pairs = np.array([[0, 1], [0, 2], [1, 0], [1, 1], [2, 1], [2, 2]], np.int32)

    def values(size: int) -> np.ndarray:
        return rng.random(size) if tied else rng.normal(0.4, 0.4, size)

    matrices = [values(joint[a] * m[b]) for a, b in pairs]
    # Words 0 and 1 have two tags each, word 2 one; signature 3 has two, signature 4 all.
    tags = [[0, 1], [1, 2], [2], [0, 2], [0, 1, 2]]
    flat = np.array([tag for each in tags for tag in each], np.int32)
    offsets = np.concatenate([[0], np.cumsum(k[flat])]).astype(np.int64)
    lexicon = Lexicon(
        words=("x", "y", "z"),
        signatures=("S", "UNKNOWN"),
        scheme="english",
        starts=np.cumsum([0, *map(len, tags)]).astype(np.int64),
        tags=flat,
        offsets=offsets,
        values=values(offsets[-1]),
        backoff=np.array([0.3, 0.0, 0.2]),
        word_signature=np.array([0, 1, 1], np.int32),
        log_weight=np.log([0.3, 0.2, 0.2, 0.1, 0.2]),
    )
    return RefinedMarkov(
        tags=("A", "B", "C"),
        n_states=m,
        n_lexical=k,
        tied=tied,
        initial=values(6),
        final=values(joint.sum()),
        leaving=values(joint.sum()) / 5,
        arriving=values(6),
        pairs=pairs,
        transitions=DenseTensors(
            offsets=np.cumsum([0, *map(len, matrices)]).astype(np.int64), values=np.concatenate(matrices)
        ),
        lexicon=lexicon,
    )


def found(lexicon: Lexicon, entries: list[int]) -> Lookup:
    """Entries of words, with their signatures."""
    signs = [N_WORDS + lexicon.word_signature[e] if e < N_WORDS else e for e in entries]
    weight = float(lexicon.log_weight[entries].sum())
    rows = np.array(entries, np.int64)
    return Lookup(rows, np.array(signs, np.int64), are_rare(lexicon, rows), weight)


def word_vectors(lexicon: Lexicon, entry: int, signature: int) -> dict[int, np.ndarray]:
    """The lexical vector of each tag that a token may have."""

    def own(entry: int) -> dict[int, np.ndarray]:
        rows = range(lexicon.starts[entry], lexicon.starts[entry + 1])
        return {
            int(lexicon.tags[r]): lexicon.values[lexicon.offsets[r] : lexicon.offsets[r + 1]] for r in rows
        }

    vectors = own(entry)
    if entry != signature and lexicon.backoff[entry] > 0:
        backed = {tag: lexicon.backoff[entry] * vector for tag, vector in own(signature).items()}
        return {**backed, **vectors}
    return vectors


def sequence_value(
    model: RefinedMarkov, tags: tuple[int, ...], vectors: list[dict[int, np.ndarray]]
) -> float:
    """The value of one sequence of tags, all refinements summed out."""
    m, states, joints = model.n_states, model.state_offsets, model.joint_offsets
    state = model.initial[states[tags[0]] : states[tags[0] + 1]]
    for i, a in enumerate(tags):
        said = vectors[i][a]
        joint = state * said if model.tied else np.outer(state, said).ravel()
        if i == len(tags) - 1:
            return float(joint @ model.final[joints[a] : joints[a + 1]])
        b = tags[i + 1]
        leaving, arriving = (
            model.leaving[joints[a] : joints[a + 1]],
            model.arriving[states[b] : states[b + 1]],
        )
        matrix = np.outer(leaving, arriving)
        pair = model.pair_index[a, b]
        if pair >= 0:
            where = slice(*model.transitions.offsets[pair : pair + 2])
            matrix = matrix + model.transitions.values[where].reshape(-1, m[b])
        state = joint @ matrix
    raise AssertionError


def enumerated(model: RefinedMarkov, lookup: Lookup) -> tuple[np.ndarray, float]:
    """(n, n_tags) values of each tag of each token, and the value of the whole, by enumeration."""
    vectors = [
        word_vectors(model.lexicon, e, s)
        for e, s in zip(lookup.entries.tolist(), lookup.signatures.tolist(), strict=True)
    ]
    values, total = np.zeros((len(vectors), len(model.tags))), 0.0
    for tags in product(*vectors):
        value = sequence_value(model, tags, vectors)
        total += value
        values[np.arange(len(tags)), list(tags)] += value
    return values, total
