"""Kernels of grammars whose states are counted: shares of counts in the totals of their states."""

from __future__ import annotations

import numpy as np

from spectralnlp.jit import kernel


@kernel
def add_totals(values, offsets, parents, first_state, totals):
    """Add the counts of events up, by the state of the symbol on their left-hand side.

    Args:
        values: float64; counts of events with states, laid end to end, one state of the symbol a row.
        offsets: int64 (n_events + 1,); where those of each event begin.
        parents: int32 (n_events,); the symbol of each.
        first_state: int64 (n_symbols + 1,); where the states of each symbol begin.
        totals: float64 (n_all_states,); added to.
    """
    for event in range(len(parents)):
        first = first_state[parents[event]]
        n_states = first_state[parents[event] + 1] - first
        row = (offsets[event + 1] - offsets[event]) // n_states
        at = offsets[event]
        for state in range(n_states):
            total = 0.0
            for place in range(at, at + row):
                total += values[place]
            totals[first + state] += total
            at += row


@kernel
def smoothed_rules(values, offsets, parents, first_state, totals, smoothing):
    """Counts as shares in the totals of their states, each state's mixed with the mean over its symbol's.

    Args:
        values, offsets, parents, first_state: as of `add_totals`.
        totals: float64 (n_all_states,).
        smoothing: α; weight of the mean.

    Returns:
        float64, in the shape of ``values``.
    """
    shares = np.empty_like(values)
    for event in range(len(parents)):
        first = first_state[parents[event]]
        n_states = first_state[parents[event] + 1] - first
        begin, end = offsets[event], offsets[event + 1]
        row = (end - begin) // n_states
        mean = np.zeros(row)
        for state in range(n_states):
            total = max(totals[first + state], 1e-300)
            for place in range(row):
                share = values[begin + state * row + place] / total
                shares[begin + state * row + place] = (1.0 - smoothing) * share
                mean[place] += share
        mean *= smoothing / n_states
        for state in range(n_states):
            for place in range(row):
                shares[begin + state * row + place] += mean[place]
    return shares
