"""A kernel that replaces the hashes of features by consecutive numbers, for use as columns of a matrix."""

from __future__ import annotations

import numpy as np

from spectralnlp.jit import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@kernel
def number_features(ids):
    """Replace the hashes of features by ids in order of first occurrence.

    Args:
        ids: uint64 (n_nodes, n_groups); hash of each feature, 0 for no feature.

    Returns:
        The id of each feature, int32 (n_nodes, n_groups), -1 for none; and the number of distinct features.
    """
    n_nodes, n_groups = ids.shape
    bits = 1
    while (1 << bits) < 2 * n_nodes * n_groups:
        bits += 1
    shift, mask = np.uint64(64 - bits), (1 << bits) - 1
    names, numbers = np.zeros(1 << bits, np.uint64), np.zeros(1 << bits, np.int32)
    column, count = np.empty((n_nodes, n_groups), np.int32), 0
    for node in range(n_nodes):
        for group in range(n_groups):
            name = ids[node, group]
            if name == np.uint64(0):
                column[node, group] = -1
                continue
            place = np.int64((name * _GOLDEN) >> shift)
            while names[place] != name and names[place] != np.uint64(0):
                place = (place + 1) & mask
            if names[place] == np.uint64(0):
                names[place], numbers[place] = name, count
                count += 1
            column[node, group] = numbers[place]
    return column, count
