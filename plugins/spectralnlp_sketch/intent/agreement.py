"""Directions that the sentences of a text agree on.

What a text is about, and what its author thinks of it, stands in many of its sentences; what one sentence
happens to say does not stand in the next. So sentences are views of a text, each as good as the others for
telling its label, and what correlates between them is what labels can be about (Kakade and Foster 2007,
*Multi-view regression via canonical correlation analysis*). All ways to split a text's parts between two
views are taken at once: the covariance of a text with itself, less those of its sentences with themselves.
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
from spectralnlp_sketch.hashing.ngrams import NgramFormat, count_ngrams

Array32 = NDArray[np.float32]
Floats = NDArray[np.float64]
# Parts of texts, and which text has which.
PartRows: TypeAlias = tuple[sp.csr_array, sp.csr_array]

# With fewer texts of two sentences or more there is too little to see correlations of.
LEAST_TEXTS = 8000
# Such texts have so many sentences, on the average.
LEAST_SENTENCES = 3.0
# With so many texts other directions add nothing.
ENOUGH_TEXTS = 20_000
# Singular vectors in whose space directions are looked for: one for so many texts, and no more than these.
TEXTS_A_VECTOR, MOST_VECTORS = 50, 1000
# N-grams of words that have directions: the most frequent ones.
MOST_NGRAMS = 100_000
# Beside a mean variance of 1.
RIDGE = 0.2
# Directions are as long as this power of the share of their variance that parts agree on.
POWER = 4
_BATCH = 2000
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")


def sentences_of(text: str) -> list[str]:
    """Split a text behind full stops, exclamation marks and question marks, and at line ends."""
    return [each for each in _SENTENCE_END.split(text) if each.strip()]


def have_sentences(texts: Sequence[str]) -> bool:
    """Tell whether there are enough texts of several sentences."""
    if len(texts) < LEAST_TEXTS:
        return False
    counts = np.fromiter((len(sentences_of(text)) for text in texts), np.int64, len(texts))
    several = counts[counts > 1]
    return len(several) >= LEAST_TEXTS and float(several.mean()) >= LEAST_SENTENCES


def sentence_directions(
    texts: Sequence[str],
    rows: sp.csr_array,
    columns: NDArray[np.int32],
    idf: Array32,
    form: NgramFormat,
    dimensions: int,
    random_state: int,
) -> Array32:
    """Return directions of n-grams of words that sentences agree on, the one that they do most first.

    Args:
        texts: of several sentences, as a rule.
        rows: of the texts, tf-idf of n-grams of words (n_texts, n_words).
        columns: int32 (n_words,); columns of those in ``form``.
        idf: float32 (n_words,).
        form: how n-grams of words are counted.
        dimensions: how many directions, at most.
        random_state: seed.

    Returns:
        float32 (n_words, at most ``dimensions``).
    """
    frequencies = np.bincount(rows.indices, minlength=rows.shape[1])
    frequent = np.sort(np.argsort(-frequencies, kind="stable")[:MOST_NGRAMS])
    rank = min(MOST_VECTORS, max(len(texts) // TEXTS_A_VECTOR, 1))
    _, _, vectors = sparse_svd(rows[:, frequent], rank, iterations=2, random_state=random_state)
    total, single = _covariances(part_rows(texts, columns[frequent], idf[frequent], form), vectors)
    found = vectors @ most_agreed(total, single)[:, :dimensions].astype(np.float32)
    directions = np.zeros((rows.shape[1], found.shape[1]), np.float32)
    directions[frequent] = found
    return directions


def most_agreed(total: Floats, single: Floats) -> Floats:
    """Solve (T − W) a = ρ (T + λ I) a, λ a share of T's mean variance; a has unit variance times ρ⁴.

    Args:
        total: T, float64 (d, d); covariance of texts, which are sums of their parts.
        single: W, float64 (d, d); sum of the covariances of parts.

    Returns:
        float64 (d, at most d); columns a, of the largest ρ first, those of positive ρ.
    """
    ridged = total.copy()
    ridged[np.diag_indices_from(ridged)] += max(RIDGE * float(np.trace(total)) / len(total), 1e-12)
    variances, axes = np.linalg.eigh(ridged)
    whitening = axes / np.sqrt(variances) @ axes.T
    shares, found = np.linalg.eigh(whitening @ (total - single) @ whitening)
    shares, found = shares[::-1], whitening @ found[:, ::-1]
    positive = shares > 0
    found = found[:, positive] * shares[positive] ** POWER
    largest = np.abs(found).argmax(axis=0)
    return np.asarray(found * np.sign(found[largest, np.arange(found.shape[1])]))


def part_rows(
    texts: Sequence[str],
    columns: NDArray[np.int32],
    idf: Array32,
    form: NgramFormat,
) -> Iterator[PartRows]:
    """Sentences as rows of idf, of which those of a text add up to length 1, and which texts have which.

    Args:
        texts: texts.
        columns: int32 (n,); columns of n-grams in ``form``, ascending.
        idf: float32 (n,).
        form: how n-grams are counted.

    Yields:
        float32 (n_parts, n), and float32 (n_texts, n_parts), 1 where a text has a part; some texts at a time.
    """
    place = np.full(form.n_columns, -1, np.int64)
    place[columns] = np.arange(len(columns))
    for begin in range(0, len(texts), _BATCH):
        parts = [sentences_of(text) for text in texts[begin : begin + _BATCH]]
        of_text = np.repeat(np.arange(len(parts)), [len(each) for each in parts])
        counts = count_ngrams(list(chain.from_iterable(parts)), form)
        known = place[counts.indices] >= 0
        indices = place[counts.indices[known]]
        starts = np.append(0, np.cumsum(known))[counts.indptr]
        rows = sp.csr_array((idf[indices], indices, starts), shape=(counts.shape[0], len(idf)))
        ones = np.ones(len(of_text), np.float32)
        belongs = sp.csr_array((ones, (of_text, np.arange(len(of_text)))), shape=(len(parts), len(of_text)))
        lengths = np.sqrt(np.asarray((belongs @ rows).power(2).sum(axis=1)).ravel())
        factors = 1.0 / np.maximum(lengths, 1e-9)[of_text].astype(np.float32)
        rows.data *= np.repeat(factors, np.diff(rows.indptr))
        yield rows, belongs


def _covariances(batches: Iterator[PartRows], vectors: Array32) -> tuple[Floats, Floats]:
    """Covariances of texts, and of their parts, in the space of the vectors: float64 (d, d) each."""
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
        # A part's mean is that of texts times its share in its text.
        cross += share @ parts
        squares += float(share @ share)
        n_texts += len(of_text)
    mean /= max(n_texts, 1)
    both = np.outer(mean, cross)
    return total - n_texts * np.outer(mean, mean), single - both - both.T + squares * np.outer(mean, mean)
