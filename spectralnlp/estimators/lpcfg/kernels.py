"""Kernels that turn counts of events (rules, words, roots) with hidden states into smoothed probabilities."""

from __future__ import annotations

import numpy as np

from spectralnlp.jit import kernel


@kernel
def add_totals(values, offsets, parents, first_state, totals):
    """Sum the counts of events (rules, words) by the state of their left-hand-side symbol.

    Args:
        values: float64; counts of events as concatenated matrices; rows are states of the left-hand side.
        offsets: int64 (n_events + 1,); start of each event's matrix in ``values``.
        parents: int32 (n_events,); left-hand-side symbol of each event.
        first_state: int64 (n_symbols + 1,); index of the first state of each symbol.
        totals: float64 (n_all_states,); the sums are added to it.
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
    """Return probabilities of events: counts divided by totals, and smoothed with the mean over states.

    Args:
        values, offsets, parents, first_state: see `add_totals`.
        totals: float64 (n_all_states,); total count of each state.
        smoothing: weight α, in [0, 1], of the mean probability over the states of the left-hand side.

    Returns:
        Probabilities, float64, in the layout of ``values``.
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
