"""Count rules, transitions and words of training data with hidden states, and refine the states by EM.

Trees and tags are observed; the state (refinement) of each node or token is hidden. Initial states come from
clusters of projected nodes (Narayan and Cohen 2015, section 3) or from a random start. Counts give
probabilities. EM then replaces hard states by expected ones (Matsuzaki et al. 2005, section 3.1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from spectralnlp.estimators.shared.clusters import cluster_nodes
from spectralnlp.estimators.shared.projections import Directions, Nodes
from spectralnlp.parameters import Floats, Ints

HARD_SMOOTHING = 0.05  # smoothing weight α for counts of hard states
SOFT_SMOOTHING = 0.01  # smoothing weight α for expected counts

CountsT = TypeVar("CountsT")


class EventIndex(ABC, Generic[CountsT]):
    """Base class of indices of the events in trees or tagged sentences, to count events by hidden state.

    An event is the use of a rule, a transition between tags, a word with its tag, the root of a tree, or the
    start of a sentence. A subclass defines the class of its counts (``CountsT``), and methods that compute
    counts, expected counts and probabilities.
    """

    @property
    @abstractmethod
    def nodes(self) -> Nodes:
        """Table of the nodes of all trees, or of the tokens of all sentences."""

    @abstractmethod
    def count_states(self, state: Ints, n_states: Ints) -> CountsT:
        """Count each event (rule, transition, word, …) with each state, given the state of every node.

        Args:
            state: int32 (n_nodes,); state of each node.
            n_states: int32 (n_symbols,); number of states of each symbol.
        """

    @abstractmethod
    def random_counts(self, n_states: Ints, *, noise: float, random_state: int) -> CountsT:
        """Divide the count of each event (rule, word, …) evenly among its states, with noise, to start EM.

        The noise breaks the symmetry between states (Matsuzaki et al. 2005, section 3.1).

        Args:
            n_states: int32 (n_symbols,); number of states of each symbol.
            noise: each share is multiplied by a uniform random number in 1 ± noise; in [0, 1].
            random_state: seed.
        """

    @abstractmethod
    def probabilities(self, counts: CountsT, smoothing: float) -> CountsT:
        """Return p(event | symbol, state) of each event (rule, word, …), smoothed with the mean over states.

        Args:
            counts: counts or expected counts of events.
            smoothing: weight α of the mean, in [0, 1].
        """

    @abstractmethod
    def expected_counts(self, probabilities: CountsT) -> tuple[CountsT, float]:
        """Compute the expected count of each event (rule, word, …) with each state: the E-step of EM.

        Args:
            probabilities: probabilities of the events.

        Returns:
            The expected counts of the events, and the natural log likelihood of the observed data.
        """

    def count_clusters(
        self, directions: Directions, n_states: Ints, *, dimensions: int, random_state: Sequence[int]
    ) -> CountsT:
        """Cluster the nodes, and count events with the clusters as states; see `cluster_nodes`."""
        state, n_found = cluster_nodes(
            len(self.nodes.symbol), directions, n_states, dimensions=dimensions, random_state=random_state
        )
        return self.count_states(state, n_found)

    def refine(
        self, counts: CountsT, iterations: int, *, first_smoothing: float, smoothing: float = SOFT_SMOOTHING
    ) -> tuple[CountsT, list[float]]:
        """Run EM from initial counts, and return expected counts of events with states.

        Args:
            counts: counts or expected counts to start from.
            iterations: number of iterations; with 0 the counts are returned unchanged.
            first_smoothing: smoothing weight α in the first iteration.
            smoothing: smoothing weight α in the other iterations; with 0 the likelihood never falls.

        Returns:
            The last expected counts, and the natural log likelihood before each iteration.
        """
        log_likelihoods = []
        for iteration in range(iterations):
            alpha = smoothing if iteration else first_smoothing
            counts, log_likelihood = self.expected_counts(self.probabilities(counts, alpha))
            log_likelihoods.append(log_likelihood)
        return counts, log_likelihoods


def smoothed_shares(counts: Floats, totals: Floats, smoothing: float, *, axis: int, n_states: Any) -> Floats:
    """Return relative frequencies of events given the state, smoothed with their mean over all states.

    Args:
        counts: counts of events, with states along ``axis``.
        totals: total count of each state, in a shape that broadcasts with ``counts``.
        smoothing: weight α of the mean.
        axis: axis of the states.
        n_states: number of states without padding, in a shape that broadcasts with the means.
    """
    shares: Floats = counts / np.maximum(totals, 1e-300)
    mean = shares.sum(axis=axis, keepdims=True) / n_states
    return (1 - smoothing) * shares + smoothing * mean
