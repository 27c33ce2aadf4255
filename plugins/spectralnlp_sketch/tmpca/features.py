"""Featurizer ``tmpca.v1``: word vectors of a text, learned from the texts or loaded, reduced by TMPCA."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Self

import numpy as np
from annotated_types import Ge
from sklearn.utils.validation import check_is_fitted
from typing_extensions import Doc

import spectralnlp
from spectralnlp import registry
from spectralnlp.errors import ConfigError
from spectralnlp.estimator import MomentEstimator
from spectralnlp.runtime import Corpus, MappedCorpus, Moments
from spectralnlp.storage import Array, StoredArrays, StoredValues, float_array
from spectralnlp_sketch.featurizer import TextFeaturizer, single_precision
from spectralnlp_sketch.hashing.ngrams import checked_texts
from spectralnlp_sketch.tmpca.estimator import TMPCA
from spectralnlp_sketch.words import prepare, stop_list

# Maximum number of words whose vectors are learned; the most frequent are taken.
MAX_WORDS = 50_000


@dataclass(kw_only=True, eq=False, repr=False)
class TMPCAFeatures(TextFeaturizer, MomentEstimator[str]):
    """Featurizer that reduces a text's word vectors to one vector with `TMPCA`.

    The word vectors are eigenwords learned from the same texts, or are loaded from a folder. As published
    (Su, Lin and Kuo 2019) are ``mask_padding=False``, ``stop_words="english"`` and ``stem=True``, in their
    tables 4 to 6 also ``bigrams=True``; their word vectors are fastText's.

    Attributes:
        words_: the words that have vectors.
        vectors_: word vectors, float32 (n_words, D).
        tmpca_: the fitted `TMPCA`.
        n_texts_: number of texts learned from.

    Examples:
        >>> from spectralnlp_sketch import TMPCAFeatures
        >>> texts = ["the boat left", "a boat left the sea", "the oven is hot", "the bread is hot"] * 3
        >>> TMPCAFeatures(dimensions=2).fit(texts).transform(texts).shape
        (12, 2)
    """

    vectors: Annotated[
        str | None, Doc("Folder of word vectors; null to learn eigenwords, in one more pass.")
    ] = None
    dimensions: Annotated[int, Ge(1), Doc("Length of eigenwords and columns of `transform`.")] = field(
        default=50, kw_only=False
    )
    length: Annotated[int, Ge(2), Doc("Length of sequences (N), a power of two.")] = 8
    mask_padding: Annotated[
        bool,
        Doc("Whether padding is replaced by the mean and excluded from sums; if False, it is zero vectors."),
    ] = True
    bigrams: Annotated[bool, Doc("Whether to append a text's bigrams to its words.")] = False
    stop_words: Annotated[
        str | list[str] | tuple[str, ...] | None,
        Doc("Words to leave out: ``english``, a list of words, or null for none."),
    ] = None
    stem: Annotated[
        bool, Doc("Whether to stem words (Porter); loaded word vectors must then be those of stems.")
    ] = False
    random_state: Annotated[int, Ge(0), Doc("Seed of the eigenwords.")] = 0

    def check_combination(self) -> None:
        """Check that ``length`` is a power of two, so that each stage can halve the sequences.

        Raises:
            ConfigError: ``length`` is not a power of two, or there is no such stop-word list.
        """
        TMPCA(length=self.length).validate()
        stop_list(self.stop_words)

    def as_corpus(self, X: Any, y: Any = None) -> Corpus[Any]:
        """Return a corpus of texts as word lists; load the word vectors if ``vectors`` is set.

        Raises:
            TextError: an element is not a text.
            ConfigError: ``vectors`` is not a folder of word vectors.
            ModelError: the folder is damaged.
        """
        if self.vectors is not None:
            loaded = spectralnlp.load(self.vectors)
            if loaded.task != "vectors":
                raise ConfigError(f"a model for {loaded.task}, not of word vectors", path=self.vectors)
            self._take_vectors(loaded.parameters.words, loaded.parameters.vectors)
        return MappedCorpus(super().as_corpus(X, y), self._words_of)

    def init_moments(self, corpus: Corpus[Any]) -> Moments[Any]:
        """Return empty counts, from which eigenwords are learned."""
        self.eigenwords_ = registry.estimators.get("eigenwords.v1")(
            dimensions=self.dimensions,
            vocabulary=MAX_WORDS,
            min_count=2,
            spelling=False,
            random_state=self.random_state,
        )
        moments: Moments[Any] = self.eigenwords_.init_moments(corpus)
        return moments

    def solve(self, moments: Any) -> None:
        """Learn word vectors.

        Raises:
            InputError: fewer than two words occur often enough.
        """
        self.eigenwords_.solve(moments)
        learned = self.eigenwords_.word_vectors_
        del self.eigenwords_
        self._take_vectors(learned.words, learned.vectors)

    def _run_passes(self, corpus: Corpus[Any]) -> Self:
        if self.vectors is None:
            super()._run_passes(corpus)
        self.tmpca_.fit(corpus)
        self.n_texts_ = self.tmpca_.n_sequences_
        self.tmpca_.open_vectors(())  # clear the cache of looked-up words, which differs between workers
        return self

    def transform(self, X: Iterable[str]) -> Any:
        """Return a vector for each text, float32 (n_texts, D); 0 for a text without known words."""
        check_is_fitted(self)
        return np.asarray(self.tmpca_.transform(list(map(self._words_of, checked_texts(X)))), np.float32)

    @property
    def _n_features_out(self) -> int:
        return int(self.vectors_.shape[1])

    def _take_vectors(self, words: Iterable[str], vectors: Any) -> None:
        """Store words and their vectors, and make the unfitted `TMPCA`."""
        self.words_, self.vectors_ = tuple(words), np.asarray(vectors, np.float32)
        known = dict(zip(self.words_, self.vectors_, strict=True))
        self.tmpca_ = TMPCA(
            vectors=known, length=self.length, mask_padding=self.mask_padding, bigrams=self.bigrams
        )
        self.tmpca_.open_vectors(())

    def to_stored(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return values and arrays to save: words, vectors, means of positions, and the matrix U of TMPCA."""
        arrays = {
            "vectors": self.vectors_,
            "means": self.tmpca_.means_,
            "system_matrix": self.tmpca_.system_matrix_,
        }
        return {"words": list(self.words_), "n_texts": self.n_texts_}, arrays

    def read_stored(self, values: StoredValues, arrays: StoredArrays) -> None:
        """Restore the featurizer from the values and arrays that `to_stored` returned."""
        words = values.take("words", tuple[str, ...])
        sized = arrays.part(n_words=len(words))
        self._take_vectors(words, sized.take("vectors", single_precision("n_words", "D")))
        size, exact = self.vectors_.shape[1], ("float64",)
        self.tmpca_.means_ = sized.take("means", float_array(self.length, "D", stored=exact))
        system = float_array("D", self.length * size, stored=exact)
        self.tmpca_.system_matrix_ = sized.take("system_matrix", system)
        self.n_texts_ = values.take("n_texts", int)

    @property
    def _words_of(self) -> Callable[[str], list[str]]:
        return partial(prepare, stop_words=self.stop_words, stem=self.stem)
