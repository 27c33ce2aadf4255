"""The prior that unlabelled text gives: known n-grams, their weights, and directions of their meaning.

A text is a row x of tf-idf n-grams. The prior is a matrix B, n-grams × dimensions: eigenwords of n-grams that
are words and of those of characters, and where texts are long the directions that the sentences of a text
agree on (`intent.agreement`). The head sees x and xB. Both are linear in x, so what it learns folds into one
table of scores, n-grams × classes: W + B W'.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from spectralnlp import registry
from spectralnlp.errors import InputError
from spectralnlp.linalg import one_blas_thread
from spectralnlp.progress import fit_pass
from spectralnlp.runtime import Corpus, InMemoryCorpus, MappedCorpus, current_memory, use_memory
from spectralnlp_sketch.errors import TextError
from spectralnlp_sketch.frequent_directions.kernels import add_gram
from spectralnlp_sketch.hashing.known import Ngrams
from spectralnlp_sketch.hashing.ngrams import NgramFormat, count_ngrams, spaced_words
from spectralnlp_sketch.intent.agreement import (
    ENOUGH_TEXTS,
    have_sentences,
    sentence_directions,
)
from spectralnlp_sketch.intent.featured import Featured
from spectralnlp_sketch.intent.head import Features, Weights
from spectralnlp_sketch.labelled import Example
from spectralnlp_sketch.stream import ConvertedCorpus

Array32 = NDArray[np.float32]
# N-grams of unlabelled texts that are in fewer of them tell nothing about others.
LEAST_TEXTS = 2
# Blocks of directions and the mean length of a text's projection on them, where that of its words and of its
# characters is 1: accuracy still rises up to these numbers, and longer projections drown n-grams.
EIGENWORD_DIMENSIONS, EIGENWORD_LENGTH = 300, 2.8
SENTENCE_DIMENSIONS, SENTENCE_LENGTH = 300, 3.0
# Eigenwords of less text than so many running words, some 6,000 queries, do more harm than good.
LEAST_WORDS = 50_000
# How far an eigenword's contexts reach: a wide window tells subjects apart, a narrow one parts of speech.
WINDOW = 6
# Of text that is not held: words that have eigenwords, for there is no end of words, and bytes of counts in
# memory; the rest goes to disk.
MOST_WORDS, COUNTS_BYTES = 2**15, 2**29
# Words whose spelling is learned from, the most frequent ones.
MOST_SPELLED = 5000
# Ridge of that regression, beside a squared length of 1 of each word's n-grams of characters.
SPELLING_RIDGE = 1.0
# Length of what the n-grams of characters say of a text, beside what its words say.
SPELLING_LENGTH = 1.5


@dataclass(frozen=True)
class Prior:
    """Directions of meaning.

    Args:
        ngrams: what is known.
        projection: float32 (n_single, d), a row for each n-gram but pairs; B.
        sparse_scale: length of a text's words, and of its characters.
        pair_scale: length of its pairs of words.
        dense_scale: factor of its projection.
        featured: rows that stand in place of projections; None for none.
    """

    ngrams: Ngrams
    projection: Array32
    sparse_scale: float = 1.0
    pair_scale: float = 1.0
    dense_scale: float = 1.0
    featured: Featured | None = None

    def features(self, rows: sp.csr_array, texts: Sequence[str] = ()) -> Features:
        """Features of texts for the head, from their rows, and from the texts if a featurizer is there."""
        with one_blas_thread():
            dense = np.ascontiguousarray(self.projected(rows, texts) * np.float32(self.dense_scale))
        scaled_rows = sp.csr_array(
            (rows.data * self._scales[rows.indices], rows.indices, rows.indptr), rows.shape
        )
        return Features(scaled_rows, dense)

    def weighted(self, scale: float, *, pairs: float, dense: float) -> Prior:
        """Return it with a factor of all features and weights of two parts' squares."""
        return replace(
            self,
            sparse_scale=scale,
            pair_scale=scale * pairs**0.5,
            dense_scale=scale * dense**0.5,
        )

    def with_texts(self, texts: Sequence[str], n_texts: int) -> Prior:
        """Know the n-grams of further labelled texts as `Ngrams.with_texts`; new ones have no direction."""
        ngrams, places = self.ngrams.with_texts(texts, n_texts)
        projection = np.zeros((ngrams.n_single, self.projection.shape[1]), np.float32)
        projection[places[: len(self.projection)]] = self.projection
        return replace(self, ngrams=ngrams, projection=projection)

    def projected(self, rows: sp.csr_array, texts: Sequence[str] = ()) -> Array32:
        """Projections of texts, unscaled, float32 (n_texts, d), from their rows; or a featurizer's rows."""
        if self.featured is not None:
            return self.featured.rows(texts)
        return np.asarray(rows[:, : len(self.projection)] @ self.projection, np.float32)

    @property
    def _scales(self) -> Array32:
        scales = np.full(len(self.ngrams.columns), self.sparse_scale, np.float32)
        scales[self.ngrams.n_single :] = self.pair_scale
        return scales

    def fold(self, weights: Weights) -> Array32:
        """One table of scores for what is linear in the n-grams, float32 (n_ngrams, n_classes)."""
        with one_blas_thread():
            table = self._scales[:, None] * weights.sparse
            if self.featured is None:
                dense = np.float32(self.dense_scale) * weights.dense
                table[: len(self.projection)] += self.projection @ dense
        return table

    def feature_scores(self, weights: Weights) -> tuple[Array32, Array32]:
        """Scores of a featurizer's columns, float32 (n_features, n_classes), and what its mean takes away."""
        assert self.featured is not None
        table = np.float32(self.dense_scale * self.featured.factor) * weights.dense
        return table, self.featured.mean @ table


def eigenword_directions(
    rows: sp.csr_array,
    ngrams: Ngrams,
    texts: Sequence[str] | Corpus[Example],
    dimensions: int,
    window: int,
    scale: float,
    random_state: int,
) -> Array32:
    """Eigenwords of the n-grams that are one word, and of those of characters.

    They are scaled so that a text's projection has the mean length ``scale``. Contexts are the words at most
    ``window`` away, on either side alike: a wide window tells subjects apart. Characters have the share that
    `spelled_directions` gives them, so that forms of a word, and words that no text had, are near those that
    are spelled alike.

    Returns:
        float32 (n_ngrams, at most dimensions); no columns where there is too little text.
    """
    nothing = np.zeros((len(ngrams.columns), 0), np.float32)
    lines = _lines_of(texts, ngrams.form.lowercase)
    if lines is None:
        return nothing
    eigenwords = registry.estimators.get("eigenwords.v1")(
        dimensions=dimensions,
        window=window,
        positions="pooled",
        spelling=False,
        lowercase=False,
        min_count=3,
        vocabulary=MOST_WORDS if isinstance(texts, Corpus) else None,
        random_state=random_state,
    )
    with warnings.catch_warnings(), _memory_for(texts):
        warnings.simplefilter("ignore")  # little text has few directions: all there are will do
        try:
            vectors = eigenwords.fit(lines).word_vectors_
        except InputError:
            return nothing
    single = NgramFormat((1, 1), None, ngrams.form.mask + 1, lowercase=False)
    columns = count_ngrams(vectors.words, single).indices
    place = np.searchsorted(ngrams.columns, columns)
    known = ngrams.columns[np.minimum(place, len(ngrams.columns) - 1)] == columns
    directions = np.zeros((len(ngrams.columns), vectors.vectors.shape[1]), np.float32)
    # The most frequent word comes first: it keeps a column that others share.
    directions[place[known][::-1]] = vectors.vectors[known][::-1]
    words = [word for word, is_known in zip(vectors.words, known, strict=True) if is_known][:MOST_SPELLED]
    if ngrams.n_words < ngrams.n_single and words:
        spelled = spelled_directions(words, vectors.vectors[known][: len(words)], ngrams)
        n = ngrams.n_words
        directions[:n] = scaled(rows[:, :n], directions[:n], 1.0)
        directions[n:] = scaled(rows[:, n:], spelled[n:], SPELLING_LENGTH)
    return scaled(rows, directions, scale)


def _lines_of(texts: Sequence[str] | Corpus[Example], lowercase: bool) -> Corpus[str] | None:
    """Words with blanks between them, of each text; None where there are too few."""
    if isinstance(texts, Corpus):
        return ConvertedCorpus(texts, partial(_spaced, lowercase=lowercase))
    lines = spaced_words(texts, lowercase)
    return InMemoryCorpus(lines) if sum(len(line.split()) for line in lines) >= LEAST_WORDS else None


def _memory_for(texts: Sequence[str] | Corpus[Example]) -> AbstractContextManager[Any]:
    """Bound the counts of texts that are not held, unless the caller does."""
    is_bounded = not isinstance(texts, Corpus) or current_memory() is not None
    return nullcontext() if is_bounded else use_memory(COUNTS_BYTES)


def _spaced(examples: Sequence[Example], start: int, *, lowercase: bool) -> list[str]:
    return spaced_words([example[0] for example in examples], lowercase)


def text_of(example: Example) -> str:
    """The text of an example, whatever its label."""
    return example[0]


def long_text_directions(
    rows: sp.csr_array, ngrams: Ngrams, texts: Sequence[str], dimensions: int, random_state: int
) -> Array32:
    """Directions that the sentences of a text agree on; those of n-grams of characters are 0."""
    n = ngrams.n_words
    words = rows[:, :n]
    form = NgramFormat(ngrams.form.words, None, ngrams.form.mask + 1, ngrams.form.lowercase)
    found = sentence_directions(
        texts, words, ngrams.columns[:n], ngrams.idf[:n], form, dimensions, random_state
    )
    directions = np.zeros((len(ngrams.columns), found.shape[1]), np.float32)
    directions[:n] = scaled(words, found, SENTENCE_LENGTH)
    return directions


def spelled_directions(words: Sequence[str], vectors: Array32, ngrams: Ngrams) -> Array32:
    """Directions of n-grams of characters whose sums over a word are nearest its vector: ridge regression.

    Args:
        words: what is spelled.
        vectors: float32 (n_words, d); of each.
        ngrams: the n-grams that are known.

    Returns:
        float32 (n_ngrams, d); 0 but for n-grams of characters.
    """
    rows = ngrams.rows_of(words)[:, ngrams.n_words : ngrams.n_single]
    by_ngram, products = rows.T.tocsr(), np.zeros((len(words), len(words)))
    add_gram(by_ngram.indptr, by_ngram.indices, by_ngram.data.astype(np.float64), products)
    products[np.diag_indices_from(products)] += SPELLING_RIDGE
    solved = cho_solve(cho_factor(products.T, overwrite_a=True), vectors.astype(np.float64))
    directions = np.zeros((len(ngrams.columns), vectors.shape[1]), np.float32)
    directions[ngrams.n_words : ngrams.n_single] = rows.T @ solved.astype(np.float32)
    return directions


def scaled(rows: sp.csr_array, directions: Array32, scale: float) -> Array32:
    """Directions times what gives the rows' projections the mean length ``scale``."""
    lengths = np.linalg.norm(rows @ directions, axis=1)
    return directions * np.float32(scale / max(float(lengths.mean()), 1e-12))


def learn_prior(
    texts: Sequence[str],
    n_labelled: int,
    form: NgramFormat,
    random_state: int,
    *,
    featurizer: str | None = None,
    stream: Corpus[Example] | None = None,
) -> tuple[Prior, sp.csr_array]:
    """The prior from all texts, and their rows.

    Args:
        texts: the labelled ones first; all n-grams of those are kept.
        n_labelled: how many those are.
        form: how texts are cut into n-grams.
        random_state: seed.
        featurizer: name or folder of one to take in place of directions.
        stream: all texts, where ``texts`` are some of them: directions are learned from these.

    Raises:
        TextError: no text has anything in it.
        ConfigError: the featurizer does not suit.
    """
    with fit_pass("n-grams"):
        counts = count_ngrams(texts, form)
        ngrams = Ngrams.learn(counts, form, LEAST_TEXTS, counts[:n_labelled].indices)
        if not len(ngrams.columns):
            raise TextError("the texts are all empty", hint="give texts with words in them")
        rows = ngrams.rows(counts)
    blocks = [np.zeros((len(ngrams.columns), 0), np.float32)]
    if featurizer is not None:
        everything = InMemoryCorpus(texts) if stream is None else MappedCorpus(stream, text_of)
        featured = Featured.learn(featurizer, everything, texts)
        return Prior(ngrams, blocks[0], featured=featured), rows
    by_sentences = bool(ngrams.n_words) and have_sentences(texts)
    with one_blas_thread():
        if by_sentences:
            with fit_pass("sentences"):
                blocks.append(long_text_directions(rows, ngrams, texts, SENTENCE_DIMENSIONS, random_state))
        if not (by_sentences and len(texts) >= ENOUGH_TEXTS):
            with fit_pass("eigenwords"):
                blocks.append(
                    eigenword_directions(
                        rows,
                        ngrams,
                        texts if stream is None else stream,
                        EIGENWORD_DIMENSIONS,
                        WINDOW,
                        EIGENWORD_LENGTH,
                        random_state,
                    )
                )
    return Prior(ngrams, np.hstack(blocks)), rows
