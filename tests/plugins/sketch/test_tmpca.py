"""TMPCA: equation 20 is its stages, rows are orthonormal, padding is masked; rules for what eats text."""

from __future__ import annotations

import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from spectralnlp_sketch import TMPCA, prepare, tmpca_classifier
from spectralnlp_sketch.errors import MatrixError, SizeError
from spectralnlp_sketch.tmpca.information import mutual_information
from spectralnlp_sketch.tmpca.segments import segment_sizes, to_length

from spectralnlp.errors import ConfigError
from spectralnlp.runtime import InMemoryCorpus, use_engine

RNG = np.random.default_rng(0)
MIX = RNG.standard_normal((3, 3))
ARRAYS = (RNG.standard_normal((50, 8, 3)) + RNG.standard_normal((50, 1, 3))) @ MIX + RNG.standard_normal(
    (8, 3)
)
_NAMES = ["wheat", "corn", "ship", "bank", "rate", "loan", "rain", "harvest", "new_york"]
WORDS = {word: RNG.standard_normal(4) for word in _NAMES}
TEXTS = [
    "The wheat harvest, and the corn.",
    "Rain on corn; ships with wheat",
    "a bank loan rate",
    "Rate of the loan of a bank in new York",
    "xyzzy",
    "",
    "corn " * 40 + "bank",
]


# ---------------------------------------------------------------------------------------------------------
# The method


def in_stages(model: TMPCA, sequence: np.ndarray) -> np.ndarray:
    """Equations 18 and 19: neighbours side by side, stage after stage."""
    elements = sequence - model.means_
    for stage in model.stages_:
        elements = elements.reshape(-1, stage.shape[1]) @ stage.T
    (y,) = elements
    return y


@pytest.mark.parametrize(("length", "branching"), [(2, 2), (8, 2), (9, 3), (16, 4)])
def test_equation_20_is_its_stages(length: int, branching: int) -> None:
    arrays = RNG.standard_normal((40, length, 3)) @ MIX
    model = TMPCA(length=length, branching=branching).fit(arrays)
    n_stages = len(model.stages_)
    blocks = []
    for digits in product(
        range(branching), repeat=n_stages
    ):  # of an element's number, the last stage's first
        block = np.eye(3)
        for stage, digit in zip(model.stages_, reversed(digits), strict=True):
            block = stage[:, 3 * digit : 3 * digit + 3] @ block
        blocks.append(block)
    np.testing.assert_allclose(model.system_matrix_, np.hstack(blocks), atol=1e-12)
    found = model.transform(arrays)
    np.testing.assert_allclose(found, [in_stages(model, each) for each in arrays], atol=1e-12)


def test_rows_of_the_system_are_orthonormal_with_signs_fixed() -> None:
    model = TMPCA(length=8).fit(ARRAYS)
    np.testing.assert_allclose(model.system_matrix_ @ model.system_matrix_.T, np.eye(3), atol=1e-12)
    for stage in model.stages_:
        largest = stage[np.arange(3), np.abs(stage).argmax(axis=1)]
        assert (largest > 0).all()


def test_one_stage_is_pca() -> None:
    model = TMPCA(length=8, branching=8).fit(ARRAYS)
    rows = ARRAYS.reshape(50, -1) - ARRAYS.reshape(50, -1).mean(axis=0)
    _, sigma, vt = np.linalg.svd(rows, full_matrices=False)
    np.testing.assert_allclose(np.abs(model.system_matrix_), np.abs(vt[:3]), atol=1e-9)
    assert model.report_[0].energy == pytest.approx((sigma[:3] ** 2).sum() / (sigma**2).sum())


def test_report_is_that_of_its_output() -> None:
    model = TMPCA(length=8).fit(ARRAYS)
    assert [(each.stage, each.elements) for each in model.report_] == [(1, 4), (2, 2), (3, 1)]
    y, centred = model.transform(ARRAYS), ARRAYS - ARRAYS.mean(axis=0)
    assert model.report_[-1].energy == pytest.approx((y**2).sum() / (centred**2).sum())
    assert model.report_[-1].mutual_information == pytest.approx(mutual_information(y.T @ y / len(y)))
    energies = [each.energy for each in model.report_]
    assert 1 >= energies[0] > energies[1] > energies[2] > 0


def test_mutual_information_of_the_mean_is_equation_17() -> None:
    n, d, noise = 8, 3, 0.7
    mean_of = np.hstack([np.eye(d)] * n) / n
    y = ARRAYS.mean(axis=1)
    covariance = np.cov(y.T, bias=True)
    expected = 0.5 * np.log(np.linalg.det(covariance) * n**d / noise ** (2 * d))
    assert mutual_information(covariance, noise, mean_of) == pytest.approx(expected)
    assert mutual_information(np.zeros((2, 2))) == -np.inf


@pytest.mark.parametrize(
    ("n", "length", "expected"),
    [(10, 4, [3, 2, 3, 2]), (4, 4, [1, 1, 1, 1]), (7, 4, [2, 2, 2, 1]), (9, 4, [3, 2, 2, 2]), (5, 2, [3, 2])],
)
def test_segments_are_the_papers(n: int, length: int, expected: list[int]) -> None:
    assert segment_sizes(n, length) == expected


def test_long_sequences_become_means_of_segments_and_short_ones_are_padded() -> None:
    long, short, none = np.arange(20.0).reshape(10, 2), np.ones((3, 2)), np.empty((0, 2))
    elements = to_length([long, none, short], 4, 2, np.float64)
    bounds = [(0, 3), (3, 5), (5, 8), (8, 10)]
    np.testing.assert_allclose(elements.values[0], [long[a:b].mean(axis=0) for a, b in bounds])
    assert elements.real.tolist() == [[True] * 4, [False] * 4, [True, True, True, False]]
    assert not elements.values[1].any()
    assert not elements.values[2, 3].any()


def test_masked_padding_stands_at_the_mean_of_what_is_real() -> None:
    short = [each[: 1 + i % 8] + 5 for i, each in enumerate(ARRAYS)]
    model = TMPCA(length=8).fit(short)
    last = [each[7] for each in short if len(each) == 8]
    np.testing.assert_allclose(model.means_[7], np.mean(last, axis=0))
    padded = np.stack([np.vstack([each, model.means_[len(each) :]]) for each in short])
    np.testing.assert_allclose(model.transform(short), model.transform(padded), atol=1e-12)
    as_published = TMPCA(length=8, mask_padding=False).fit(short)
    zeros = np.stack([np.vstack([each, np.zeros((8 - len(each), 3))]) for each in short])
    np.testing.assert_allclose(as_published.means_, zeros.mean(axis=0))
    np.testing.assert_allclose(as_published.system_matrix_, TMPCA(length=8).fit(zeros).system_matrix_)


def test_padding_is_the_leading_variance_unless_it_is_masked() -> None:
    short = [each[: 1 + i % 8] + 20 for i, each in enumerate(ARRAYS)]
    lengths = [len(each) for each in short]

    def first_follows_length(model: TMPCA) -> float:
        return abs(np.corrcoef(model.fit(short).transform(short)[:, 0], lengths)[0, 1])

    assert first_follows_length(TMPCA(length=8, mask_padding=False)) > 0.95
    assert first_follows_length(TMPCA(length=8)) < 0.5


# ---------------------------------------------------------------------------------------------------------
# Words


def test_prepares_text_without_downloads() -> None:
    text = "The farmers weren't happy: ships, shipping and relational 1987."
    assert prepare(text, stop_words=None, stem=False)[:3] == ["the", "farmers", "weren't"]
    assert {"farmer", "happi", "ship", "relat"} <= set(prepare(text))
    assert "the" not in prepare(text)
    assert prepare("not the end", stop_words={"the"}, stem=False) == ["not", "end"]
    with pytest.raises(SizeError, match="no stop words of 'french'"):
        prepare(text, stop_words="french")


def test_bigrams_follow_words() -> None:
    model = TMPCA(vectors=WORDS, length=4, bigrams=True).fit(TEXTS)
    elements = model._to_elements([["new", "york", "wheat", "corn"]], 0)
    expected = [WORDS["wheat"], WORDS["corn"], WORDS["new_york"], WORDS["wheat"]]
    # new and york have no vectors; new_york has its own, york_wheat that of wheat, wheat_corn the mean
    np.testing.assert_allclose(elements.values[0, :2], [np.mean(expected[:2], axis=0), expected[2]])
    np.testing.assert_allclose(elements.values[0, 2], WORDS["wheat"])
    np.testing.assert_allclose(elements.values[0, 3], (WORDS["wheat"] + WORDS["corn"]) / 2)


class SpelledVectors:
    """A stand-in for `spectralnlp.models.Vectors`: rows of zeros for words that it does not know."""

    dimensions = 4

    def __contains__(self, word: str) -> bool:
        return word in WORDS

    def vectors(self, words: list[str]) -> np.ndarray:
        return np.stack([WORDS.get(word, np.zeros(4)) for word in words])


def test_any_table_of_vectors_gives_the_same() -> None:
    tokens = [prepare(text, None, False) for text in TEXTS]
    arrays = [np.array([WORDS[word] for word in each if word in WORDS]).reshape(-1, 4) for each in tokens]
    expected = TMPCA(length=4).fit(arrays).transform(arrays)
    for vectors, data in ((WORDS, TEXTS), (WORDS, tokens), (SpelledVectors(), TEXTS)):
        found = TMPCA(vectors=vectors, length=4).fit(data).transform(data)
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_text_without_known_words_is_at_the_mean() -> None:
    model = TMPCA(vectors=WORDS, length=4).fit(TEXTS)
    np.testing.assert_allclose(model.transform(["", "xyzzy plugh"]), 0)


# ---------------------------------------------------------------------------------------------------------
# Conformance: what scikit-learn's own suite says of matrices, said of texts


@pytest.fixture(params=["texts", "arrays"])
def case(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    made = {"texts": (TMPCA(vectors=WORDS, length=4), TEXTS), "arrays": (TMPCA(length=8), ARRAYS)}
    return made[request.param]


def test_clone_pickle_and_parameters(case: tuple[Any, Any]) -> None:
    model, data = case
    before = model.get_params()
    assert model.fit(data) is model
    assert all(model.get_params()[name] is value for name, value in before.items())
    copy = clone(model)
    assert not hasattr(copy, "system_matrix_")
    again = copy.fit(data).transform(data)
    assert again.tobytes() == model.fit_transform(data).tobytes()
    assert pickle.loads(pickle.dumps(model)).transform(data).tobytes() == again.tobytes()
    assert len(model.get_feature_names_out()) == again.shape[1]
    assert model.get_feature_names_out()[0] == "tmpca0"


def test_transforms_one_at_a_time_as_all_at_once(case: tuple[Any, Any]) -> None:
    model, data = case
    whole = model.fit(data).transform(data)
    one_by_one = np.concatenate([model.transform(data[i : i + 1]) for i in range(len(data))])
    np.testing.assert_allclose(one_by_one, whole, atol=1e-12)
    assert model.transform(data[:0]).shape == (0, whole.shape[1])


@pytest.mark.parametrize("n_partitions", [1, 3])
def test_a_corpus_in_any_parts_and_on_any_engine_gives_the_same(
    case: tuple[Any, Any], n_partitions: int
) -> None:
    model, data = case
    expected = model.fit(data).system_matrix_
    corpus = InMemoryCorpus(list(data), n_partitions=n_partitions)
    one = clone(model).fit(corpus)
    with use_engine("threads", jobs=2):
        two = clone(model).fit(corpus)
    np.testing.assert_allclose(one.system_matrix_, expected, atol=1e-9)
    assert one.system_matrix_.tobytes() == two.system_matrix_.tobytes()
    np.testing.assert_allclose(one.transform(corpus), model.transform(data), atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_keeps_the_precision_it_is_given(dtype: type) -> None:
    y = TMPCA(length=8).fit(ARRAYS.astype(dtype)).transform(ARRAYS.astype(dtype))
    assert y.dtype == dtype
    np.testing.assert_allclose(y, TMPCA(length=8).fit(ARRAYS).transform(ARRAYS), atol=1e-4)


def test_what_it_was_not_fitted_on_is_refused() -> None:
    with pytest.raises(Exception, match="not fitted"):
        TMPCA(length=8).transform(ARRAYS)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"length": 6}, "length must be a power of branching"),
        ({"length": 1}, "TMPCA.length: got 1, expected int, 2 or more"),
        ({"branching": 1}, "TMPCA.branching: got 1, expected int, 2 or more"),
        ({"vectors": 7}, "not int"),
        ({"vectors": {}}, "vectors holds no words"),
        ({"stop_words": "french"}, "no stop words of 'french'"),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint) as refusal:
        TMPCA(**settings).fit(ARRAYS)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("model", "data", "complaint"),
    [
        (TMPCA(length=4), [], "no sequences"),
        (TMPCA(vectors=WORDS, length=4), [], "no sequences"),
        (TMPCA(length=4), TEXTS, "give word vectors"),
        (TMPCA(vectors=WORDS, length=4), "one text", "give a list"),
        (TMPCA(vectors=WORDS, length=4), ["xyzzy", ""], "no word of any sequence has a vector"),
        (TMPCA(vectors=WORDS, length=4), [TEXTS[0], 7], "sequence 1 is neither text"),
        (TMPCA(length=4), [np.ones((3, 2)), np.ones((3, 3))], r"sequence 1 has the shape \(3, 3\)"),
        (TMPCA(length=4), [np.ones((3, 2)), np.full((2, 2), np.nan)], "sequence 1 .* holds NaN"),
        (
            TMPCA(vectors={"wheat": np.ones(2), "corn": np.ones(3)}, length=4),
            TEXTS,
            "the vector of 'corn' has 3 numbers",
        ),
    ],
)
def test_bad_sequences_are_refused(model: TMPCA, data: Any, complaint: str) -> None:
    with pytest.raises(MatrixError, match=complaint) as refusal:
        model.fit(data)
    assert "\n" not in str(refusal.value)


def test_a_nan_in_an_array_is_refused_by_its_sequence() -> None:
    bad = ARRAYS.copy()
    bad[31, 2, 1] = np.inf
    with pytest.raises(MatrixError, match="sequence 31"):
        TMPCA(length=8).fit(bad)
    with pytest.raises(MatrixError, match="sequence 31"):
        TMPCA(length=8).fit(InMemoryCorpus(list(bad), n_partitions=3))


def test_a_dense_network_classifies_on_top() -> None:
    texts = [
        "wheat corn harvest rain",
        "corn wheat rain",
        "harvest corn",
        "bank loan rate",
        "loan rate bank",
        "rate loan",
    ]
    labels = ["grain"] * 3 + ["money"] * 3
    for hidden in ((), (8,)):
        model = tmpca_classifier(WORDS, hidden=hidden, length=2)
        if hidden:
            model.set_params(mlpclassifier__early_stopping=False, mlpclassifier__max_iter=2000)
        assert model.fit(texts, labels).score(texts, labels) == 1
