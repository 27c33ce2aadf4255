"""Coherence of topics: how often their top words meet in documents they were not learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp import __version__
from spectralnlp.display import Report
from spectralnlp.scoring.table import two_columns


def npmi_coherence(top_words: Sequence[Sequence[int]], counts: sp.csr_matrix) -> NDArray[np.float64]:
    """Return the mean normalised pointwise mutual information of top words (Bouma 2009; Lau et al. 2014).

    Of two words in n_i, n_j and, together, n_ij of n documents it is log(n n_ij/(n_i n_j))/log(n/n_ij): 1 for
    words that are always together, 0 for independent ones, -1 for words that never meet.

    Args:
        top_words: numbers of the words of each topic.
        counts: csr (n_documents, V), of held-out documents.

    Returns:
        float64 (n_topics,).
    """
    present = (counts > 0).astype(np.float64).tocsc()
    n = present.shape[0]
    coherence = np.zeros(len(top_words))
    for topic, words in enumerate(top_words):
        columns = present[:, list(words)]
        together = (columns.T @ columns).toarray()
        alone = together.diagonal()
        i, j = np.triu_indices(len(words), 1)
        both = together[i, j]
        met = both > 0
        values = np.full(len(both), -1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            values[met] = np.log(n * both[met] / (alone[i] * alone[j])[met]) / np.log(n / both[met])
        values[both == n] = 1.0
        coherence[topic] = values.mean() if len(values) else 0.0
    return coherence


@dataclass(frozen=True, repr=False)
class TopicReport(Report):
    """Scores of topics on documents.

    Args:
        coherence: mean NPMI of the topics' top words, in the documents.
        perplexity: per word, each document explained by its own mixture; lower for models that fit better,
            but not a likelihood of unseen words, since the mixture has seen them.
        n_top: words of each topic that coherence looks at.
        n_documents: documents scored.
        n_words: words in them.
        n_unknown: words that no topic has, which count for nothing.
    """

    coherence: float
    perplexity: float
    n_top: int
    n_documents: int
    n_words: int
    n_unknown: int

    @property
    def signature(self) -> str:
        """How the scores were counted."""
        return f"NPMI|top:{self.n_top}|window:document|v:{__version__}"

    @property
    def _counts(self) -> dict[str, int]:
        return {"documents": self.n_documents, "words": self.n_words, "unknown": self.n_unknown}

    def to_flat_dict(self) -> dict[str, float | int | str]:
        """Return the scores and counts by name."""
        return {
            "coherence": self.coherence,
            "perplexity": self.perplexity,
            **self._counts,
            "signature": self.signature,
        }

    def to_table(self) -> str:
        """Return the scores as a table for readers."""
        rows = [
            ("coherence", f"{self.coherence:.3f}"),
            ("perplexity", f"{self.perplexity:.1f}"),
            *((name, str(count)) for name, count in self._counts.items()),
        ]
        return two_columns(rows, self.signature)
