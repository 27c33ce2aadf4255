"""Counts of pairs on disk as entries of the word × context matrix.

Pairs are spilled in segments (`estimators.shared.spill_segments`), whose words have numbers of their own.
Every run of pairs becomes a run of entries of the word × context matrix, and these merge to the matrix's rows
as a stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.eigenwords.matrix_kernels import ContextBlocks, pair_entries
from spectralnlp.estimators.shared.spill_segments import SpillSegment
from spectralnlp.runtime import Array, Longs, Memory, Run, merge_runs, sum_by_key

# Part of an entry's key that is its column.
_COLUMN = (1 << 32) - 1

# Bytes for an entry while it is merged.
_ENTRY_BYTES = 32


def parts_of(segment: SpillSegment) -> Iterator[dict[str, Array]]:
    """Yield a segment as arrays of `PairCounts`: the words, then the pairs of each run."""
    numbers = np.arange(segment.n_words)
    counts = segment.counts_by_number()
    counts[0] = segment.n_sentences
    words = np.frombuffer(b"\n".join(segment.names(numbers)[1:]), np.uint8)
    nothing = np.empty(0, np.int64)
    for pairs, pair_counts in [(nothing, nothing), *(run.read() for run in segment.runs)]:
        yield {
            "words": words,
            "word_counts": counts,
            "pairs": pairs,
            "pair_counts": pair_counts,
            "dropped": np.zeros(2, np.int64),
        }
        counts = np.zeros_like(counts)


@dataclass(frozen=True)
class SpilledPairs:
    """Counts of words and pairs that are all on disk.

    Attributes:
        memory: the limit, and the folder.
        segments: the counts.
        window: largest distance of a pair.
    """

    memory: Memory
    segments: Sequence[SpillSegment]
    window: int


def entry_runs(
    pairs: SpilledPairs,
    hashes: NDArray[np.uint64],
    blocks: ContextBlocks,
    n_columns: int,
    *,
    with_ends: bool = True,
) -> Iterator[Run]:
    """Write each run of pairs as a run of entries of the word × context matrix.

    Args:
        pairs: the counts.
        hashes: uint64 (n_rows,); of the words that are rows, in their order.
        blocks: blocks of columns; a context is the sentence's end, or one of the first words.
        n_columns: entries of columns from here on are left out.
        with_ends: whether those of the sentence's end are written.

    Yields:
        Runs with keys row · 2³² + column.
    """
    order = np.argsort(hashes)
    in_order = hashes[order]
    for segment in pairs.segments:
        theirs = segment.hashes()
        at = np.minimum(np.searchsorted(in_order, theirs), len(in_order) - 1)
        known = in_order[at] == theirs
        row_of = np.full(segment.n_words, -1, np.int32)
        row_of[segment.numbers()[known]] = order[at[known]]
        for run in segment.runs:
            keys, counts = run.read()
            entries, values = np.empty(2 * len(keys), np.int64), np.empty(2 * len(keys), np.int64)
            n = pair_entries(keys, counts, row_of, blocks, entries, values)
            columns = entries[:n] & _COLUMN
            kept = (columns < n_columns) & (with_ends | (columns % blocks.n_contexts != 0))
            if kept.any():
                summed = sum_by_key(entries[:n][kept], values[:n][kept])
                yield Run.write(pairs.memory.new_file("entries"), *summed)


def merged_entries(runs: Sequence[Run], memory: Memory) -> Iterator[tuple[Longs, Longs]]:
    """Yield keys and values of all entries, row by row."""
    return merge_runs(runs, memory.size // 8 // _ENTRY_BYTES)
