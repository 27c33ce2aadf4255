"""Vectors as users see them: look-up, neighbours, eigentokens, clusters, files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import spectralnlp
from spectralnlp.errors import InputError, ModelError, SpectralError
from spectralnlp.estimators.eigenwords import Eigenwords
from spectralnlp.models.vectors import Vectors
from spectralnlp.runtime import InMemoryCorpus
from spectralnlp.tasks.vectors import VectorsTask


def sentences(n: int = 500) -> list[str]:
    """``the n3ing saw a n5ing``: determiners, nouns, verbs, and two classes of contexts."""
    rng = np.random.default_rng(0)
    nouns, verbs = [f"n{i}ing" for i in range(20)], [f"v{i}ed" for i in range(20)]
    return [
        f"{rng.choice(['The', 'A'])} {rng.choice(nouns)} {rng.choice(verbs)} the {rng.choice(nouns)} ."
        for _ in range(n)
    ]


def trained(**settings: object) -> Vectors:
    estimator = Eigenwords(**{"dimensions": 5, **settings})  # type: ignore[arg-type]
    return VectorsTask().train(estimator, InMemoryCorpus(sentences()), report=lambda line: None)


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    return trained(clusters=3)


def test_neighbours_are_of_the_words_class(vectors: Vectors) -> None:
    near = vectors.most_similar("n3ing", 5)
    assert all(word.endswith("ing") and word != "n3ing" for word, _ in near)
    cosines = [cosine for _, cosine in near]
    assert cosines == sorted(cosines, reverse=True)
    assert vectors.similarity("n3ing", near[0][0]) == pytest.approx(cosines[0], abs=1e-6)
    assert vectors.most_similar(vectors.vector("n3ing"), 1)[0][0] == "n3ing"
    assert len(vectors.most_similar("n3ing", 10_000)) == len(vectors) - 1
    frequent = vectors.most_similar("n3ing", 10_000, among=5)
    assert {word for word, _ in frequent} == set(vectors.words[:5]) - {"n3ing"}


def test_small_letters_and_membership(vectors: Vectors) -> None:
    assert "THE" in vectors
    assert 3 not in vectors
    np.testing.assert_array_equal(vectors.vector("THE"), vectors.vector("the"))


def test_unseen_words_go_by_their_spelling(vectors: Vectors) -> None:
    assert "n99ing" not in vectors
    assert all(word.endswith("ing") for word, _ in vectors.most_similar("n99ing", 5))
    assert all(word.endswith("ed") for word, _ in vectors.most_similar("V99ed", 5))
    assert np.linalg.norm(vectors.vector("日本")) == pytest.approx(1, abs=1e-5)
    both = vectors.vectors(["n99ing", "the"])
    np.testing.assert_allclose(both, np.stack([vectors.vector("n99ing"), vectors.vector("the")]), atol=1e-6)


def test_without_a_model_of_spelling() -> None:
    plain = trained(spelling=False)
    with pytest.raises(InputError, match="'n99ing' is not in the vocabulary"):
        plain.vector("n99ing")
    assert not plain.vectors(["n99ing"]).any()


def test_a_tokens_context_tells_its_class_where_the_word_is_unknown(vectors: Vectors) -> None:
    """The first view's vector of a class and the second's of its contexts lie in one space."""
    state = vectors.contexts(["the", "unheard", "v3ed", "the", "n1ing", "."])
    assert state.shape == (6, 5)
    noun, verb = vectors.vector("n3ing"), vectors.vector("v3ed")
    assert state[1] @ noun > state[1] @ verb
    assert state[2] @ verb > state[2] @ noun
    tokens = vectors.tokens(["the", "n1ing"])
    assert tokens.shape == (2, 10)
    np.testing.assert_array_equal(tokens[0, :5], vectors.vector("the"))
    assert np.isfinite(vectors.tokens(["unheard"])).all()
    assert vectors.tokens([]).shape == (0, 10)


def test_clusters(vectors: Vectors) -> None:
    assert vectors.cluster("n1ing") == vectors.cluster("n2ing") != vectors.cluster("v1ed")
    assert vectors.cluster("n99ing") is None
    assert trained().cluster("n1ing") is None
    again = trained().with_clusters(3)
    assert again.info["clusters"] == 3


@pytest.mark.parametrize("settings", [{"clusters": 4}, {"positions": "pooled"}])
def test_a_folder_gives_them_back(settings: dict[str, object], tmp_path: Path) -> None:
    saved = trained(**settings)
    saved.save(tmp_path / "v")
    loaded = spectralnlp.load(tmp_path / "v")
    assert loaded.words == saved.words
    assert loaded.most_similar("n1ing", 3) == saved.most_similar("n1ing", 3)
    words = ["the", "n1ing", "n99ing", "v3ed"]
    np.testing.assert_array_equal(loaded.tokens(words), saved.tokens(words))
    assert loaded.cluster("n1ing") == saved.cluster("n1ing")
    assert loaded.info == saved.info
    bytes_before = (tmp_path / "v" / "arrays.safetensors").read_bytes()
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again" / "arrays.safetensors").read_bytes() == bytes_before


def test_a_folder_without_words_is_refused(tmp_path: Path, vectors: Vectors) -> None:
    from spectralnlp.storage import save_model

    save_model(tmp_path / "v", kind="vectors", metadata={}, arrays={"x": np.ones(1)}, card="")
    with pytest.raises(ModelError, match="value words is missing"):
        spectralnlp.load(tmp_path / "v")


def test_word2vec_out_and_in(vectors: Vectors, tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    vectors.to_word2vec(path)
    assert path.read_text().splitlines()[0] == f"{len(vectors)} 5"
    back = Vectors.from_word2vec(path)
    assert back.words == vectors.words
    np.testing.assert_array_equal(back.parameters.vectors, vectors.parameters.vectors)
    assert [w for w, _ in back.most_similar("n1ing", 3)] == [w for w, _ in vectors.most_similar("n1ing", 3)]
    with pytest.raises(InputError, match="no contexts"):
        back.contexts(["the"])
    back.save(tmp_path / "imported")
    assert spectralnlp.load(tmp_path / "imported").words == back.words


def test_gensim_reads_what_we_write(vectors: Vectors, tmp_path: Path) -> None:
    gensim = pytest.importorskip("gensim.models", exc_type=ImportError)
    vectors.to_word2vec(tmp_path / "v.txt")
    theirs = gensim.KeyedVectors.load_word2vec_format(tmp_path / "v.txt")
    np.testing.assert_allclose(theirs["n1ing"], vectors.vector("n1ing"), atol=1e-5)


def test_spacy_reads_what_we_write(vectors: Vectors, tmp_path: Path) -> None:
    """As ``spacy init vectors en FILE DIR`` does."""
    spacy = pytest.importorskip("spacy")
    from spacy.training.initialize import convert_vectors

    vectors.to_word2vec(tmp_path / "v.txt")
    nlp = spacy.blank("en")
    convert_vectors(nlp, tmp_path / "v.txt", truncate=0, prune=-1)
    np.testing.assert_allclose(nlp.vocab["n1ing"].vector, vectors.vector("n1ing"), atol=1e-5)


def written(folder: Path, text: str) -> Path:
    path = folder / "vectors.txt"
    path.write_text(text)
    return path


def test_the_first_line_may_be_missing_and_a_word_may_come_twice(tmp_path: Path) -> None:
    path = written(tmp_path, "a 1 0\nb 0 1\na 5 5\n")
    assert Vectors.from_word2vec(path).vector("a").tolist() == [1, 0]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no vectors"),
        ("2 2\na 1 0\n", "1 vectors, but the first line promises 2"),
        ("1 3\na 1 0\n", ":2: 2 numbers after 'a', not 3"),
        (f"{'9' * 5000} 2\na 1 0\n", ":2: 2 numbers after 'a', not 1"),
        ("a 1 0\nb 1\n", ":2: 1 numbers after 'b', not 2"),
        ("a 1 x\n", ":1: not all are numbers"),
        ("a 1 nan\n", ":1: a NaN or an infinity"),
        ("a 1 1e99\n", ":1: a NaN or an infinity"),
        ("alone\n", "0 numbers after 'alone'"),
    ],
)
def test_bad_vectors_are_refused(tmp_path: Path, text: str, complaint: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(SpectralError, match=complaint) as refusal:
        Vectors.from_word2vec(path)
    assert "\n" not in str(refusal.value)
