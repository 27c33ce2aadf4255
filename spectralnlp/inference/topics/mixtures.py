"""Infer the topic mixtures of documents, given the topics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import scipy.sparse as sp

from spectralnlp.inference.topics.bags import bags
from spectralnlp.jit import fast_kernel
from spectralnlp.parameters import Floats, TopicMixture
from spectralnlp.runtime import each_row
from spectralnlp.text.inputs import check_tokens


def document_mixtures(
    counts: sp.csr_matrix, topics: Floats, prior: Floats, *, iterations: int = 20
) -> tuple[Floats, Floats]:
    """Infer the topic mixture of each document, and the expected count of each word in each topic.

    The mixture h of a document of n words with counts c_w is found by iterating
    h_i ← (α_i + Σ_w c_w p(i | w, h)) / (α0 + n), where p(i | w, h) ∝ h_i μ_i(w), μ_i is the word distribution
    of topic i, and α0 = Σ_i α_i. This is mean-field inference of latent Dirichlet allocation with digammas
    approximated by logarithms (Asuncion et al. 2009, section 2.3).

    Args:
        counts: csr (n_documents, V); word counts.
        topics: float64 (k, V), p(w | topic).
        prior: float64 (k,), the Dirichlet parameters α.
        iterations: number of iterations for each document.

    Returns:
        Mixtures, float64 (n_documents, k), rows on the simplex; expected counts, float64 (k, V).
    """
    mixtures = np.empty((counts.shape[0], len(topics)))
    expected = np.zeros((topics.shape[1], topics.shape[0]))
    by_word = np.ascontiguousarray(topics.T)
    indptr, indices = counts.indptr.astype(np.int64), counts.indices.astype(np.int32)
    _mix(indptr, indices, counts.data.astype(np.float64), by_word, prior, iterations, mixtures, expected)
    return mixtures, expected.T


def document_posteriors(counts: sp.csr_matrix, topics: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Compute p(topic | document) in a model with one topic per document, and the expected counts.

    Args:
        counts: csr (n_documents, V); word counts.
        topics: float64 (k, V), p(w | topic), positive.
        weights: float64 (k,), p(topic), positive.

    Returns:
        Posteriors, float64 (n_documents, k); expected counts of each word in each topic, float64 (k, V).
    """
    logarithms = counts @ np.log(topics).T + np.log(weights)
    logarithms -= logarithms.max(axis=1, keepdims=True)
    posteriors = np.exp(logarithms)
    posteriors /= posteriors.sum(axis=1, keepdims=True)
    return posteriors, np.ascontiguousarray((counts.T @ posteriors).T)


@fast_kernel
def _mix(indptr, indices, data, topics, prior, iterations, mixtures, expected):
    k = len(prior)
    share, gathered = np.empty(k), np.empty(k)
    alpha0 = prior.sum()
    for d in range(len(indptr) - 1):
        first, last = indptr[d], indptr[d + 1]
        n = 0.0
        for e in range(first, last):
            n += data[e]
        h = mixtures[d]
        for i in range(k):
            h[i] = prior[i] / alpha0 if alpha0 > 0 else 1.0 / k
        for step in range(iterations + 1):
            for i in range(k):
                gathered[i] = prior[i]
            for e in range(first, last):
                total = 0.0
                word = indices[e]
                for i in range(k):
                    share[i] = h[i] * topics[word, i]
                    total += share[i]
                if total <= 0.0:
                    for i in range(k):
                        share[i] = h[i]
                    total = 1.0
                scale = data[e] / total
                if step == iterations:
                    for i in range(k):
                        expected[word, i] += share[i] * scale
                else:
                    for i in range(k):
                        gathered[i] += share[i] * scale
            if step < iterations and n + alpha0 > 0:
                for i in range(k):
                    h[i] = gathered[i] / (n + alpha0)


# Weight of the overall word frequencies in every topic during inference, so that no word is impossible.
BACKGROUND = 1e-3


def mixtures_of(topics: TopicMixture, documents: Iterable[Sequence[str]]) -> Floats:
    """Infer the topic mixtures of documents.

    A document without known words gets the topics' prior weights.

    Args:
        topics: the k topics, with their prior weights and their vocabulary.
        documents: the words of each document; words outside the vocabulary are ignored.

    Returns:
        float64 (n_documents, k), rows on the simplex.

    Raises:
        InputError: a document is not a list of words; the message has its number, from 1.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp.estimators.topics import mixtures_of
        >>> documents = [text.split() for text in ["sea boat wave", "boat sea tide", "bread oven salt"] * 10]
        >>> topics = spectralnlp.train("topics", documents, n_topics=2, min_documents=1, max_share=1.0)
        >>> mixtures_of(topics.mixture, [["boat", "tide"]]).shape
        (1, 2)
    """
    counts = bags(each_row(check_tokens, documents), topics.word_index, len(topics.words))
    if topics.alpha0:
        return document_mixtures(counts, positive_topics(topics), topics.alpha0 * topics.weights)[0]
    return document_posteriors(counts, positive_topics(topics), topics.weights)[0]


def positive_topics(topics: TopicMixture) -> Floats:
    """Return the word distributions of topics, float64 (k, V), smoothed so that no word is impossible."""
    return (1 - BACKGROUND) * topics.topics + BACKGROUND * topics.frequencies
