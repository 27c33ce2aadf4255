"""Counts of pairs on disk, and what becomes of them.

Pairs are spilled in segments (`estimators.shared.spill_segments`), whose words have numbers of their own.
Every run of pairs becomes a run of entries of the word × context matrix, and these merge to the matrix's rows
as a stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.eigenwords.matrix_kernels import pair_entries
from spectralnlp.estimators.shared.spill_segments import Epoch
from spectralnlp.runtime import Array, Longs, Memory, Run, merge_runs, sum_by_key

_AT_A_TIME = 32  # bytes for an entry while it is merged


def parts_of(epoch: Epoch) -> Iterator[dict[str, Array]]:
    """An epoch as arrays of `PairCounts`: the words, then the pairs of each run."""
    numbers = np.arange(epoch.n_words)
    counts = epoch.counts_by_number()
    counts[0] = epoch.n_sentences
    words = np.frombuffer(b"\n".join(epoch.names(numbers)[1:]), np.uint8)
    nothing = np.empty(0, np.int64)
    for pairs, pair_counts in [(nothing, nothing), *(run.read() for run in epoch.runs)]:
        yield {
            "words": words, "numbers": numbers, "word_counts": counts, "pairs": pairs,
            "pair_counts": pair_counts, "dropped": np.zeros(2, np.int64),
        }  # fmt: skip
        counts = np.zeros_like(counts)


def entry_runs(
    epochs: Sequence[Epoch], hashes: NDArray[np.uint64], n_contexts: int, left_block: Longs,
    right_block: Longs, memory: Memory,
) -> Iterator[Run]:  # fmt: skip
    """Each run of pairs as a run of entries of the word × context matrix.

    Args:
        epochs: the counts.
        hashes: uint64 (n_rows,); of the words that are rows, in their order.
        n_contexts: columns of a block: the sentence's end, then the first words.
        left_block, right_block: see `pair_entries`.
        memory: where the runs go.

    Yields:
        Runs with keys row · 2³² + column.
    """
    order = np.argsort(hashes)
    in_order = hashes[order]
    for epoch in epochs:
        theirs = epoch.hashes()
        at = np.minimum(np.searchsorted(in_order, theirs), len(in_order) - 1)
        known = in_order[at] == theirs
        row_of = np.full(epoch.n_words, -1, np.int32)
        row_of[epoch.numbers()[known]] = order[at[known]]
        for run in epoch.runs:
            keys, counts = run.read()
            entries, values = np.empty(2 * len(keys), np.int64), np.empty(2 * len(keys), np.int64)
            n = pair_entries(keys, counts, row_of, left_block, right_block, n_contexts, entries, values)
            if n:
                yield Run.write(memory.new_file("entries"), *sum_by_key(entries[:n], values[:n]))


def merged_entries(runs: Sequence[Run], memory: Memory) -> Iterator[tuple[Longs, Longs]]:
    """Keys and values of all entries, row by row."""
    return merge_runs(runs, memory.size // 8 // _AT_A_TIME)
