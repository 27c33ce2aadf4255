"""Learn text features without labels (the prior): n-grams, their idf, and vectors of n-grams.

A text is a tf-idf row x of n-grams. The prior has a matrix B (n-grams × dimensions) with a vector for each
n-gram: eigenwords for words, vectors derived from them for n-grams of characters and, for long texts,
directions that correlate between the sentences of a text (`intent.agreement`). The features of the linear
classifier (head) are x and the projection xB. If x has the weights W and xB the weights W′ in the head, its
scores are x (W + B W′), so one table W + B W′ of scores (n-grams × classes) is stored.
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
from spectralnlp_sketch.hashing.ngrams import NgramFormat, Ngrams, count_ngrams, spaced_words
from spectralnlp_sketch.intent.agreement import (
    ENOUGH_TEXTS,
    have_sentences,
    sentence_directions,
)
from spectralnlp_sketch.intent.head import Features, Weights
from spectralnlp_sketch.intent.scaled_featurizer import ScaledFeaturizer
from spectralnlp_sketch.labelled import Example
from spectralnlp_sketch.stream import ConvertedCorpus

Array32 = NDArray[np.float32]
# N-grams in fewer texts are ignored unless they are in labelled ones.
MIN_TEXTS = 2
# Mean squared length of a text's features: 1 for words and 1 for characters.
SQUARE = 2.0
# Number of directions and mean length of a text's projection; the n-grams of words and of characters have
# length 1 each. Accuracy rises up to these numbers; longer projections dominate the n-grams.
EIGENWORD_DIMENSIONS, EIGENWORD_LENGTH = 300, 2.8
SENTENCE_DIMENSIONS, SENTENCE_LENGTH = 300, 3.0
# Minimum number of running words (about 6,000 queries); eigenwords of less text do more harm than good.
MIN_WORDS = 50_000
# Width of contexts of eigenwords: wide windows distinguish topics, narrow ones parts of speech.
WINDOW = 6
# For streamed text: maximum number of words with eigenwords, and bytes of counts in memory; further counts go
# to disk.
MAX_WORDS, COUNTS_BYTES = 2**15, 2**29
# Number of words from whose spelling is learned; the most frequent are used.
MAX_SPELLED = 5000
# Ridge of that regression; the n-grams of characters of each word have squared length 1.
SPELLING_RIDGE = 1.0
# Length of the projection of a text's n-grams of characters, relative to that of its words.
SPELLING_LENGTH = 1.5


@dataclass(frozen=True)
class Prior:
    """Vocabulary of n-grams with their vectors, which converts texts to features of the classifier.

    Args:
        ngrams: the n-grams that occur in the training texts, with their idf.
        projection: matrix B, float32 (n_single, d), with a vector for each of the n_single n-grams that are
            not pairs of words.
        sparse_scale: length to which a text's n-grams of words, and those of characters, are scaled.
        pair_scale: length to which the text's pairs of words are scaled.
        dense_scale: factor by which the text's projection xB is multiplied.
        scaled_featurizer: featurizer whose rows replace projections; None for none.
    """

    ngrams: Ngrams
    projection: Array32
    sparse_scale: float = 1.0
    pair_scale: float = 1.0
    dense_scale: float = 1.0
    scaled_featurizer: ScaledFeaturizer | None = None

    def features(self, rows: sp.csr_array, texts: Sequence[str] = ()) -> Features:
        """Return the features of texts for the linear classifier.

        Args:
            rows: tf-idf rows of the texts (n_texts, n_ngrams).
            texts: the texts; needed only if the prior has a featurizer.
        """
        with one_blas_thread():
            dense = np.ascontiguousarray(self.projected(rows, texts) * np.float32(self.dense_scale))
        scaled_rows = sp.csr_array(
            (rows.data * self._scales[rows.indices], rows.indices, rows.indptr), rows.shape
        )
        return Features(scaled_rows, dense)

    def weighted(self, rows: sp.csr_array, texts: Sequence[str], *, pairs: float, dense: float) -> Prior:
        """Return a prior whose features of the given texts have the mean squared length `SQUARE`.

        Args:
            rows: tf-idf rows of the texts (n_texts, n_ngrams).
            texts: the texts.
            pairs, dense: weights of pairs of words and of projections in inner products of features, relative
                to a weight of 1 for n-grams of words and of characters.
        """
        projected, squares = self.projected(rows, texts), rows.data.astype(np.float64) ** 2
        of_pairs = float(squares[rows.indices >= self.ngrams.n_single].sum())
        total = float(squares.sum()) - of_pairs + pairs * of_pairs
        total += dense * float(np.einsum("ij,ij->", projected, projected, dtype=np.float64))
        scale = float((SQUARE * max(len(projected), 1) / max(total, 1e-9)) ** 0.5)
        return replace(
            self,
            sparse_scale=scale,
            pair_scale=scale * pairs**0.5,
            dense_scale=scale * dense**0.5,
        )

    def with_texts(self, texts: Sequence[str], n_texts: int) -> Prior:
        """Return a larger prior that also contains the n-grams of new labelled texts, with vectors of zero.

        Pairs of words in the new texts are not added.

        Args:
            texts: the new labelled texts.
            n_texts: total number of texts, old and new, from which the idf of new n-grams is computed.
        """
        ngrams, places = self.ngrams.with_texts(texts, n_texts)
        projection = np.zeros((ngrams.n_single, self.projection.shape[1]), np.float32)
        projection[places[: len(self.projection)]] = self.projection
        return replace(self, ngrams=ngrams, projection=projection)

    def projected(self, rows: sp.csr_array, texts: Sequence[str] = ()) -> Array32:
        """Return projections of texts, or rows of the featurizer, before scaling; float32 (n_texts, d).

        Args:
            rows: tf-idf rows of the texts (n_texts, n_ngrams).
            texts: the texts; needed only if the prior has a featurizer.
        """
        if self.scaled_featurizer is not None:
            return self.scaled_featurizer.rows(texts)
        return np.asarray(rows[:, : len(self.projection)] @ self.projection, np.float32)

    @property
    def _scales(self) -> Array32:
        scales = np.full(len(self.ngrams.columns), self.sparse_scale, np.float32)
        scales[self.ngrams.n_single :] = self.pair_scale
        return scales

    def fold(self, weights: Weights) -> Array32:
        """Fold the weights of sparse and dense features into one table of scores for n-grams and classes.

        Dense features from a featurizer are left out; `feature_scores` folds their weights.

        Args:
            weights: weights of the linear classifier (head).

        Returns:
            Scores of n-grams, float32 (n_ngrams, n_classes).
        """
        with one_blas_thread():
            table = self._scales[:, None] * weights.sparse
            if self.scaled_featurizer is None:
                dense = np.float32(self.dense_scale) * weights.dense
                table[: len(self.projection)] += self.projection @ dense
        return table

    def feature_scores(self, weights: Weights) -> tuple[Array32, Array32]:
        """Convert the weights of centred and scaled featurizer rows to scores of the rows themselves.

        Args:
            weights: weights of the linear classifier (head).

        Returns:
            Scores of the featurizer's columns, float32 (n_features, n_classes); and the scores of its mean
            row, float32 (n_classes,), which must be subtracted from the bias.
        """
        assert self.scaled_featurizer is not None
        table = np.float32(self.dense_scale * self.scaled_featurizer.factor) * weights.dense
        return table, self.scaled_featurizer.mean @ table


def eigenword_directions(
    rows: sp.csr_array,
    ngrams: Ngrams,
    texts: Sequence[str] | Corpus[Example],
    dimensions: int,
    window: int,
    scale: float,
    random_state: int,
) -> Array32:
    """Return vectors of n-grams: eigenwords for single words, derived vectors for n-grams of characters.

    Vectors of character n-grams come from `spelled_directions`, so that inflected forms and unseen words are
    close to words of similar spelling. All vectors are multiplied by one factor, so that the projections of
    texts have the mean length ``scale``. The contexts of an eigenword are the words at most ``window`` words
    before or after it; their positions are not distinguished.

    Args:
        rows: tf-idf rows of the texts (n_texts, n_ngrams).
        ngrams: the vocabulary of n-grams.
        texts: the texts from which eigenwords are learned.
        dimensions: maximum number of dimensions.
        window: maximum distance of a context word.
        scale: mean length of projections.
        random_state: seed of eigenwords.

    Returns:
        Vectors as rows, float32 (n_ngrams, at most ``dimensions``); no columns if there is too little text.
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
        vocabulary=MAX_WORDS if isinstance(texts, Corpus) else None,
        random_state=random_state,
    )
    with warnings.catch_warnings(), _memory_for(texts):
        warnings.simplefilter("ignore")  # with little text there may be fewer directions, which is fine
        try:
            vectors = eigenwords.fit(lines).word_vectors_
        except InputError:
            return nothing
    single = NgramFormat((1, 1), None, ngrams.form.mask + 1, lowercase=False)
    columns = count_ngrams(vectors.words, single).indices
    place = np.searchsorted(ngrams.columns, columns)
    known = ngrams.columns[np.minimum(place, len(ngrams.columns) - 1)] == columns
    directions = np.zeros((len(ngrams.columns), vectors.vectors.shape[1]), np.float32)
    # The most frequent word comes first, and keeps a column that several words share.
    directions[place[known][::-1]] = vectors.vectors[known][::-1]
    words = [word for word, is_known in zip(vectors.words, known, strict=True) if is_known][:MAX_SPELLED]
    if ngrams.n_words < ngrams.n_single and words:
        spelled = spelled_directions(words, vectors.vectors[known][: len(words)], ngrams)
        n = ngrams.n_words
        directions[:n] = scaled(rows[:, :n], directions[:n], 1.0)
        directions[n:] = scaled(rows[:, n:], spelled[n:], SPELLING_LENGTH)
    return scaled(rows, directions, scale)


def _lines_of(texts: Sequence[str] | Corpus[Example], lowercase: bool) -> Corpus[str] | None:
    """Return texts as lines of words, from which eigenwords are learned; None if there are too few words.

    Characters that are not part of a word are replaced by blanks. The words of a stream are not counted, so
    the result for a stream is never None.

    Args:
        texts: list of texts, or corpus of examples (a stream).
        lowercase: whether to lowercase texts.
    """
    if isinstance(texts, Corpus):
        return ConvertedCorpus(texts, partial(_spaced, lowercase=lowercase))
    lines = spaced_words(texts, lowercase)
    return InMemoryCorpus(lines) if sum(map(len, map(str.split, lines))) >= MIN_WORDS else None


def _memory_for(texts: Sequence[str] | Corpus[Example]) -> AbstractContextManager[Any]:
    """Return a context manager that limits the memory for word counts while eigenwords are learned.

    It changes nothing if the texts are a list and not a stream, or if a limit is already set.
    """
    is_bounded = not isinstance(texts, Corpus) or current_memory() is not None
    return nullcontext() if is_bounded else use_memory(COUNTS_BYTES)


def _spaced(examples: Sequence[Example], start: int, *, lowercase: bool) -> list[str]:
    return spaced_words([example[0] for example in examples], lowercase)


def text_of(example: Example) -> str:
    """Return the text of an example."""
    return example[0]


def long_text_directions(
    rows: sp.csr_array, ngrams: Ngrams, texts: Sequence[str], dimensions: int, random_state: int
) -> Array32:
    """Return directions of n-grams of words that correlate between the sentences of texts.

    They are scaled so that the projections of texts have the mean length `SENTENCE_LENGTH`.

    Args:
        rows: tf-idf rows of the texts (n_texts, n_ngrams).
        ngrams: the vocabulary of n-grams.
        texts: texts to learn from, most of them with several sentences.
        dimensions: maximum number of directions.
        random_state: seed of the SVD.

    Returns:
        Directions as columns, float32 (n_ngrams, at most ``dimensions``); zero for n-grams of characters.
    """
    n = ngrams.n_words
    words = rows[:, :n]
    form = NgramFormat(ngrams.form.words, None, ngrams.form.mask + 1, ngrams.form.lowercase)
    of_words = sentence_directions(
        texts, words, ngrams.columns[:n], ngrams.idf[:n], form, dimensions, random_state
    )
    directions = np.zeros((len(ngrams.columns), of_words.shape[1]), np.float32)
    directions[:n] = scaled(words, of_words, SENTENCE_LENGTH)
    return directions


def spelled_directions(words: Sequence[str], vectors: Array32, ngrams: Ngrams) -> Array32:
    """Fit vectors of character n-grams whose weighted sums approximate word vectors, by ridge regression.

    Args:
        words: words with known vectors.
        vectors: vectors of these words, float32 (n_words, d).
        ngrams: the vocabulary of n-grams.

    Returns:
        Vectors as rows, float32 (n_ngrams, d); zero except for n-grams of characters.
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
    """Multiply directions by one factor, so that projections of rows have the mean length ``scale``.

    Args:
        rows: rows to project (n, m).
        directions: directions as columns, float32 (m, d).
        scale: mean length of the projections.
    """
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
    """Learn the prior from texts without their labels: n-grams, their idf, and vectors of n-grams.

    The vectors are eigenwords or, for many texts of several sentences, directions that correlate between
    sentences, or both. A featurizer, if one is named, replaces the vectors.

    Args:
        texts: texts, the labelled ones first; all n-grams of labelled texts are kept.
        n_labelled: number of labelled texts.
        form: format in which n-grams are counted.
        random_state: seed of eigenwords and of the SVD.
        featurizer: name or folder of a featurizer to use instead of vectors; None for vectors.
        stream: corpus of all texts if ``texts`` is a sample; eigenwords or the featurizer are learned from
            it. None if ``texts`` holds all texts.

    Returns:
        The prior, and the tf-idf rows of ``texts``, CSR float32 (n_texts, n_ngrams).

    Raises:
        TextError: all texts are empty.
        ConfigError: the featurizer cannot be used.
    """
    with fit_pass("n-grams"):
        counts = count_ngrams(texts, form)
        ngrams = Ngrams.learn(counts, form, MIN_TEXTS, counts[:n_labelled].indices)
        if not len(ngrams.columns):
            raise TextError("the texts are all empty", hint="give texts with words in them")
        rows = ngrams.rows(counts)
    blocks = [np.zeros((len(ngrams.columns), 0), np.float32)]
    if featurizer is not None:
        everything = InMemoryCorpus(texts) if stream is None else MappedCorpus(stream, text_of)
        scaled_featurizer = ScaledFeaturizer.learn(featurizer, everything, texts)
        return Prior(ngrams, blocks[0], scaled_featurizer=scaled_featurizer), rows
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
