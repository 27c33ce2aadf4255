"""The scikit-learn transformer for tree-structured multi-stage PCA (TMPCA), and a text classifier with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted
from typing_extensions import Doc

from spectralnlp.estimator import MomentEstimator
from spectralnlp.linalg import one_blas_thread
from spectralnlp.runtime import Corpus, Moments, items_of
from spectralnlp_sketch.errors import MatrixError, SizeError
from spectralnlp_sketch.labelled import TextInput
from spectralnlp_sketch.stream import ConvertedCorpus
from spectralnlp_sketch.tmpca.information import StageReport, report_of
from spectralnlp_sketch.tmpca.lookup import Lookup
from spectralnlp_sketch.tmpca.moments import BATCH, PositionMoments, StageMoments, centred, extend
from spectralnlp_sketch.tmpca.segments import Elements, to_length
from spectralnlp_sketch.tmpca.stream import ElementsCorpus
from spectralnlp_sketch.words import StopWords, prepare, stop_list

Floats = NDArray[Any]


@dataclass(kw_only=True, eq=False, repr=False)
class TMPCA(
    TextInput, ClassNamePrefixFeaturesOutMixin, MomentEstimator[Any], TransformerMixin, BaseEstimator
):
    """Tree-structured multi-stage PCA (TMPCA): reduce a sequence of vectors (N, D) to one vector (D,).

    Su, Lin and Kuo 2019. At each stage, P adjacent vectors (``branching``) are concatenated and reduced to
    their D leading principal components, until one vector is left. This takes log_P N decompositions of
    PD × PD matrices instead of one of ND × ND.

    An example is a text, a list of tokens, or an array (n, D). Sequences longer than N vectors (``length``)
    are reduced to the means of N segments, and shorter ones are padded.

    Attributes:
        means_: mean of each position, float64 (N, D).
        stages_: projection matrix U^s (D, PD) of each stage s; rows are orthonormal, and the entry of largest
            magnitude in each is positive.
        system_matrix_: U (D, ND), the product of all stages, with orthonormal rows: y = U(x − mean).
        report_: energy and mutual information after each stage, as `StageReport`.
        n_sequences_: number of sequences seen.
        energy_: sum of squares of the centred input.

    Examples:
        >>> import numpy as np
        >>> from spectralnlp_sketch import TMPCA
        >>> rng = np.random.default_rng(0)
        >>> sentences = [rng.normal(size=(n, 6)) for n in (3, 5, 4, 7)]
        >>> TMPCA().fit(sentences).transform(sentences).shape
        (4, 6)
    """

    task = "sequences of vectors"

    vectors: Annotated[
        Any,
        Doc(
            "Word vectors: `spectralnlp.models.Vectors`, a mapping from words to arrays (D,), or "
            "gensim's KeyedVectors; None if examples are arrays."
        ),
    ] = None
    length: Annotated[int, Ge(2), Doc("Length of sequences (N), a power of ``branching``.")] = 8
    branching: Annotated[int, Ge(2), Doc("Number of adjacent vectors reduced to one at each stage (P).")] = 2
    mask_padding: Annotated[
        bool,
        Doc(
            "Whether padding is replaced by the mean and excluded from sums. If False, as published, padding "
            "counts as zero vectors, which dominate the variance of short texts."
        ),
    ] = True
    bigrams: Annotated[bool, Doc("Whether to append a text's bigrams to its words (section 4.3.1).")] = False
    stop_words: Annotated[
        StopWords,
        Doc("Words of texts to leave out: ``english``, a set of words, or None for none."),
    ] = None
    stem: Annotated[
        bool,
        Doc("Whether to stem words of texts (Porter); word vectors must then be those of stems."),
    ] = False

    def check_combination(self) -> None:
        """Check that ``length`` is a power of ``branching``, and that the stop-word list exists.

        Raises:
            ConfigError: ``length`` is not a power of ``branching``, or there is no such stop-word list.
        """
        self._n_stages()
        stop_list(self.stop_words)

    def as_corpus(self, X: Any, y: Any = None) -> Corpus[Any]:
        """Convert texts, token lists, arrays or a corpus of these to a corpus of sequences of vectors.

        Raises:
            ConfigError: ``vectors`` does not hold word vectors.
            MatrixError: there are no sequences, widths differ, or an array holds NaN or infinity.
        """
        examples = X if isinstance(X, Corpus) else _sequences(X)
        self.open_vectors(examples)
        return self._to_corpus(examples)

    def init_moments(self, corpus: Corpus[Any]) -> PositionMoments:
        """Return empty sums of vectors for each position of a sequence."""
        self.stages_: list[Floats] = []
        self.report_: list[StageReport] = []
        self.energy_ = 0.0
        return PositionMoments(self.length, self.size_)

    def solve(self, moments: Any) -> Moments[Any] | None:
        """Compute the means after the first pass, and learn a stage after each later pass.

        Returns:
            Empty moments for the next stage, which needs another pass; None after the last stage.

        Raises:
            MatrixError: there are no sequences, or none of their words has a vector.
        """
        if isinstance(moments, PositionMoments):
            self.means_ = self._checked_means(moments)
            return StageMoments(self.means_, self.branching)
        kept, rows = leading_components(moments.scatter, self.size_)
        self.energy_ = self.energy_ or float(np.trace(moments.scatter))
        before = self.system_matrix_ if self.stages_ else None
        self.stages_.append(rows)
        self.system_matrix_: Floats = extend(rows, before)
        stage = len(self.stages_)
        elements = self.length // self.branching**stage
        self.report_.append(report_of(stage, elements, kept, int(moments.n_rows), self.energy_))
        return StageMoments(self.means_, self.branching, self.system_matrix_) if elements > 1 else None

    def next_pass(self, corpus: Corpus[Any], moments: Moments[Any]) -> tuple[Corpus[Any], Moments[Any]]:
        """Return the corpus and the empty moments of the next pass over the data.

        Sequences in memory are replaced by the output of the last stage; a stream is read again and passes
        through all stages so far.
        """
        if not isinstance(corpus, ElementsCorpus) or not self.stages_:
            return corpus, moments
        first = len(self.stages_) == 1
        elements = self.length // self.branching ** len(self.stages_)
        zeros = np.zeros((elements, self.size_))
        means = self.means_ if first else np.zeros((elements * self.branching, self.size_))
        return corpus.through(self.stages_[-1], means), StageMoments(zeros, self.branching)

    def transform(self, X: Any) -> Floats:
        """Return one vector for each of m sequences, (m, D).

        With ``mask_padding``, the vector is zero for a text none of whose words has a vector.

        Raises:
            MatrixError: as for `fit`.
        """
        check_is_fitted(self)
        with one_blas_thread():
            parts = [self._transform(batch.examples) for batch in self._to_corpus(X).batches(BATCH)]
        return np.concatenate(parts) if parts else np.empty((0, self.size_))

    def _transform(self, elements: Any) -> Floats:
        rows = centred(elements, self.means_).reshape(len(elements), self.means_.size)
        return np.asarray(rows @ self.system_matrix_.T.astype(rows.dtype))

    def _checked_means(self, moments: PositionMoments) -> Floats:
        self.n_sequences_ = int(moments.n_rows)
        if not self.n_sequences_:
            raise MatrixError("there are no sequences to learn from")
        if not moments.counts.any() or (self.vectors is not None and not moments.sums.any()):
            hint = "are they of the same language, case and stems?"
            raise MatrixError("no word of any sequence has a vector", hint=hint)
        return moments.means

    def _n_stages(self) -> int:
        stages, reached = 0, 1
        while reached < self.length:
            stages, reached = stages + 1, reached * self.branching
        if stages == 0 or reached != self.length:
            what = f"length must be a power of branching ({self.branching}), not {self.length}"
            raise SizeError(what, hint=f"take {reached if stages else self.branching}")
        return stages

    # -----------------------------------------------------------------------------------------------------
    # Conversion of input to elements

    def open_vectors(self, X: Any) -> None:
        """Set the lookup of word vectors and the vector size D, from the setting ``vectors`` or the data."""
        self._lookup = None if self.vectors is None else Lookup(self.vectors)
        if self._lookup is not None:
            self.size_ = self._lookup.size
            return
        first = next(iter(X), None)
        if first is None:
            raise MatrixError("there are no sequences to learn from")
        if not isinstance(first, np.ndarray) or first.ndim != 2:
            raise MatrixError("sequence 0 is not an array (n, D)", hint="give word vectors")
        self.size_ = first.shape[1]

    def _to_corpus(self, X: Any) -> Corpus[Any]:
        if isinstance(X, Corpus):
            return ConvertedCorpus(X, self._to_elements)
        return ElementsCorpus(self._to_elements(_sequences(X), 0))

    def _to_elements(self, examples: Any, start: int) -> Elements:
        if isinstance(examples, np.ndarray) and examples.shape[1:] == (self.length, self.size_):
            _check_finite(examples.reshape(len(examples), self.length * self.size_), start)
            return Elements(_floats(examples), np.ones(examples.shape[:2], bool))
        arrays = [self._array(example, start + i) for i, example in enumerate(examples)]
        dtype = np.result_type(np.float32, *{each.dtype for each in arrays})
        elements = to_length(arrays, self.length, self.size_, dtype)
        return elements if self.mask_padding else Elements(elements.values, np.ones_like(elements.real))

    def _array(self, example: Any, number: int) -> Floats:
        """Return an example as an array of vectors (n, D); tokens without a vector are left out.

        Args:
            example: a text, a token list, or an array (n, D), which is returned unchanged.
            number: number of the example for error messages.
        """
        if isinstance(example, np.ndarray) and example.dtype.kind in "fiu":
            if example.ndim != 2 or example.shape[1] != self.size_:
                what = f"sequence {number} has the shape {example.shape} where (n, {self.size_}) is expected"
                raise MatrixError(what, hint="all vectors must be of one length")
            _check_finite(example.reshape(1, -1), number)
            return example
        if self._lookup is None:
            raise MatrixError(f"sequence {number} is not an array (n, D)", hint="give word vectors")
        if isinstance(example, str):
            return self._lookup.rows(prepare(example, self.stop_words, self.stem), self.bigrams)
        if not isinstance(example, Iterable):
            raise MatrixError(f"sequence {number} is neither text, tokens nor an array (n, D)")
        return self._lookup.rows([str(token) for token in example], self.bigrams)

    @property
    def _n_features_out(self) -> int:
        return self.size_


def tmpca_classifier(
    vectors: Any, *, hidden: tuple[int, ...] = (), random_state: int = 0, **settings: Any
) -> Pipeline:
    """Make the classifier of Su, Lin and Kuo 2019 (section 4.2, table 3): TMPCA and a dense layer.

    It is a pipeline of scikit-learn's: commands do not know it, and it is saved as pipelines are. A
    classifier over TMPCA that is a model is ``spectralnlp train intent`` with ``--set featurizer=tmpca``.
    Unlike in the paper, columns are scaled, and the layer is at its optimum, not after five epochs of Adam.

    Args:
        vectors: word vectors, as for `TMPCA`.
        hidden: numbers of units of hidden layers; empty for logistic regression, the paper's single layer.
        random_state: seed of the network's initial weights.
        settings: settings of `TMPCA`.

    Examples:
        >>> import numpy as np
        >>> from spectralnlp_sketch import tmpca_classifier
        >>> rng = np.random.default_rng(0)
        >>> vectors = {word: rng.normal(size=6) for word in "how much is it when does leave".split()}
        >>> model = tmpca_classifier(vectors)
        >>> model = model.fit(["how much is it", "when does it leave"] * 3, ["price", "times"] * 3)
        >>> model.predict(["how much"]).tolist()
        ['price']
    """
    dense = (
        MLPClassifier(hidden, early_stopping=True, random_state=random_state)
        if hidden
        else LogisticRegression(max_iter=1000)
    )
    return make_pipeline(TMPCA(vectors=vectors, **settings), StandardScaler(), dense)


def leading_components(scatter: Floats, n: int) -> tuple[Floats, Floats]:
    """Return the n largest eigenvalues (n,) of a scatter matrix and their eigenvectors as rows (n, width).

    The entry of largest magnitude in each eigenvector is positive.
    """
    values, vectors = np.linalg.eigh(scatter)
    rows = vectors[:, ::-1][:, :n].T
    signs = np.sign(rows[np.arange(n), np.abs(rows).argmax(axis=1)])
    return np.maximum(values[::-1][:n], 0.0), rows * signs[:, None]


def _sequences(X: Any) -> Any:
    hint = "give a list"
    listed = items_of(X, "several sequences are expected", hint=hint, error=MatrixError, rows=True)
    return listed if isinstance(listed, np.ndarray) else list(listed)


def _floats(array: Floats) -> Floats:
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def _check_finite(rows: Floats, start: int) -> None:
    """Raise MatrixError if a sequence of vectors holds NaN or infinity; the error names the sequence.

    Args:
        rows: the vectors of each sequence as one row.
        start: number of the first sequence.
    """
    if np.isfinite(rows).all():
        return
    number = start + int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
    raise MatrixError(f"sequence {number} (counted from 0) holds NaN or infinity")
