"""Eigenwords: that the decomposition is that of the definition, and what it makes of awkward text."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.eigenwords import Eigenwords
from spectralnlp.estimators.eigenwords.matrix import MatrixInMemory
from spectralnlp.estimators.eigenwords.moments import PairCounts
from spectralnlp.estimators.eigenwords.solve import (
    blocks_of,
    choose_vocabulary,
    context_matrix,
    solve_vectors,
)
from spectralnlp.linalg.cca import View, cca
from spectralnlp.parameters import WordVectors
from spectralnlp.runtime import InMemoryCorpus, accumulate, use_engine

TUTORIAL = ["I ate ham", "You ate cheese", "You ate"]


def text(n: int = 400, seed: int = 0) -> list[str]:
    """Determiners, nouns, verbs: ``the cat saw a dog``, with words drawn from each class."""
    rng = np.random.default_rng(seed)
    determiners = ["the", "a"]
    nouns, verbs = [f"n{i}ing" for i in range(12)], [f"v{i}ed" for i in range(12)]
    return [
        " ".join(rng.choice(words, 1)[0] for words in (determiners, nouns, verbs, determiners, nouns))
        for _ in range(n)
    ]


def fit(lines: list[str], **settings: object) -> WordVectors:
    return Eigenwords(**settings).fit(InMemoryCorpus(lines)).word_vectors_  # type: ignore[arg-type]


def test_the_tutorials_bigram_matrix() -> None:
    """Rows × the word after, without sentence ends, as on the tutorial's page "The Eigenword Matrix U"."""
    counts = accumulate(PairCounts(window=1, lowercase=False), InMemoryCorpus(TUTORIAL))
    vocabulary = choose_vocabulary(counts, min_count=1, max_words=None, n_contexts=99)
    matrix = context_matrix(counts, vocabulary, blocks_of(1, "apart")).toarray()
    words = counts.names(vocabulary.rows)
    after = {(a, b): int(matrix[i, 6 + 1 + j]) for i, a in enumerate(words) for j, b in enumerate(words)}
    expected = {("ate", "cheese"): 1, ("ate", "ham"): 1, ("I", "ate"): 1, ("You", "ate"): 2}
    assert {pair: n for pair, n in after.items() if n} == expected
    before = matrix[:, 1:6]
    np.testing.assert_array_equal(before, matrix[:, 7:].T)


@pytest.mark.parametrize("lines", [TUTORIAL, text(60)], ids=["slide", "text"])
def test_the_slides_matrix_of_bigrams_can_be_asked_for(lines: list[str]) -> None:
    """``contexts=right``: words × the word after, |W| × |W|, and nothing else is factored."""
    settings = {"contexts": "right", "lowercase": False, "min_count": 1, "dimensions": 2}
    found = Eigenwords.from_preset("tutorial", **settings).fit(InMemoryCorpus(lines)).word_vectors_
    place = {word: number for number, word in enumerate(found.words)}
    bigrams = np.zeros((len(place), len(place)))
    for left, right in (pair for line in lines for pair in itertools.pairwise(line.split())):
        bigrams[place[left], place[right]] += 1
    u, sigma, _ = np.linalg.svd(bigrams)
    np.testing.assert_allclose(found.singular_values, sigma[:2], rtol=1e-5)
    lengths = np.linalg.norm(u[:, :2], axis=1)
    long = lengths > 1e-3  # of others, vectors of length 1 are rounding
    rows = u[long, :2] / lengths[long, None]
    np.testing.assert_allclose(np.abs(found.vectors[long]), np.abs(rows), atol=1e-4)
    assert found.blocks == ((1,),)
    assert found.contexts == ("", *found.words)
    assert found.context_vectors is not None
    assert np.abs(found.context_vectors[:, 0]).max() < 1e-6  # the end of a sentence


def test_one_step_cca_is_the_cca_of_a_word_and_its_neighbour() -> None:
    """With one context position and plain counts, it is exactly the CCA of two one-hot views."""
    rng = np.random.default_rng(0)
    steps = rng.choice([1, 1, 1, 2, 3, 7], size=600).cumsum() % 13
    tokens = [f"w{step}" for step in steps]
    pairs = np.array(list(itertools.pairwise(tokens)))
    words, codes = np.unique(pairs, return_inverse=True)
    codes = codes.reshape(-1, 2)
    counts = np.zeros((len(words),) * 2, np.float32)
    np.add.at(counts, (codes[:, 0], codes[:, 1]), 1)
    joint = counts.astype(np.float64) / counts.sum()
    shares = joint.sum(axis=1), joint.sum(axis=0)
    exact = cca(*(View(np.diag(each), each) for each in shares), joint, 4)
    import scipy.sparse

    u, sigma, v = solve_vectors(
        MatrixInMemory(scipy.sparse.csr_array(counts)),
        "cca",
        4,
        random_state=0,
    )
    np.testing.assert_allclose(sigma, exact.correlations, atol=1e-4)
    # U is D^½ times CCA's weights, which take each word's share of the text into account.
    share = np.sqrt(counts.sum(axis=1) / counts.sum())[:, None]
    np.testing.assert_allclose(np.abs(u), np.abs(share * exact.x_weights), atol=1e-3)
    share = np.sqrt(counts.sum())
    np.testing.assert_allclose(np.abs(v * share), np.abs(exact.y_weights * exact.correlations), atol=1e-2)


@pytest.mark.parametrize("variant", ["cca", "svd"])
@pytest.mark.parametrize("positions", ["apart", "pooled"])
@pytest.mark.parametrize("transform", ["sqrt", "log", "none"])
def test_words_of_a_class_lie_together(variant: str, positions: str, transform: str) -> None:
    found = fit(text(), variant=variant, positions=positions, transform=transform, dimensions=3)
    by_name = dict(zip(found.words, found.vectors, strict=True))
    nouns = np.stack([vector for word, vector in by_name.items() if word.endswith("ing")])
    verbs = np.stack([vector for word, vector in by_name.items() if word.endswith("ed")])
    assert (nouns @ nouns.mean(axis=0)).min() > (nouns @ verbs.mean(axis=0)).max()
    assert found.context_vectors is not None
    assert found.context_vectors.shape == (4 if positions == "apart" else 1, len(found.words) + 1, 3)


def test_counts_that_were_kept_change_their_mind_exactly() -> None:
    whole, part = text(300), text(100, seed=5)
    counts = accumulate(PairCounts(), InMemoryCorpus(whole + part))
    counts.subtract(accumulate(PairCounts(), InMemoryCorpus(part)))
    model = Eigenwords(dimensions=4)
    model.solve(counts)
    expected = fit(whole, dimensions=4)
    assert model.word_vectors_.words == expected.words
    assert model.word_vectors_.vectors.tobytes() == expected.vectors.tobytes()


def test_how_the_text_was_split_changes_nothing() -> None:
    lines = text()
    whole = fit(lines, dimensions=4)
    with use_engine("threads", jobs=2):
        parts = Eigenwords(dimensions=4).fit(InMemoryCorpus(lines, n_partitions=3)).word_vectors_
    assert parts.words == whole.words
    assert parts.vectors.tobytes() == whole.vectors.tobytes()
    assert parts.spelling is not None
    assert whole.spelling is not None
    assert parts.spelling.weights.tobytes() == whole.spelling.weights.tobytes()


def test_fewer_words_than_dimensions_lower_them_with_a_warning() -> None:
    with pytest.warns(UserWarning, match=r"lowered from 50 to \d: .*singular values end in 0\.\d"):
        found = fit(TUTORIAL, min_count=1)
    assert found.vectors.shape[1] == len(found.singular_values) < 5
    assert np.isfinite(found.vectors).all()
    assert np.isfinite(found.spelling.weights).all()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([], "no words"),
        (["", " \t "], "no words"),
        (["word word word word"], "two are needed"),
        (["each word once"], "lower min_count"),
    ],
)
def test_too_little_text_is_refused(lines: list[str], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint) as refusal:
        fit(lines)
    assert "\n" not in str(refusal.value)


def test_words_that_are_all_used_alike() -> None:
    with pytest.raises(InputError, match="same contexts"):
        fit(["a", "b", "c"] * 5)
    with pytest.warns(UserWarning, match="lowered from 50 to 1"):
        assert np.isfinite(fit(["a b"] * 5).vectors).all()


@pytest.mark.parametrize("name", ["dimensions", "window", "min_count", "contexts"])
def test_senseless_settings_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        fit(text(5), **{name: 0})
    with pytest.raises(ConfigError, match=r"contexts: got 'left', expected int, 1 or more or 'right'"):
        fit(text(5), contexts="left")
