"""Base class of this package's featurizers, which are also scikit-learn transformers."""

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
    """Base class of featurizers whose ``fit`` takes texts or a corpus of texts.

    Attributes:
        n_texts_: number of texts learned from.
    """

    def as_corpus(self, X: Any, y: Any = None) -> Corpus[str]:
        """Return texts as a corpus.

        Args:
            X: the texts; a corpus is returned unchanged.
            y: ignored.

        Raises:
            TextError: an element is not a text.
        """
        return X if isinstance(X, Corpus) else InMemoryCorpus(checked_texts(X))


def single_precision(*shape: int | str) -> ArraySpec:
    """Return the specification of an array of finite numbers, float32 both in memory and on disk.

    Args:
        shape: size of each dimension: a number, or a name such as ``n_words`` for a size that several arrays
            share.
    """
    return float_array(*shape, dtype="float32", stored=("float32",))
