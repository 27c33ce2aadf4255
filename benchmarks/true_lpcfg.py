"""Latent-variable PCFGs with finitely many trees, and the probability of each of them.

The tutorial's theorem speaks of true moments. A language that is finite has them: give every tree its
probability as a weight, and every mean over the treebank is an expectation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from spectralnlp.runtime import Batch
from spectralnlp.trees import Binariser, Tree
from spectralnlp.trees.treelog import TreeLog, TreeTable

Right = tuple[str, ...]
Weighted = tuple[Tree, np.ndarray]  # a tree, and its probability given each state of its root

BINARY: Mapping[str, list[Right]] = {
    "S": [("NP", "VP")],
    "VP": [("V", "NP"), ("VP1", "ADV")],
    "VP1": [("V", "NP")],
    "NP": [("D", "N"), ("N", "N")],
}
WITH_UNARIES: Mapping[str, list[Right]] = {
    "S": [("NP", "VP")],
    "VP": [("V", "NP"), ("V",)],
    "NP": [("D", "N"), ("N",), ("G",)],
}
WORDS: Mapping[str, list[str]] = {
    "D": ["the", "a"],
    "N": ["cat", "dog", "saw"],
    "V": ["saw", "fed"],
    "G": ["tom", "cat"],
    "ADV": ["now"],
}


@dataclass(frozen=True)
class TrueLPCFG:
    """Random proper probabilities over given rules, none of which is recursive.

    Args:
        rules: right-hand sides of each phrase.
        n_states: of each symbol, 1 unless it is given.
        seed: of the probabilities.
        distance: factor, in [0, 1], of the differences between the states of a symbol; with 0 they are equal.
    """

    rules: Mapping[str, list[Right]]
    n_states: Mapping[str, int]
    seed: int = 0
    distance: float = 1.0

    def trees(self) -> list[tuple[Tree, float]]:
        """Every tree with its probability; the probabilities add up to 1."""
        rng = np.random.default_rng(self.seed)
        derived: dict[str, list[Weighted]] = {}
        m = {symbol: self.n_states.get(symbol, 1) for symbol in (*self.rules, *WORDS)}

        def distributions(symbol: str, n: int) -> np.ndarray:
            drawn = rng.dirichlet(np.ones(n), size=m[symbol])
            return drawn.mean(axis=0) + self.distance * (drawn - drawn.mean(axis=0))

        for tag, words in WORDS.items():
            p_word = distributions(tag, len(words))
            derived[tag] = [(Tree(tag, word=word), p_word[:, i]) for i, word in enumerate(words)]
        for phrase in reversed(list(self.rules)):  # children are listed below their parents
            rights = self.rules[phrase]
            p_rule = distributions(phrase, len(rights))
            derived[phrase] = []
            for i, right in enumerate(rights):
                p_states = distributions(phrase, int(np.prod([m[child] for child in right])))
                block = p_rule[:, i, None] * p_states
                for parts in product(*(derived[child] for child in right)):
                    below: np.ndarray = np.ones(1)
                    for _, vector in parts:
                        below = np.kron(below, vector)
                    derived[phrase].append((Tree(phrase, [tree for tree, _ in parts]), block @ below))
        root = distributions("S", m["S"])[0]
        return [(tree, float(root @ vector)) for tree, vector in derived["S"]]


def weighted_table(trees: Sequence[tuple[Tree, float]], binariser: Binariser) -> TreeTable:
    """A treebank in which every tree occurs as often as it is probable."""
    log = TreeLog(binariser.to_dict())
    log.observe(Batch([tree for tree, _ in trees], "true", 0, 0))
    return replace(log.table(), weight=np.array([probability for _, probability in trees]))
