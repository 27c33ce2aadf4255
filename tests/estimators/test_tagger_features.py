"""Vectors as the tagger sees them are those that the models they come from give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spectralnlp
from spectralnlp.estimators.eigenwords import Eigenwords
from spectralnlp.inference.chains.unlabelled import (
    UnlabelledFeatures,
    load_features,
)
from spectralnlp.inference.chains.word_table import WordTable
from spectralnlp.inference.words.lookup import VectorLookup
from spectralnlp.runtime import InMemoryCorpus
from spectralnlp.storage import StoredArrays, StoredValues

Folders = dict[str, Path]

SENTENCES = [
    ["the", "cat", "saw", "a", "dog", "."],
    [],
    ["Fox"],
    ["a", "hen", "unknownword", "THE", "."],
    ["nothing", "known", "here"],
]


def vectors_of(features: UnlabelledFeatures) -> np.ndarray:
    return WordTable(features).encode(SENTENCES).vectors


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"window": 1},
        {"window": 3},
        {"positions": "pooled"},
        {"lowercase": False},
        {"contexts": 5},
    ],
    ids=str,
)
def test_eigentokens_are_those_of_the_eigenwords(settings: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    text = [" ".join(rng.choice(["the", "a", "cat", "dog", "fox", "hen", "saw", "."], 6)) for _ in range(80)]
    learner = Eigenwords(dimensions=3, min_count=1, **settings)
    lookup = VectorLookup(learner.fit(InMemoryCorpus(text)).word_vectors_)
    expected = np.concatenate([lookup.contexts(words) for words in SENTENCES])
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(
        vectors_of(UnlabelledFeatures((lookup,), eigentokens=(0,))), expected, atol=1e-5
    )


def test_all_kinds_stand_side_by_side(word_folders: Folders) -> None:
    folders = {name: str(path) for name, path in word_folders.items()}
    features = load_features(
        [folders["words"], folders["plain"]], [folders["states"], folders["words"]], [folders["words"]]
    )
    assert len(features.sources) == 3, "each folder once"
    assert (features.word_width, features.token_width) == (7, 7)
    words, plain, states = (spectralnlp.load(folders[name]) for name in ("words", "plain", "states"))
    every = sorted({word for sentence in SENTENCES for word in sentence})
    expected = np.hstack([words.vectors(every), plain.vectors(every)])
    np.testing.assert_array_equal(features.word_vectors(every), expected)
    clusters = [-1 if (c := words.cluster(word)) is None else c for word in every]
    np.testing.assert_array_equal(features.word_clusters(every)[:, 0], clusters)
    tokens = [np.hstack([states.transform(sentence), words.contexts(sentence)]) for sentence in SENTENCES]
    np.testing.assert_allclose(vectors_of(features), np.concatenate(tokens), atol=1e-5)


def test_nothing_asked_nothing_given() -> None:
    features = load_features([], None, [])
    assert features == UnlabelledFeatures()
    assert features.word_vectors(["a"]).shape == (1, 0)
    assert features.word_clusters(["a"]).shape == (1, 0)
    assert vectors_of(features).shape == (15, 0)


@pytest.mark.parametrize("compact", [False, True])
def test_packed_features_are_the_same(word_folders: Folders, compact: bool) -> None:
    folders = {name: str(path) for name, path in word_folders.items()}
    uses: list[tuple[list[str], list[str], list[str]]] = [
        ([folders["words"]], [], []),
        ([], [folders["words"], folders["states"]], []),
        ([folders["plain"]], [], [folders["words"]]),
    ]
    every = sorted({word for sentence in SENTENCES for word in sentence})
    for use in uses:
        features = load_features(*use)
        arrays = StoredArrays(features.to_arrays(compact=compact))
        again = UnlabelledFeatures.from_arrays(arrays, StoredValues(features.to_json()))
        atol = 2e-3 if compact else 1e-6
        np.testing.assert_allclose(again.word_vectors(every), features.word_vectors(every), atol=atol)
        np.testing.assert_array_equal(again.word_clusters(every), features.word_clusters(every))
        np.testing.assert_allclose(vectors_of(again), vectors_of(features), atol=atol)
