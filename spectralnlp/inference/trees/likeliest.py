"""The likeliest trees of a forest, with their probabilities.

Summed over states, a latent grammar's trees have no rules with probabilities of their own. The plain grammar
of the one sentence that is nearest to it has: a hyperedge is chosen at its node with the posterior of the
hyperedge over that of all of the node (the variational approximation of Matsuzaki et al. 2005, section 3.2).
For a grammar of one state a symbol it is exact.
"""

from __future__ import annotations

import numpy as np

from spectralnlp.inference.trees.kbest import best_trees
from spectralnlp.inference.trees.scored_forest import ScoredForest
from spectralnlp.parameters import Floats, Ints


def likeliest_trees(scored: ScoredForest, k: int) -> list[tuple[float, Ints]]:
    """The k likeliest trees of a sentence, the best first.

    Args:
        scored: the forest.
        k: how many trees are wanted.

    Returns:
        (probability among all trees of the forest, the chosen hyperedge of each node as in
        :func:`~spectralnlp.inference.trees.kbest.best_edges`) of each; fewer where the forest has fewer.
    """
    forest, edge = scored.forest, scored.mean_edge
    of_node = np.bincount(scored.edge_owners, edge, forest.n_nodes).astype(np.float64)[scored.edge_owners]
    root = scored.mean_node[: forest.n_roots]
    trees = best_trees(forest, _log_share(edge, of_node), k, _log_share(root, root.sum()))
    return [(float(np.exp(gain)), choice) for gain, choice in trees]


def _log_share(part: Floats, whole: Floats | np.float64) -> Floats:
    """Logarithm of a part over the whole; -inf for none."""
    share = np.divide(part, whole, out=np.zeros_like(part), where=np.asarray(whole) > 0)
    return np.log(share, out=np.full_like(share, -np.inf), where=share > 0)
