from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import spectralnlp
from spectralnlp.errors import InputError, ModelError
from spectralnlp.estimators.rhmm import RefinementHMM
from spectralnlp.models.rhmm_tagger import RefinementTagger
from spectralnlp.storage import load_model

SENTENCES = [
    (("the", "dog", "saw", "a", "cat"), ("DET", "NOUN", "VERB", "DET", "NOUN")),
    (("a", "saw", "fell"), ("DET", "NOUN", "VERB")),
    (("dogs", "bark", "loudly"), ("NOUN", "VERB", "ADV")),
    (("Tom", "walked", "slowly"), ("PROPN", "VERB", "ADV")),
] * 6


@pytest.fixture(scope="module")
def tagger() -> RefinementTagger:
    fitted = RefinementHMM(models="tensors+clusters", n_states=2, n_clusters=2, projection="published").fit(
        SENTENCES
    )
    return RefinementTagger(fitted.coarse_, fitted.models_, fitted.beam, about={"estimator": "RefinementHMM"})


def test_it_tags_known_and_unknown_words(tagger: RefinementTagger) -> None:
    assert tagger.best_tags([["the", "saw", "saw", "a", "dog"], [], ["Tom", "barked", "quietly"]]) == [
        ["DET", "NOUN", "VERB", "DET", "NOUN"],
        [],
        ["PROPN", "VERB", "ADV"],
    ]
    posteriors = tagger.posteriors(["a", "cat", "jumped"])
    assert posteriors.shape == (3, len(tagger.tags))
    np.testing.assert_allclose(posteriors.sum(axis=1), 1)
    assert tagger.posteriors([]).shape == (0, len(tagger.tags))


def test_the_words_are_as_probable_as_all_their_tags_together(tagger: RefinementTagger) -> None:
    words = ["a", "saw", "glowed"]
    counted = RefinementTagger(tagger.coarse, tagger.models[1:])  # probabilities, none of them negative
    each = [counted.log_probability(words, tags) for tags in product(counted.tags, repeat=3)]
    assert np.logaddexp.reduce(each) == pytest.approx(counted.log_probability(words))
    assert np.isfinite(each).sum() > 3
    assert tagger.log_probability([]) == 0.0


def test_the_beam_leaves_out_only_what_is_improbable(tagger: RefinementTagger) -> None:
    exact = RefinementTagger(tagger.coarse, tagger.models, beam=0.0)
    words = ["a", "dog", "walked", "oddly"]
    np.testing.assert_allclose(exact.posteriors(words), tagger.posteriors(words), atol=0.01)
    only = RefinementTagger(tagger.coarse, tagger.models, beam=1.0).posteriors(words)
    assert ((only > 0).sum(axis=1) == 1).all(), "the most probable one stays"


def test_a_saved_tagger_is_the_same(tagger: RefinementTagger, tmp_path: Path) -> None:
    tagger.save(tmp_path / "model")
    again = RefinementTagger.from_stored(load_model(tmp_path / "model"))
    words = ["Tom", "saw", "the", "barking", "dog"]
    np.testing.assert_allclose(again.posteriors(words), tagger.posteriors(words), atol=1e-5)
    assert again.info == tagger.info
    assert again.card == tagger.card
    again.save(tmp_path / "again")
    for name in ("arrays.safetensors", "model.json"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "model" / name).read_bytes()


def test_a_folder_that_lacks_something_is_refused(tagger: RefinementTagger, tmp_path: Path) -> None:
    tagger.save(tmp_path / "model")
    stored = load_model(tmp_path / "model")
    del stored.arrays["pairs"]
    with pytest.raises(ModelError, match="pairs"):
        RefinementTagger.from_stored(stored)


def test_tags_that_do_not_fit_are_refused(tagger: RefinementTagger) -> None:
    with pytest.raises(InputError, match="2 words and 1 tags"):
        tagger.log_probability(["a", "dog"], ["DET"])
    with pytest.raises(InputError, match="no tag 'NIX'"):
        tagger.log_probability(["a"], ["NIX"])


def test_words_and_tags_that_are_integers_come_back_as_they_were(tmp_path: Path) -> None:
    sentences = [([1, 2, 3], [0, 1, 2]), ([2, 1, 3], np.array([1, 0, 2])), ([3, 3, 1], [2, 2, 0])] * 8
    tagger = spectralnlp.train("rhmm", sentences, n_states=2)
    assert tagger.best_tags([[1, 2, 3], np.array([2, 1, 3])]) == [[0, 1, 2], [1, 0, 2]]
    assert tagger.posteriors([1, 9]).shape == (2, 3)
    assert tagger.known == {1, 2, 3}
    assert tagger.log_probability([1, 2], [0, 1]) > tagger.log_probability([1, 2], [2, 2])
    assert spectralnlp.evaluate(tagger, sentences).to_flat_dict()["accuracy"] == 100
    tagger.save(tmp_path / "model")
    loaded = spectralnlp.load(tmp_path / "model")
    assert loaded.tags == (0, 1, 2)
    assert loaded.best_tags([[1, 2, 3]]) == [[0, 1, 2]]
    with pytest.raises(InputError, match=r"sentence 2: symbol 1 is NoneType"):
        tagger.best_tags([[1], [None]])
    with pytest.raises(InputError, match="the model has no tag True"):
        tagger.log_probability([1], [True])
