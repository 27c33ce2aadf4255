"""Find directions of n-grams that correlate between the sentences of a text.

A text's topic and its author's opinion appear in many of its sentences, while incidental content appears in
one. So each sentence is a view of the text, from which the label can be predicted, and directions that
correlate between sentences are likely to be informative about labels (Kakade and Foster 2007, *Multi-view
regression via canonical correlation analysis*). The covariance between different sentences of a text, summed
over all pairs, is the covariance of whole texts minus the covariances of single sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.linalg.svd import sparse_svd
from spectralnlp.runtime import offsets_of
from spectralnlp_sketch.hashing.ngrams import NgramFormat, count_ngrams

Array32 = NDArray[np.float32]
Floats = NDArray[np.float64]
# Rows of sentences, and the incidence matrix of texts and sentences.
PartRows: TypeAlias = tuple[sp.csr_array, sp.csr_array]

# With fewer texts of at least two sentences, correlations cannot be estimated.
MIN_TEXTS = 8000
# Minimum mean number of sentences of such texts.
MIN_SENTENCES = 3.0
# From this number of texts on, other directions add nothing.
ENOUGH_TEXTS = 20_000
# Directions are sought in the space of singular vectors: one for each 50 texts, at most 1,000.
TEXTS_A_VECTOR, MAX_VECTORS = 50, 1000
# Number of n-grams of words that have directions; the most frequent are used.
MAX_NGRAMS = 100_000
# Ridge regularisation, as a share of the mean variance.
RIDGE = 0.2
# The length of a direction is this power of the share of its variance that sentences have in common.
POWER = 4
_BATCH = 2000
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")


def sentences_of(text: str) -> list[str]:
    """Split a text after full stops, exclamation marks and question marks, and at line ends."""
    return [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]


def have_sentences(texts: Sequence[str]) -> bool:
    """Return whether enough of the texts have several sentences, as `sentence_directions` needs.

    At least `MIN_TEXTS` texts must have two sentences or more, and on average these texts must have at least
    `MIN_SENTENCES` sentences.
    """
    if len(texts) < MIN_TEXTS:
        return False
    counts = np.fromiter((len(sentences_of(text)) for text in texts), np.int64, len(texts))
    several = counts[counts > 1]
    return len(several) >= MIN_TEXTS and float(several.mean()) >= MIN_SENTENCES


def sentence_directions(
    texts: Sequence[str],
    rows: sp.csr_array,
    columns: NDArray[np.int32],
    idf: Array32,
    form: NgramFormat,
    dimensions: int,
    random_state: int,
) -> Array32:
    """Return directions of word n-grams that correlate between sentences, the most correlated first.

    Args:
        texts: texts, most of them with several sentences.
        rows: tf-idf rows of the texts over n-grams of words (n_texts, n_words).
        columns: hashed columns of these n-grams in ``form``, int32 (n_words,).
        idf: inverse document frequencies, float32 (n_words,).
        form: format in which n-grams of words are counted.
        dimensions: maximum number of directions.
        random_state: seed of the SVD.

    Returns:
        Directions, float32 (n_words, at most ``dimensions``).
    """
    frequencies = np.bincount(rows.indices, minlength=rows.shape[1])
    frequent = np.sort(np.argsort(-frequencies, kind="stable")[:MAX_NGRAMS])
    rank = min(MAX_VECTORS, max(len(texts) // TEXTS_A_VECTOR, 1))
    _, _, vectors = sparse_svd(rows[:, frequent], rank, iterations=2, random_state=random_state)
    total, single = _covariances(part_rows(texts, columns[frequent], idf[frequent], form), vectors)
    agreed = vectors @ most_agreed(total, single)[:, :dimensions].astype(np.float32)
    directions = np.zeros((rows.shape[1], agreed.shape[1]), np.float32)
    directions[frequent] = agreed
    return directions


def most_agreed(total: Floats, single: Floats) -> Floats:
    """Return directions along which the sentences of a text correlate most, the most correlated first.

    A direction a solves the eigenproblem (T − W) a = ρ (T + λ I) a, where λ is `RIDGE` times the mean of T's
    diagonal. ρ is the share of the variance along a that different sentences have in common.

    Args:
        total: covariance T of texts, whose rows are the sums of their sentences' rows, float64 (d, d).
        single: sum W of the covariances of sentences, float64 (d, d).

    Returns:
        The directions with positive ρ as columns, float64 (d, at most d). Each is scaled so that
        aᵀ(T + λ I)a = 1, and then multiplied by ρ⁴, so that directions of low correlation count less.
    """
    ridged = total.copy()
    ridged[np.diag_indices_from(ridged)] += max(RIDGE * float(np.trace(total)) / len(total), 1e-12)
    variances, axes = np.linalg.eigh(ridged)
    whitening = axes / np.sqrt(variances) @ axes.T
    shares, vectors = np.linalg.eigh(whitening @ (total - single) @ whitening)
    shares, vectors = shares[::-1], whitening @ vectors[:, ::-1]
    positive = shares > 0
    vectors = vectors[:, positive] * shares[positive] ** POWER
    largest = np.abs(vectors).argmax(axis=0)
    return np.asarray(vectors * np.sign(vectors[largest, np.arange(vectors.shape[1])]))


def part_rows(
    texts: Sequence[str],
    columns: NDArray[np.int32],
    idf: Array32,
    form: NgramFormat,
) -> Iterator[PartRows]:
    """Yield n-gram rows of single sentences, scaled so that a text's sentences add up to a unit-length row.

    Args:
        texts: texts to split into sentences.
        columns: hashed columns of n-grams in ``form``, int32 (n,), ascending.
        idf: inverse document frequencies, float32 (n,).
        form: format of n-grams.

    Yields:
        For each batch of texts: rows of their sentences, CSR float32 (n_sentences, n), and a matrix, CSR
        float32 (n_texts, n_sentences), that is 1 where the text contains the sentence.
    """
    place = np.full(form.n_columns, -1, np.int64)
    place[columns] = np.arange(len(columns))
    for begin in range(0, len(texts), _BATCH):
        parts = [sentences_of(text) for text in texts[begin : begin + _BATCH]]
        of_text = np.repeat(np.arange(len(parts)), [len(each) for each in parts])
        counts = count_ngrams(list(chain.from_iterable(parts)), form)
        known = place[counts.indices] >= 0
        indices = place[counts.indices[known]]
        starts = offsets_of(known)[counts.indptr]
        rows = sp.csr_array((idf[indices], indices, starts), shape=(counts.shape[0], len(idf)))
        ones = np.ones(len(of_text), np.float32)
        belongs = sp.csr_array((ones, (of_text, np.arange(len(of_text)))), shape=(len(parts), len(of_text)))
        lengths = np.sqrt(np.asarray((belongs @ rows).power(2).sum(axis=1)).ravel())
        factors = 1.0 / np.maximum(lengths, 1e-9)[of_text].astype(np.float32)
        rows.data *= np.repeat(factors, np.diff(rows.indptr))
        yield rows, belongs


def _covariances(batches: Iterator[PartRows], vectors: Array32) -> tuple[Floats, Floats]:
    """Return the covariance of texts, and the sum of the covariances of sentences, after a projection.

    Args:
        batches: rows of sentences, and which text each belongs to, from `part_rows`.
        vectors: projection matrix, float32 (n, d), by which the rows are multiplied.

    Returns:
        T and W, the arguments of `most_agreed`, float64 (d, d) each.
    """
    d = vectors.shape[1]
    total, single, mean, n_texts = np.zeros((d, d)), np.zeros((d, d)), np.zeros(d), 0
    squares, cross = 0.0, np.zeros(d)
    for rows, belongs in batches:
        parts = np.asarray(rows @ vectors)
        sums = np.asarray(belongs @ parts)
        of_text = 1.0 / np.maximum(np.asarray(belongs.sum(axis=1)).ravel(), 1.0)
        share = np.asarray(belongs.T @ of_text)
        total += sums.T @ sums
        single += parts.T @ parts
        mean += sums.sum(axis=0)
        # The mean of a sentence is the mean of texts times the sentence's share of its text.
        cross += share @ parts
        squares += float(share @ share)
        n_texts += len(of_text)
    mean /= max(n_texts, 1)
    both = np.outer(mean, cross)
    return total - n_texts * np.outer(mean, mean), single - both - both.T + squares * np.outer(mean, mean)
