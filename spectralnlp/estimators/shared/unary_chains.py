"""Choose the full unary chains that parsers put back for chains compressed to their two ends."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping


def commonest_chains(chains: Mapping[tuple[str, ...], int]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the most frequent unary chain for each pair of ends (top, bottom).

    A pair is left out if its most frequent chain has no labels in between.

    Args:
        chains: count of each chain of labels, from top to bottom.
    """
    by_ends: dict[tuple[str, str], Counter[tuple[str, ...]]] = defaultdict(Counter)
    for chain, count in chains.items():
        by_ends[chain[0], chain[-1]][chain] += count
    commonest = {}
    for ends, counter in by_ends.items():
        chain, _ = min(counter.items(), key=lambda item: (-item[1], item[0]))
        if len(chain) > 2:
            commonest[ends] = chain
    return commonest
