"""Measure how spectral learning recovers a planted model: the error by the size of the sample.

A random HMM (3 states, 5 symbols) and a random L-PCFG (900 trees; NP and N have two states each) are sampled,
and learned again by ``preset=tutorial`` with the true number of states. The error is the L1 distance between
the true and the learned distribution, as in the theorem of the slides "Guarantees" (Hsu, Kakade and Zhang
2009, theorem 6; Cohen et al. 2012, theorem 8): of all sequences of 4 symbols, and of all trees. The theorems
bound the sample by powers of 1/σ, the smallest singular value that belongs to a state; so each model is
planted three times, with states that differ less and less.

    python -m benchmarks.recovery --plot docs/recovery.svg
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from benchmarks import experiment
from benchmarks.true_hmm import TrueHMM
from benchmarks.true_lpcfg import BINARY, TrueLPCFG, weighted_table
from spectralnlp import HMM, LPCFG, Tree
from spectralnlp.estimators.lpcfg.moments import nodes_of
from spectralnlp.estimators.shared.projections import ProjectionOptions, find_directions
from spectralnlp.estimators.shared.treebank import Treebank
from spectralnlp.parameters import Floats
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.trees import Binariser
from spectralnlp.trees.features import node_features

SIZES = (1_000, 10_000, 100_000, 1_000_000)
DISTANCES = (1.0, 0.5, 0.25)  # factors of the differences between states
LENGTH = 4  # of the sequences whose probabilities are compared
_LARGE = 1e9  # as many true trees are as good as infinitely many


class CountedTrees(LPCFG):
    """L-PCFG learned from different trees, each of which counts as often as the sample has it.

    It learns what it would learn from the whole sample, but a million trees take a second.

    Attributes:
        counts: float64 (n_trees,); how often the sample has each training tree.
    """

    counts: Floats

    def treebank(self, moments: Any) -> Treebank:
        """Return the training trees with their counts as weights."""
        trees = super().treebank(moments)
        return replace(trees, tables=[replace(table, weight=self.counts) for table in trees.tables])


@dataclass(frozen=True)
class Planted:
    """A planted model.

    Attributes:
        sigma: smallest singular value that belongs to a state.
        error: function that returns the L1 error after learning from a sample of a size, with a seed.
    """

    sigma: float
    error: Callable[[int, int], float]


def planted_hmm(distance: float) -> Planted:
    """Plant a hidden Markov model; σ is the third singular value of P21, the matrix of bigram probabilities.

    Args:
        distance: factor of the differences between the emissions of states.
    """
    true = TrueHMM.random(seed=32, distance=distance)
    n_states, n_symbols = len(true.initial), len(true.emission)
    P21 = true.emission @ true.transition @ np.diag(true.initial) @ true.emission.T
    everything = [list(sequence) for sequence in product(range(n_symbols), repeat=LENGTH)]
    probabilities = np.exp([true.log_probability(sequence) for sequence in everything])
    names = [[f"s{symbol}" for symbol in sequence] for sequence in everything]

    def error(size: int, seed: int) -> float:
        model = HMM.from_preset("tutorial", n_states=n_states).fit(true.sample(size, 3, seed))
        return float(np.abs(np.exp(model.score(names)) - probabilities).sum())

    return Planted(float(np.linalg.svd(P21, compute_uv=False)[n_states - 1]), error)


def planted_lpcfg(distance: float) -> Planted:
    """Plant a latent-variable PCFG; σ is the smallest second singular value of Ω among NP and N.

    Args:
        distance: factor of the differences between the states of a symbol.
    """
    n_states = {"NP": 2, "N": 2}
    trees = TrueLPCFG(BINARY, n_states, seed=0, distance=distance).trees()
    probabilities = np.array([probability for _, probability in trees])

    def error(size: int, seed: int) -> float:
        counts = np.random.default_rng(seed).multinomial(size, probabilities / probabilities.sum())
        seen = [tree for (tree, _), count in zip(trees, counts, strict=True) if count]
        learner = CountedTrees.from_preset("tutorial", n_states=2)
        learner.counts = counts[counts > 0].astype(np.float64)
        parser = ParsingTask().wrap(learner.fit(seen))
        learned = np.exp([parser.tree_log_probability(tree) for tree, _ in trees])
        return float(np.abs(learned - probabilities).sum())

    return Planted(_second_singular_value(trees, n_states), error)


def _second_singular_value(trees: Sequence[tuple[Tree, float]], n_states: Mapping[str, int]) -> float:
    """Return the smallest second singular value of the true Ω among symbols that have two states."""
    true = weighted_table(trees, Binariser(unaries="collapse"))
    table = replace(true, weight=_LARGE * true.weight)
    features = node_features(table, "tutorial", signature_by_name("english"))
    options = ProjectionOptions(n_states=2, nodes_per_state=0, random_state=0)
    parts = find_directions(nodes_of(table), features, options).parts
    return min(float(parts[table.symbols.index(symbol)].sigma[1]) for symbol in n_states)


MODELS: Mapping[str, Callable[[float], Planted]] = {"HMM": planted_hmm, "L-PCFG": planted_lpcfg}
# Errors of each seed, by model, σ and size of the sample.
Errors = Mapping[str, Mapping[float, Mapping[int, Sequence[float]]]]


def measure(sizes: Sequence[int], seeds: int) -> Errors:
    """Return the errors of each model, singular value, size and seed.

    Args:
        sizes: numbers of training sequences or trees.
        seeds: number of samples of each size.
    """
    errors: dict[str, dict[float, dict[int, list[float]]]] = {}
    for name, plant in MODELS.items():
        planted = [plant(distance) for distance in DISTANCES]
        errors[name] = {each.sigma: {} for each in planted}
        for each, size in product(planted, sizes):
            found = [each.error(size, seed) for seed in range(seeds)]
            errors[name][each.sigma][size] = found
            experiment.note(f"{name}, σ = {each.sigma:.4f}, {size:,}: {mean(found):.4f}")
    return errors


def draw(errors: Errors, path: Path) -> None:
    """Draw the mean errors of both models beside the slope of 1 / √n."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "spectralnlp", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot

    figure, both = pyplot.subplots(1, 2, figsize=(7.6, 3.4), sharey=True, layout="constrained")
    for axis, (name, curves) in zip(both, errors.items(), strict=True):
        for (sigma, curve), marker in zip(curves.items(), "os^", strict=True):
            sizes, means = list(curve), [mean(each) for each in curve.values()]
            axis.plot(sizes, means, marker=marker, markersize=5, label=f"σ = {sigma:.2g}")
        slope = means[0] * np.sqrt(sizes[0] / np.array(sizes)) / 4
        axis.plot(sizes, slope, color="grey", linestyle="--", label="slope of 1 / √n")
        axis.set(xscale="log", yscale="log", title=name)
        axis.set_xlabel("training sequences" if name == "HMM" else "training trees")
        axis.grid(alpha=0.3)
        axis.legend(loc="lower left")
    both[0].set_ylabel("L1 distance from the true distribution")
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Run the benchmark with the arguments of the command line; print its table, and draw its plot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", type=experiment.numbers, default=SIZES, metavar="N,…")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="samples of each size; default 3")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="where to draw the errors, .svg")
    arguments = parser.parse_args()
    # Small samples do not bear all states; how large the error then is, is the question.
    warnings.filterwarnings("ignore", category=UserWarning)
    errors = measure(arguments.sizes, arguments.seeds)
    experiment.print_heading("recovery")
    rows = [
        [name, f"{sigma:.2g}", *(experiment.mean_spread(each, 4) for each in curve.values())]
        for name, curves in errors.items()
        for sigma, curve in curves.items()
    ]
    header = ("", "σ", *(f"n = {size:,}" for size in arguments.sizes))
    print(f"### L1 distance from the true distribution\n\n{report.table(header, rows)}\n")
    if arguments.plot:
        draw(errors, arguments.plot)


if __name__ == "__main__":
    main()
