"""Kernels of learning head rules."""

from __future__ import annotations

import numpy as np

from spectralnlp.jit import kernel

# Pseudo-counts of the product of a rule's marginals, in the probability of the rule.
_STRENGTH = 5.0


@kernel
def choose(entries, places, chosen):
    """Choose the head of each production: by the first entry whose label it has."""
    for p in range(len(chosen)):
        for e in range(len(entries)):
            place = places[entries[e, 1], p, entries[e, 0]]
            if place >= 0:
                chosen[p] = place
                break


@kernel
def log_likelihood(chosen, choices):
    """Log-likelihood of all rules, each left out of the counts that its probability comes from."""
    counts = choices.fixed.copy()
    for p in range(len(chosen)):
        for i in range(choices.bounds[chosen[p]], choices.bounds[chosen[p] + 1]):
            counts[choices.rule[i]] += choices.weight[p]
    parent = np.zeros(choices.parent.max() + 1)
    left, right = np.zeros(choices.left.max() + 1), np.zeros(choices.right.max() + 1)
    for r in range(len(counts)):
        parent[choices.parent[r]] += counts[r]
        left[choices.left[r]] += counts[r]
        right[choices.right[r]] += counts[r]
    total = 0.0
    for r in range(len(counts)):
        if counts[r] > 0:
            others = parent[choices.parent[r]] - 1
            # The marginals have one more each, as rules that were never seen must have a share.
            shares = left[choices.left[r]] * right[choices.right[r]] / (others + choices.n_names) ** 2
            total += counts[r] * np.log((counts[r] - 1 + _STRENGTH * shares) / (others + _STRENGTH))
    return total
