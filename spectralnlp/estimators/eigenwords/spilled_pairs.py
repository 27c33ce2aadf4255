"""Convert counts of pairs on disk to entries of the word × context matrix.

Pairs are stored in spill segments (`estimators.shared.spill_segments`), each with its own word ids. Each run
of pairs is converted to a sorted run of matrix entries, and the runs are merged into rows as a stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.eigenwords.matrix_kernels import ContextBlocks, pair_entries
from spectralnlp.estimators.shared.spill_segments import SpillSegment
from spectralnlp.runtime import Array, Longs, Memory, Run, merge_runs, sum_by_key

# Bits of an entry's key that hold its column.
_COLUMN = (1 << 32) - 1

# Memory per entry during the merge, in bytes.
_ENTRY_BYTES = 32


def parts_of(segment: SpillSegment) -> Iterator[dict[str, Array]]:
    """Yield the counts of a spill segment (a part of the counts on disk) in pieces: the words, then each run.

    Yields:
        Dictionaries with the keys and dtypes of `PairCounts.arrays`. The first dictionary has the counts of
        all words and no pairs; each further dictionary has the pairs of a sorted run, and zero word counts.
    """
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
        }
        counts = np.zeros_like(counts)


@dataclass(frozen=True)
class SpilledPairs:
    """Counts of words and pairs that are entirely on disk.

    Attributes:
        memory: memory limit, and folder of the files.
        segments: spill segments (parts with their own word ids) with the counts.
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
    """Convert each run (sorted file) of pair counts to a run of entries of the word × context matrix.

    Args:
        pairs: counts on disk.
        hashes: uint64 (n_rows,); hash of each row's word.
        blocks: layout of the columns; the contexts are the sentence end and the words of the first rows.
        n_columns: number of columns of the matrix; entries beyond them are left out.
        with_ends: whether the sentence end is a context.

    Yields:
        Sorted runs with keys row · 2³² + column.
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
    """Merge sorted runs of matrix entries; yield keys and values in chunks, sorted by row and column."""
    return merge_runs(runs, memory.size // 8 // _ENTRY_BYTES)
