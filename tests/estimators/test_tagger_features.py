"""Vectors as the tagger sees them are those that the models they come from give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import spectralnlp
from spectralnlp.estimators.tagger.unlabelled import features_of_folders
from spectralnlp.inference.chains.unlabelled import UnlabelledFeatures
from spectralnlp.storage import StoredArrays, StoredValues

Folders = dict[str, Path]

WORDS = ["", ".", "Fox", "THE", "a", "cat", "dog", "hen", "saw", "the", "unknownword"]


def test_kinds_stand_side_by_side(word_folders: Folders) -> None:
    folders = [str(word_folders[name]) for name in ("words", "plain")]
    features = features_of_folders(folders, 0)
    assert features.word_width == 7
    words, plain = (spectralnlp.load(folder) for folder in folders)
    np.testing.assert_array_equal(
        features.word_vectors(WORDS), np.hstack([words.vectors(WORDS), plain.vectors(WORDS)])
    )
    clusters = features.word_clusters(WORDS)
    np.testing.assert_array_equal(clusters >= 0, [word in words for word in WORDS])


def test_nothing_asked_nothing_given() -> None:
    features = features_of_folders([], 0)
    assert features == UnlabelledFeatures()
    assert features.word_vectors(["a"]).shape == (1, 0)
    assert features.word_clusters(["a"]).tolist() == [-1]


@pytest.mark.parametrize("compact", [False, True])
def test_packed_features_are_the_same(word_folders: Folders, compact: bool) -> None:
    features = features_of_folders([str(word_folders[name]) for name in ("plain", "words")], 0)
    arrays = features.to_arrays(compact=compact)
    assert not [name for name in arrays if "context" in name], "what is not used is left out"
    again = UnlabelledFeatures.from_arrays(StoredArrays(arrays), StoredValues(features.to_json()))
    atol = 2e-3 if compact else 1e-6
    np.testing.assert_allclose(again.word_vectors(WORDS), features.word_vectors(WORDS), atol=atol)
    np.testing.assert_array_equal(again.word_clusters(WORDS), features.word_clusters(WORDS))
