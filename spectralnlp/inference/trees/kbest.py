"""Find the tree, or the k trees, of a packed forest with the largest sum of gains over its hyperedges.

The best tree takes one max-sum pass. The k best are found lazily, from the best one down (Huang and Chiang
2005, algorithm 3): a node's next derivation is computed only when a derivation above it needs it.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from spectralnlp.inference.semirings import MaxPlus
from spectralnlp.inference.trees.forest import NO_NODE, Forest
from spectralnlp.inference.trees.recursions import derivation_weights
from spectralnlp.jit import kernel
from spectralnlp.parameters import Floats, Ints

# A derivation of a node: (cost, hyperedge, rank of the left child's derivation, rank of the right child's).
# The cost is the negated total gain, so that sorted tuples have the best first, and ties are in the order of
# hyperedges.
Derivation = tuple[float, int, int, int]


def best_edges(forest: Forest, gains: Floats) -> Ints:
    """Return the hyperedges of the tree with the largest total gain, one for each node of the tree.

    Args:
        forest: the forest.
        gains: float64 (n_edges,); what a tree gains by containing each hyperedge; -inf excludes a hyperedge
            from every tree.

    Returns:
        int32 (n_nodes,); the hyperedge of each node, -1 for nodes outside the tree.
    """
    chosen: Ints = _best_tree(forest, gains, derivation_weights(MaxPlus(), forest, gains))
    return chosen


def best_trees(
    forest: Forest, gains: Floats, k: int, root_gains: Floats | None = None
) -> list[tuple[float, Ints]]:
    """Return the k trees of largest total gain, best first.

    Args:
        forest: the forest.
        gains: float64 (n_edges,); what a tree gains by containing each hyperedge; -inf excludes a hyperedge
            from every tree.
        k: number of trees.
        root_gains: float64 (n_roots,); what a tree gains by having each root; None for zeros.

    Returns:
        For each tree its total gain and the hyperedge of each node, int32 (n_nodes,), -1 for nodes outside
        the tree. The derivations are distinct; there are fewer than k if the forest has fewer.
    """
    search = _LazySearch(forest, gains, np.zeros(forest.n_roots) if root_gains is None else root_gains)
    return [(-derivation[0], search.choice(derivation)) for derivation in search.best(k)]


class _LazySearch:
    """Lazy enumeration of the derivations of a forest's nodes, best first.

    Attributes:
        goal: an artificial node above the forest, with a hyperedge to each root.
        found: the derivations found so far of each visited node, best first.
        candidates: for each visited node that may have more derivations, a heap of candidates for its next
            best one.
    """

    def __init__(self, forest: Forest, gains: Floats, root_gains: Floats) -> None:
        best = derivation_weights(MaxPlus(), forest, gains)
        below = np.append(best, 0.0)  # index NO_NODE (-1) reads this zero: a missing child adds nothing
        best_through = gains + below[forest.left] + below[forest.right]
        self.goal = forest.n_nodes
        self.edges = [*forest.edges.tolist(), forest.n_edges + forest.n_roots]
        self.left = [*forest.left.tolist(), *range(forest.n_roots)]
        self.right = [*forest.right.tolist(), *[NO_NODE] * forest.n_roots]
        self.cost = [*(-gains).tolist(), *(-root_gains).tolist()]
        self.least_cost = [*(-best_through).tolist(), *(-(root_gains + best[: forest.n_roots])).tolist()]
        self.found: dict[int, list[Derivation]] = {NO_NODE: [(0.0, -1, 0, 0)]}
        self.candidates: dict[int, list[Derivation]] = {}

    def best(self, k: int) -> list[Derivation]:
        """Return the k best derivations of the whole forest, best first, or all if there are fewer."""
        self._open(self.goal)
        while self.goal in self.candidates and len(self.found[self.goal]) < k:
            self._extend(self.goal)
        return self.found[self.goal][: max(k, 0)]

    def choice(self, derivation: Derivation) -> Ints:
        """Return the hyperedge of each node in a derivation, int32 (n_nodes,), -1 for nodes outside it.

        Args:
            derivation: a derivation of the whole forest, as `best` returns them.
        """
        choice = np.full(self.goal + 1, -1, np.int32)
        stack = [(self.goal, derivation)]
        while stack:
            node, (_, edge, i, j) = stack.pop()
            choice[node] = edge
            for child, rank in ((self.left[edge], i), (self.right[edge], j)):
                if child != NO_NODE:
                    self._open(child)
                    stack.append((child, self.found[child][rank]))
        return choice[: self.goal]

    def _open(self, node: int) -> None:
        """Prepare a node at its first visit: store its best derivation and the next candidates."""
        if node in self.found:
            return
        edges = range(self.edges[node], self.edges[node + 1])
        heap = [(self.least_cost[e], e, 0, 0) for e in edges if self.least_cost[e] < np.inf]
        heapify(heap)
        self.found[node] = [heappop(heap)] if heap else []
        if self.found[node]:
            self.candidates[node] = heap

    def _extend(self, node: int) -> None:
        """Find the next best derivation of a node, computing derivations of its descendants as needed."""
        stack = [node]
        while stack:
            node = stack[-1]
            _, edge, i, j = self.found[node][-1]
            left, right = self.left[edge], self.right[edge]
            # Ranks (i, j) are followed by (i, j + 1), and by (i + 1, j) if j is 0: each pair is reached once.
            if j == 0 and self._may_reach(left, i + 1):
                stack.append(left)
            elif self._may_reach(right, j + 1):
                stack.append(right)
            else:
                if j == 0:
                    self._offer(node, edge, i + 1, j)
                self._offer(node, edge, i, j + 1)
                if self.candidates[node]:
                    self.found[node].append(heappop(self.candidates[node]))
                else:
                    del self.candidates[node]
                stack.pop()

    def _may_reach(self, node: int, rank: int) -> bool:
        """Return whether a node may have a derivation of the given rank (from 0) that is not yet found."""
        self._open(node)
        return rank >= len(self.found[node]) and node in self.candidates

    def _offer(self, node: int, edge: int, i: int, j: int) -> None:
        """Add a derivation to a node's candidates, if the children have derivations of ranks i and j.

        Args:
            node: the node.
            edge: hyperedge at the root of the derivation.
            i, j: ranks of the left and the right child's derivation, from 0 for the best.
        """
        left, right = self.found[self.left[edge]], self.found[self.right[edge]]
        if i < len(left) and j < len(right):
            # Summed in the same order as in the max-sum pass, so that equal trees have equal costs.
            heappush(self.candidates[node], (self.cost[edge] + left[i][0] + right[j][0], edge, i, j))


@kernel
def _best_tree(forest, gains, best):
    """Return the hyperedge of each node in the tree of largest total gain, int32 (n_nodes,).

    Among hyperedges of equal gain, the first one of the node is chosen.

    Args:
        forest: `Forest`.
        gains: float64 (n_edges,); the gain of each hyperedge.
        best: float64 (n_nodes,); the largest total gain of each node's derivations.
    """
    edges, left, right = forest.edges, forest.left, forest.right
    n_nodes = len(best)
    choice = np.full(n_nodes, -1, np.int32)
    if n_nodes == 0:
        return choice
    in_tree = np.zeros(n_nodes, np.bool_)
    in_tree[np.argmax(best[: forest.n_roots])] = True
    for node in range(n_nodes):
        if not in_tree[node] or best[node] == -np.inf:
            continue
        for e in range(edges[node], edges[node + 1]):
            value = gains[e]
            if left[e] != NO_NODE:
                value += best[left[e]]
            if right[e] != NO_NODE:
                value += best[right[e]]
            if value == best[node]:
                choice[node] = e
                if left[e] != NO_NODE:
                    in_tree[left[e]] = True
                if right[e] != NO_NODE:
                    in_tree[right[e]] = True
                break
    return choice
