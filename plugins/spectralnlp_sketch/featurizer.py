"""Base of the featurizers of this package: the core's contract and scikit-learn's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from spectralnlp.featurizer import Featurizer
from spectralnlp.runtime import Corpus, InMemoryCorpus
from spectralnlp.storage import ArraySpec, float_array
from spectralnlp_sketch.hashing.ngrams import checked_texts
from spectralnlp_sketch.labelled import TextInput


@dataclass(kw_only=True, eq=False, repr=False)
class TextFeaturizer(TextInput, ClassNamePrefixFeaturesOutMixin, Featurizer, TransformerMixin, BaseEstimator):
    """Base of featurizers: ``fit`` takes texts, or a corpus of them.

    Attributes:
        n_texts_: texts learned from.
    """

    def as_corpus(self, X: Any, y: Any = None) -> Corpus[str]:
        """Make a corpus of texts; labels are not looked at.

        Raises:
            TextError: something is no text.
        """
        return X if isinstance(X, Corpus) else InMemoryCorpus(checked_texts(X))


def single_precision(*shape: int | str) -> ArraySpec:
    """Declare finite numbers that are float32 in memory and in a file, so that rows are the same."""
    return float_array(*shape, dtype="float32", stored=("float32",))
