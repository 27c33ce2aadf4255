"""Find the k most probable trees of a forest, with their probabilities.

The probability of a tree under a latent-variable grammar, summed over states, is not a product over the
tree's rules. It is approximated by the product of p(hyperedge | node), the hyperedge's posterior divided by
the sum over all hyperedges of its node (the variational approximation of Matsuzaki et al. 2005, section 3.2).
For a grammar with one state per symbol this is exact.
"""

from __future__ import annotations

import numpy as np

from spectralnlp.inference.trees.kbest import best_trees
from spectralnlp.inference.trees.scored_forest import ScoredForest
from spectralnlp.parameters import Floats, Ints


def likeliest_trees(scored: ScoredForest, k: int) -> list[tuple[float, Ints]]:
    """Return the k most probable trees of a sentence, best first.

    Args:
        scored: the scored forest.
        k: number of trees.

    Returns:
        For each tree its probability among all trees of the forest, and the hyperedge of each node, int32
        (n_nodes,), -1 for nodes outside the tree; fewer than k if the forest has fewer trees.
    """
    forest, edge = scored.forest, scored.mean_edge
    of_node = np.bincount(scored.edge_owners, edge, forest.n_nodes).astype(np.float64)[scored.edge_owners]
    root = scored.mean_node[: forest.n_roots]
    trees = best_trees(forest, _log_share(edge, of_node), k, _log_share(root, root.sum()))
    return [(float(np.exp(gain)), choice) for gain, choice in trees]


def _log_share(part: Floats, whole: Floats | np.float64) -> Floats:
    """Return log(part / whole) elementwise; -inf where either is zero."""
    share = np.divide(part, whole, out=np.zeros_like(part), where=np.asarray(whole) > 0)
    return np.log(share, out=np.full_like(share, -np.inf), where=share > 0)
