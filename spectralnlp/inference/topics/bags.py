"""Count the words of documents (bags of words) as sparse matrices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import scipy.sparse as sp


def bags(
    documents: Iterable[Sequence[str]], index: Mapping[str, int], n_words: int, least: int = 0
) -> sp.csr_matrix:
    """Return the word counts of documents as a matrix (bags of words).

    Args:
        documents: the words of each document.
        index: ids of the words in the vocabulary; other words are ignored.
        n_words: vocabulary size V.
        least: minimum number of vocabulary words in a document; shorter documents get no row.

    Returns:
        CSR matrix, float64 (n_kept, V); a row for each document that is not too short.
    """
    numbers: list[int] = []
    ends = [0]
    for document in documents:
        known = [index[word] for word in document if word in index]
        if len(known) >= least:
            numbers += known
            ends.append(len(numbers))
    shape = (len(ends) - 1, n_words)
    counts = sp.csr_matrix((np.ones(len(numbers)), np.array(numbers, np.int32), ends), shape=shape)
    counts.sum_duplicates()
    return counts
