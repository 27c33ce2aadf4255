"""Topic coherence: how often the top words of a topic occur together in held-out documents."""

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

    Let two words occur in n_i and n_j of n documents, and in n_ij of them together. Their NPMI is
    log(n n_ij/(n_i n_j))/log(n/n_ij): 1 if they always occur together, 0 if they are independent, -1 if they
    never occur together.

    Args:
        top_words: for each topic, the ids of its most probable words.
        counts: word counts of held-out documents, csr (n_documents, n_words); word ids are columns.

    Returns:
        The mean NPMI over each topic's pairs of words, float64 (n_topics,).
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
    """Evaluation results of topics on a set of documents.

    Args:
        coherence: mean NPMI of the topics' top words in the documents.
        perplexity: perplexity per word, lower is better. Each document's topic mixture is inferred from the
            scored words themselves, so this is not a likelihood of unseen words.
        n_top: number of top words per topic that coherence is computed from.
        n_documents: number of documents.
        n_words: number of words in the documents.
        n_unknown: number of words outside the vocabulary, which are ignored.
    """

    coherence: float
    perplexity: float
    n_top: int
    n_documents: int
    n_words: int
    n_unknown: int

    @property
    def signature(self) -> str:
        """A string that names the metric and its settings; compare only scores with equal signatures."""
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
        """Return the scores as a text table."""
        rows = [
            ("coherence", f"{self.coherence:.3f}"),
            ("perplexity", f"{self.perplexity:.1f}"),
            *((name, str(count)) for name, count in self._counts.items()),
        ]
        return two_columns(rows, self.signature)
