"""Hidden Markov models with probabilities as parameters: filtering, and expected counts for EM."""

from __future__ import annotations

import numpy as np

from spectralnlp.inference.chains.filtering import ModelFilter
from spectralnlp.jit import fast_kernel
from spectralnlp.parameters import Floats, HiddenMarkov, Ints, Offsets


class HiddenFilter(ModelFilter[HiddenMarkov]):
    """The forward algorithm as a filter; a state is the distribution of hidden states before a symbol."""

    def predict(self, states: Floats) -> tuple[Floats, Floats]:
        """Return the predicted distributions of symbols, and the unchanged states."""
        p = states @ self.model.emission.T
        return p / p.sum(axis=1, keepdims=True), states

    def update(self, states: Floats, symbols: Ints) -> Floats:
        """Return the states after conditioning on the symbols and one transition."""
        joint = states * self.model.emission[symbols]
        total = joint.sum(axis=1, keepdims=True)
        lost = total[:, 0] <= 0  # only where emissions are not positive
        joint[lost], total[lost] = self.model.initial, 1.0
        return (joint / total) @ self.model.transition.T


def expected_counts(
    model: HiddenMarkov, symbols: Ints, offsets: Offsets, start: Floats, moves: Floats, emitted: Floats
) -> float:
    """Run the E-step (Baum et al. 1970), adding expected counts to three arrays in place.

    Args:
        model: the model, with k hidden states.
        symbols: int32 (n,); symbols of all sequences, concatenated.
        offsets: int64 (n_sequences + 1,); start of each sequence.
        start: float64 (k,); counts of initial states.
        moves: float64 (k, k); counts of transitions (next state, state).
        emitted: float64 (V, k); counts of emissions (symbol, state).

    Returns:
        The natural logarithm of the probability of the sequences.
    """
    transition = np.ascontiguousarray(model.transition)
    return float(
        _forward_backward(symbols, offsets, model.initial, transition, model.emission, start, moves, emitted)
    )


@fast_kernel
def _forward_backward(symbols, offsets, initial, transition, emission, start, moves, emitted):
    k = len(initial)
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    forward = np.empty((longest, k))  # p(state | symbols up to and with this one)
    scale = np.empty(longest)
    backward, weighted, below = np.empty(k), np.empty(k), np.empty(k)
    moved = np.zeros((k, k))
    logarithm = 0.0
    for s in range(len(offsets) - 1):
        first, n = offsets[s], offsets[s + 1] - offsets[s]
        for t in range(n):
            x = symbols[first + t]
            total = 0.0
            for i in range(k):
                prior = 0.0
                if t == 0:
                    prior = initial[i]
                else:
                    for j in range(k):
                        prior += transition[i, j] * forward[t - 1, j]
                forward[t, i] = prior * emission[x, i]
                total += forward[t, i]
            scale[t] = total
            logarithm += np.log(total)
            for i in range(k):
                forward[t, i] /= total
        for i in range(k):
            backward[i] = 1.0
        for t in range(n - 1, -1, -1):
            x = symbols[first + t]
            for i in range(k):
                emitted[x, i] += forward[t, i] * backward[i]
            if t == 0:
                for i in range(k):
                    start[i] += forward[0, i] * backward[i]
                break
            for i in range(k):
                weighted[i] = emission[x, i] * backward[i] / scale[t]
                below[i] = 0.0
            for i in range(k):
                for j in range(k):
                    moved[i, j] += weighted[i] * forward[t - 1, j]
                    below[j] += transition[i, j] * weighted[i]
            for i in range(k):
                backward[i] = below[i]
    for i in range(k):
        for j in range(k):
            moves[i, j] += moved[i, j] * transition[i, j]
    return logarithm
