"""Counted states: numbered events of observed trees or sentences, and EM that refines their states.

States come from clusters of the projected nodes (Narayan and Cohen 2015, section 3) or from noise, as EM's
usual start. Counts give parameters that are proper probabilities. EM with the trees or tags observed softens
the states (Matsuzaki et al. 2005, section 3.1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from spectralnlp.estimators.shared.clusters import cluster_nodes
from spectralnlp.estimators.shared.projections import Directions, Nodes
from spectralnlp.parameters import Floats, Ints

HARD_SMOOTHING = 0.05  # α for counts under one state a node
SOFT_SMOOTHING = 0.01  # α for the expected counts of EM

CountsT = TypeVar("CountsT")


class EventIndex(ABC, Generic[CountsT]):
    """The events of observed trees or sentences, numbered, so that they can be counted with states.

    An event is the use of a rule, a move from tag to tag, a word under its tag, a root or a start. A subclass
    says how the counts of its events are laid out (``CountsT``), and how to count, expect and normalise them.
    """

    @property
    @abstractmethod
    def nodes(self) -> Nodes:
        """The nodes whose states are hidden."""

    @abstractmethod
    def count_states(self, state: Ints, n_states: Ints) -> CountsT:
        """Count the events under one state a node.

        Args:
            state: int32 (n_nodes,).
            n_states: int32 (n_symbols,).
        """

    @abstractmethod
    def random_counts(self, n_states: Ints, *, noise: float, random_state: int) -> CountsT:
        """Share each event's count among its states, evenly but for noise.

        A random start of EM must break the symmetry between states (Matsuzaki et al. 2005, section 3.1).

        Args:
            n_states: int32 (n_symbols,).
            noise: each share is multiplied by a uniform draw from 1 ± noise; in [0, 1].
            random_state: seed.
        """

    @abstractmethod
    def probabilities(self, counts: CountsT, smoothing: float) -> CountsT:
        """Return p(event | symbol, state), each state's mixed with the mean over its symbol's states.

        Args:
            counts: (expected) counts of events.
            smoothing: α; weight of the mean, in [0, 1].
        """

    @abstractmethod
    def expected_counts(self, probabilities: CountsT) -> tuple[CountsT, float]:
        """Do the E-step of EM.

        Args:
            probabilities: of events, not negative.

        Returns:
            Expected counts of the events, and the log-likelihood (natural) of what was observed.
        """

    def count_clusters(
        self, directions: Directions, n_states: Ints, *, dimensions: int, random_state: Sequence[int]
    ) -> CountsT:
        """Count the events with clusters as states; arguments as of `cluster_nodes`."""
        state, n_found = cluster_nodes(
            len(self.nodes.symbol), directions, n_states, dimensions=dimensions, random_state=random_state
        )
        return self.count_states(state, n_found)

    def refine(
        self, counts: CountsT, iterations: int, *, first_smoothing: float, smoothing: float = SOFT_SMOOTHING
    ) -> tuple[CountsT, list[float]]:
        """Refine the states by EM.

        Args:
            counts: (expected) counts to start from.
            iterations: 0 returns the counts as they are.
            first_smoothing: α of the probabilities of the first iteration.
            smoothing: α of those of the others; with 0 the likelihood never falls.

        Returns:
            The last expected counts, and the log-likelihood (natural) under the probabilities that each
            iteration began with.
        """
        log_likelihoods = []
        for iteration in range(iterations):
            alpha = smoothing if iteration else first_smoothing
            counts, log_likelihood = self.expected_counts(self.probabilities(counts, alpha))
            log_likelihoods.append(log_likelihood)
        return counts, log_likelihoods


def smoothed_shares(counts: Floats, totals: Floats, smoothing: float, *, axis: int, n_states: Any) -> Floats:
    """Shares of counts in the totals of their states, each state's mixed with the mean over all states.

    Args:
        counts: of events; states along ``axis``.
        totals: of each state, broadcast against ``counts``.
        smoothing: α; weight of the mean.
        axis: of the states.
        n_states: how many states the mean is over, where ``counts`` is padded with zeros; broadcast.
    """
    shares: Floats = counts / np.maximum(totals, 1e-300)
    mean = shares.sum(axis=axis, keepdims=True) / n_states
    return (1 - smoothing) * shares + smoothing * mean
