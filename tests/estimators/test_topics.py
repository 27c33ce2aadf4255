from __future__ import annotations

import numpy as np
import pytest
from planted_topics import PlantedTopics, matched, word_of

import spectralnlp
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.topics import TopicModel
from spectralnlp.estimators.topics.moments import PairMoments, TripleMoments
from spectralnlp.estimators.topics.triangle import Triangle
from spectralnlp.inference.topics.mixtures import document_mixtures, document_posteriors
from spectralnlp.parameters import TopicMixture
from spectralnlp.runtime import Batch, InMemoryCorpus, use_engine, use_memory

EVERYTHING = {"min_documents": 1, "max_share": 1.0}


def in_order(topics: TopicMixture, V: int) -> np.ndarray:
    """float64 (k, V): the topics with words in the order of their numbers."""
    ordered = np.zeros((len(topics.weights), V))
    for word in range(V):
        if word_of(word) in topics.word_index:
            ordered[:, word] = topics.topics[:, topics.word_index[word_of(word)]]
    return ordered


@pytest.mark.parametrize("alpha0", [0.0, 1.0])
@pytest.mark.parametrize("scaling", [False, True])
def test_planted_topics_are_found(alpha0: float, scaling: bool) -> None:
    truth = PlantedTopics.random(alpha0=alpha0)
    documents = truth.documents(4000, 30, single=not alpha0)
    estimator = TopicModel.from_preset("tutorial", n_topics=4, alpha0=alpha0, scaling=scaling, **EVERYTHING)
    topics = estimator.fit(InMemoryCorpus(documents)).topics_
    place, error = matched(in_order(topics, 60), truth.topics)
    assert error < 0.2
    np.testing.assert_allclose(topics.weights[place], truth.alpha / truth.alpha.sum(), atol=0.06)


def test_more_topics_than_the_data_bear_are_said_in_one_line() -> None:
    documents = PlantedTopics.random(k=3, seed=3).documents(2000, 30, single=False)
    model = TopicModel(n_topics=8, em_iterations=0, **EVERYTHING).fit(documents)
    (line,) = model.remarks()
    assert line.startswith("the data bear n_topics=3, not 8: the next singular values (")
    assert not TopicModel(n_topics=3, em_iterations=0, **EVERYTHING).fit(documents).remarks()


def test_error_falls_with_the_root_of_the_sample() -> None:
    truth = PlantedTopics.random()
    errors = []
    for n in (500, 8000):
        estimator = TopicModel.from_preset("tutorial", n_topics=4, **EVERYTHING)
        topics = estimator.fit(InMemoryCorpus(truth.documents(n, 30, single=False))).topics_
        errors.append(matched(in_order(topics, 60), truth.topics)[1])
    slope = np.log(errors[1] / errors[0]) / np.log(16)
    assert -0.9 < slope < -0.3, errors


def test_em_from_there_comes_closer_to_topics_of_whole_documents() -> None:
    truth = PlantedTopics.random(alpha0=0.0)
    corpus = InMemoryCorpus(truth.documents(300, 30, single=True))
    errors = []
    for n in (0, 3):
        topics = TopicModel(n_topics=4, alpha0=0.0, em_iterations=n, **EVERYTHING).fit(corpus).topics_
        errors.append(matched(in_order(topics, 60), truth.topics)[1])
    assert errors[1] < errors[0], errors


def test_moments_are_means_over_distinct_tokens() -> None:
    """Against every pair and every triple of positions, one by one."""
    documents = [["a", "b", "a", "c"], ["b", "b", "b"], ["c", "a", "a", "a", "b"]]
    vocabulary = ["a", "b", "c"]
    W = np.random.default_rng(0).standard_normal((3, 2))
    pairs, triples = PairMoments(vocabulary), TripleMoments(vocabulary, W)
    for moments in (pairs, triples):
        moments.observe(Batch(documents, "memory", 0, 0))
    expected2, expected3 = np.zeros((3, 3)), np.zeros((2, 2, 2))
    for document in documents:
        rows = [vocabulary.index(word) for word in document]
        n = len(rows)
        for i in range(n):
            for j in set(range(n)) - {i}:
                expected2[rows[i], rows[j]] += 1 / (n * (n - 1) * 3)
                for m in set(range(n)) - {i, j}:
                    cube = np.einsum("i,j,k->ijk", W[rows[i]], W[rows[j]], W[rows[m]])
                    expected3 += cube / (n * (n - 1) * (n - 2) * 3)
    first, second = pairs.means()
    np.testing.assert_allclose(second.toarray(), expected2, atol=1e-12)
    np.testing.assert_allclose(first, expected2.sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(triples.mean(), expected3, atol=1e-12)


def mixture_reference(counts: np.ndarray, topics: np.ndarray, prior: np.ndarray, steps: int) -> np.ndarray:
    h = prior / prior.sum()
    for _ in range(steps):
        share = h[:, None] * topics
        share /= share.sum(axis=0)
        h = (prior + share @ counts) / (prior.sum() + counts.sum())
    return h


def test_mixtures_agree_with_the_reference() -> None:
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    counts = rng.poisson(0.7, (5, 12))
    topics, prior = rng.dirichlet(np.ones(12), 3), np.array([0.5, 0.2, 0.3])
    mixtures, expected = document_mixtures(sp.csr_matrix(counts), topics, prior, iterations=7)
    for row, mixture in zip(counts, mixtures, strict=True):
        np.testing.assert_allclose(mixture, mixture_reference(row, topics, prior, 7), rtol=1e-9)
    np.testing.assert_allclose(expected.sum(axis=0), counts.sum(axis=0), rtol=1e-9)
    posteriors, expected = document_posteriors(sp.csr_matrix(counts), topics, prior)
    likelihood = prior * np.exp(counts @ np.log(topics).T)
    np.testing.assert_allclose(posteriors, likelihood / likelihood.sum(axis=1, keepdims=True), rtol=1e-9)
    np.testing.assert_allclose(expected, posteriors.T @ counts, rtol=1e-9)


def test_documents_get_the_topics_they_were_made_of() -> None:
    truth = PlantedTopics.random()
    model = TopicModel(n_topics=4, **EVERYTHING).fit(InMemoryCorpus(truth.documents(2000, 40, single=False)))
    place, _ = matched(in_order(model.topics_, 60), truth.topics)
    pure = [[word_of(w) for w in np.argsort(-row)[:5] for _ in range(8)] for row in truth.topics]
    mixtures = model.transform([*pure, [], ["never seen"]])
    assert (mixtures.argmax(axis=1)[:4] == place).all()
    np.testing.assert_allclose(mixtures.sum(axis=1), 1)
    np.testing.assert_allclose(mixtures[4:], [model.topics_.weights] * 2)


def test_any_engine_gives_the_same_bytes() -> None:
    documents = PlantedTopics.random().documents(300, 10, single=False)
    corpus = InMemoryCorpus(documents, n_partitions=3)
    alone = TopicModel(n_topics=3, **EVERYTHING).fit(corpus).topics_
    with use_engine("threads", jobs=2):
        together = TopicModel(n_topics=3, **EVERYTHING).fit(corpus).topics_
    assert alone.topics.tobytes() == together.topics.tobytes()


def _rare_and_common_words() -> InMemoryCorpus[list[str]]:
    truth = PlantedTopics.random().documents(600, 12, single=False)
    return InMemoryCorpus([[*words, f"once{n}", f"rare{n // 2}"] for n, words in enumerate(truth)], 5)


@pytest.mark.parametrize("engine", ["serial", "threads"])
def test_words_on_disk_give_the_same_bytes(engine: str) -> None:
    corpus, settings = _rare_and_common_words(), {"min_documents": 2, "max_share": 1.0, "max_words": 80}
    free = TopicModel(n_topics=3, **settings).fit(corpus).topics_
    with use_memory(1 << 19) as memory, use_engine(engine, **({} if engine == "serial" else {"jobs": 2})):
        bound = TopicModel(n_topics=3, **settings).fit(corpus).topics_
        assert len([path for path in memory.folder.iterdir() if path.name.startswith("words")]) > 2
    assert bound.words == free.words
    for name in ("weights", "topics", "frequencies"):
        assert getattr(bound, name).tobytes() == getattr(free, name).tobytes(), name


def test_pairs_that_do_not_fit_are_refused() -> None:
    with use_memory(1 << 16), pytest.raises(ConfigError, match=r"pairs of 80 words do not fit .*max_words"):
        TopicModel(n_topics=3, min_documents=2, max_share=1.0, max_words=80).fit(_rare_and_common_words())


def test_pairs_are_summed_in_blocks_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    words = [word_of(number) for number in range(60)]
    documents = Batch(PlantedTopics.random().documents(50, 12, single=False), "memory", 0, 0)

    def means() -> tuple[np.ndarray, np.ndarray]:
        moments = PairMoments(words)
        moments.observe(documents)
        moments.merge(moments.restored(moments.arrays()))
        first, pairs = moments.means()
        return first, pairs.toarray()

    whole = means()
    monkeypatch.setattr(Triangle, "ROWS", 7)
    assert [each.tobytes() for each in means()] == [each.tobytes() for each in whole]
    np.testing.assert_array_equal(whole[1], whole[1].T)


def test_fewer_directions_than_topics_lower_their_number() -> None:
    documents = [["a", "a", "a", "b"], ["c", "c", "d", "d"]] * 10
    with pytest.warns(UserWarning, match=r"n_topics lowered from 20 to 2: .* \(singular values"):
        model = TopicModel(**EVERYTHING).fit(InMemoryCorpus(documents))
    assert np.isfinite(model.topics_.topics).all()
    assert np.isfinite(model.transform(documents)).all()


@pytest.mark.filterwarnings("ignore:n_topics lowered")
def test_one_word_is_one_topic() -> None:
    model = TopicModel(**EVERYTHING).fit(InMemoryCorpus([["a", "a", "a"]]))
    np.testing.assert_allclose(model.topics_.topics, 1)


def test_bad_input_is_refused_in_one_line() -> None:
    for documents, what in (
        ([], "no documents to learn from"),
        ([["a", "b", "c"]], "no word is in 5 documents or more"),
        ([["a", "b"]] * 9, "no document has three words"),
    ):
        settings = {} if "five" in what or "5" in what else EVERYTHING
        with pytest.raises(InputError, match=what):
            TopicModel(**settings).fit(InMemoryCorpus(documents))
    for settings in ({"n_topics": 0}, {"alpha0": -1.0}):
        with pytest.raises(ConfigError, match="TopicModel"):
            TopicModel(**settings).fit(InMemoryCorpus([["a"]]))


def test_documents_that_are_no_lists_of_words_are_refused_with_their_number() -> None:
    documents = [text.split() for text in ("sea boat wave", "boat sea tide", "bread oven salt")] * 10
    topics = spectralnlp.train("topics", documents, n_topics=2, min_documents=1, max_share=1.0)
    for document, message in (([1, 2], "token 1 is int"), (None, "NoneType where tokens")):
        with pytest.raises(InputError, match=f"sentence 2: {message}"):
            topics.mixtures_of([["boat"], document])  # type: ignore[list-item]
