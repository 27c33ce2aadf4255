"""Project the features of nodes to low-dimensional inside vectors Y and outside vectors Z by an SVD.

Source: Cohen et al. 2012, section 6; the slides "Reducing Dimensions via a Singular Value Decomposition".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from spectralnlp.estimators.shared import settings
from spectralnlp.estimators.shared.feature_kernels import number_features
from spectralnlp.linalg import randomized_svd
from spectralnlp.linalg.rank import Spectrum, sampling_noise
from spectralnlp.parameters import Floats, Ints
from spectralnlp.runtime import offsets_of, scratch_array, spilled, trim_memory
from spectralnlp.trees.features import Ids, NodeFeatures

_POWER_ITERATIONS = 3  # power iterations of the randomised SVD


@dataclass(frozen=True, kw_only=True)
class ProjectionOptions(settings.Options):
    """Settings of the projection of features.

    Args:
        n_states: maximum number of states per symbol (m), which is the length of its vectors.
        nodes_per_state: minimum number of nodes of a symbol per state; 0 for no such bound.
        min_nodes: symbols with fewer nodes have one state.
        min_feature_count: for each symbol, features with a lower count among its nodes are dropped.
        scaling: scale features by the square root of their inverse count (slide "Scaling of Features …").
        kappa: number κ that is added to the counts.
        shrinkage: ρ; Z is divided by σ_i + ρ σ_1. 0 is the published Σ⁻¹, which amplifies noise.
        min_singular_value: states with a smaller σ_i / σ_1 are dropped.
        min_rank: minimum number of singular vectors to compute, even for fewer states.
        random_state: seed of the SVD.
    """

    n_states: int
    nodes_per_state: float
    min_nodes: float = settings.MIN_NODES
    min_feature_count: float = settings.MIN_FEATURE_COUNT
    scaling: bool = settings.SCALING
    kappa: float = settings.KAPPA
    shrinkage: float = settings.SHRINKAGE
    min_singular_value: float = settings.MIN_SINGULAR_VALUE
    min_rank: int = 0
    random_state: int

    def rank(self, n_nodes: float) -> int:
        """Return the maximum number of states of a symbol with the given number of nodes."""
        bound = n_nodes / self.nodes_per_state if self.nodes_per_state else self.n_states
        return int(np.clip(bound, 1, self.n_states))


@dataclass(frozen=True)
class Nodes:
    """Nodes of trees, or tokens of tagged sentences, whose states are hidden.

    Attributes:
        symbol: int32 (n_nodes,); symbol or tag of each node.
        weight: float64 (n_nodes,); weight of each node.
        n_symbols: number of symbols.
    """

    symbol: Ints
    weight: Floats
    n_symbols: int

    def count(self) -> Floats:
        """Return the total weight of the nodes of each symbol, float64 (n_symbols,)."""
        return np.bincount(self.symbol, self.weight, self.n_symbols).astype(np.float64)

    def wanted_states(self, n_states: int, nodes_per_state: float) -> Ints:
        """Return the number of states of each symbol, bounded by its number of nodes, int32 (n_symbols,).

        Args:
            n_states: maximum number of states per symbol.
            nodes_per_state: minimum number of nodes per state; 0 allows a state for each node.
        """
        count = self.count()
        return np.clip(count / nodes_per_state if nodes_per_state else count, 1, n_states).astype(np.int32)


@dataclass(frozen=True)
class SymbolDirections:
    """Features of the n nodes of one symbol, projected on the symbol's k leading singular vectors.

    The singular vectors U and V are those of the symbol's cross-covariance Ω = E[φψᵀ] of inside features φ
    and outside features ψ.

    Attributes:
        u: float64 (n, k); projected features of the inside trees, Uᵀφ.
        v: float64 (n, k); projected features of the outside trees, Vᵀψ.
        sigma: float64 (k,); singular values of Ω, descending.
        noise: size that the largest singular value would have by sampling errors alone.
    """

    u: Floats
    v: Floats
    sigma: Floats
    noise: float


@dataclass(frozen=True)
class Directions:
    """Projected features of the nodes of every symbol that has enough nodes.

    Attributes:
        rows: indices of the nodes of each symbol.
        parts: projected features of the nodes of each symbol.
    """

    rows: Mapping[int, NDArray[np.intp]]
    parts: Mapping[int, SymbolDirections]

    def by_symbol(self, k: int) -> Iterator[tuple[int, NDArray[np.intp], SymbolDirections]]:
        """Yield each symbol, the indices of its nodes, and their projections on k singular vectors."""
        for symbol, part in self.parts.items():
            first = SymbolDirections(part.u[:, :k], part.v[:, :k], part.sigma[:k], part.noise)
            yield symbol, self.rows[symbol], first
            trim_memory()

    def spectra(self, nodes: Nodes, options: ProjectionOptions) -> dict[int, Spectrum]:
        """Return the singular values of each symbol, one for each of its states."""
        count = nodes.count()
        return {
            a: Spectrum(each.sigma[: options.rank(count[a])], each.noise) for a, each in self.parts.items()
        }


def find_directions(nodes: Nodes, features: NodeFeatures, options: ProjectionOptions) -> Directions:
    """Compute the SVD of each symbol's inside–outside cross-covariance Ω = E[φψᵀ], and project its nodes.

    Args:
        nodes: nodes of trees, or tokens of sentences.
        features: inside features φ and outside features ψ of each node.
        options: settings of the projection.
    """
    by_symbol = np.argsort(nodes.symbol, kind="stable")
    bounds = np.searchsorted(nodes.symbol[by_symbol], np.arange(nodes.n_symbols + 1))
    all_rows, parts = {}, {}
    for a in range(nodes.n_symbols):
        rows = by_symbol[bounds[a] : bounds[a + 1]]
        share = nodes.weight[rows]
        if share.sum() < options.min_nodes or options.rank(share.sum()) < 2:
            continue
        phi = _feature_matrix(_features_of(features.inside, rows), share, options)
        psi = _feature_matrix(_features_of(features.outside, rows), share, options)
        rank = max(options.rank(share.sum()), options.min_rank)
        u, sigma, v = _cross_covariance_svd(phi, psi, share, rank, options, a)
        kept = int((sigma > options.min_singular_value * sigma[0]).sum()) if len(sigma) else 0
        if kept > 0:
            all_rows[a] = rows
            squares, total = [each.power(2).T @ share for each in (phi, psi)], share.sum()
            noise = sampling_noise(squares[0] / total, squares[1] / total, total)
            projected = spilled(phi @ u[:, :kept]), spilled(psi @ v[:, :kept])
            parts[a] = SymbolDirections(*projected, sigma[:kept], noise)
    return Directions(all_rows, parts)


@dataclass(frozen=True)
class Projections:
    """Inside and outside vectors of every node, zero-padded to the largest number of states.

    Y = Uᵀφ and Z = (Σ + ρσ₁)⁻¹Vᵀψ, with the features and the SVD of `SymbolDirections`, and shrinkage ρ.

    Attributes:
        n_states: int32 (n_symbols,); number of states of each symbol, the length of its nodes' vectors.
        inside: float64 or float32 (n_nodes, m); vectors Y of the inside trees.
        outside: float64 or float32 (n_nodes, m); vectors Z of the outside trees.
    """

    n_states: Ints
    inside: NDArray[Any]
    outside: NDArray[Any]

    @classmethod
    def single_state(cls, nodes: Nodes) -> Projections:
        """Return projections for a grammar with one state per symbol: every vector is the number 1."""
        ones = np.ones((len(nodes.symbol), 1))
        return cls(np.ones(nodes.n_symbols, np.int32), ones, ones)

    def select(self, nodes: NDArray[np.bool_], symbols: Ints) -> Projections:
        """Return the projections of some nodes, with renumbered symbols.

        Args:
            nodes: bool (n_nodes,); which nodes to select.
            symbols: int32 (n_new_symbols,); old index of each new symbol.
        """
        return Projections(self.n_states[symbols], spilled(self.inside[nodes]), spilled(self.outside[nodes]))


def project_nodes(
    nodes: Nodes,
    directions: Directions,
    options: ProjectionOptions,
    dtype: type[np.floating[Any]] = np.float64,
) -> Projections:
    """Compute the vectors Y and Z of every node.

    Args:
        nodes: nodes of trees, or tokens of sentences.
        directions: projected features of the nodes.
        options: settings of the projection.
        dtype: dtype of Y and Z.
    """
    n_states = np.ones(nodes.n_symbols, np.int32)
    inside, outside = (scratch_array((len(nodes.weight), options.n_states), dtype) for _ in range(2))
    inside[:, 0] = outside[:, 0] = 1.0  # vectors of symbols with one state
    for symbol, rows, part in directions.by_symbol(options.n_states):
        m = min(len(part.sigma), options.rank(nodes.weight[rows].sum()))
        n_states[symbol] = m
        inside[rows, :m] = part.u[:, :m]
        outside[rows, :m] = part.v[:, :m] / (part.sigma[:m] + options.shrinkage * part.sigma[0])
    return Projections(n_states, inside, outside)


def _features_of(columns: Sequence[Ids], rows: NDArray[np.intp]) -> Ids:
    """Return the features of some nodes, uint64 (n_rows, n_columns).

    Args:
        columns: arrays of feature hashes, each of which has one feature of every node.
        rows: int (n_rows,); indices of the nodes.
    """
    answers = np.empty((len(rows), len(columns)), np.uint64)
    for number, column in enumerate(columns):
        answers[:, number] = column[rows]
        trim_memory()
    return answers


def _feature_matrix(ids: Ids, weight: Floats, options: ProjectionOptions) -> csr_array:
    """Return the sparse matrix of one symbol's nodes (rows) and features (columns).

    The value of each feature that a node has is 1 or, with ``options.scaling``, depends on its frequency.

    Args:
        ids: uint64 (n_nodes, n_groups); hash of each feature of the symbol's nodes, 0 for none.
        weight: float64 (n_nodes,); weight of each node.
        options: settings of the projection.
    """
    n_nodes = len(ids)
    column, n_features = number_features(ids)
    there = column >= 0
    feature, row = column[there], np.repeat(np.arange(n_nodes), there.sum(axis=1))
    count = np.bincount(feature, weight[row], n_features)
    kept = count >= options.min_feature_count
    value = np.sqrt(weight.sum() / (count + options.kappa)) if options.scaling else np.ones(n_features)
    new_column = (np.cumsum(kept) - 1).astype(np.int32)
    used = kept[feature]
    feature = feature[used]
    starts = offsets_of(np.bincount(row[used], minlength=n_nodes))
    return csr_array((value[feature], new_column[feature], starts), (n_nodes, int(kept.sum())))


def _cross_covariance_svd(
    phi: csr_array, psi: csr_array, weight: Floats, rank: int, options: ProjectionOptions, symbol: int
) -> tuple[Floats, Floats, Floats]:
    """Compute the truncated SVD of Ω = E[φψᵀ] for one symbol, without forming Ω.

    Args:
        phi, psi: inside features φ and outside features ψ of the symbol's nodes.
        weight: float64 (n_nodes,); weight of each node.
        rank: number of singular vectors.
        options: settings of the projection.
        symbol: id of the symbol, added to the seed.

    Returns:
        Left singular vectors (columns of U), singular values, and right singular vectors (columns of V).
    """
    share = (weight / weight.sum())[:, None]
    phi_t, psi_t = phi.T.tocsr(), psi.T.tocsr()
    return randomized_svd(
        lambda x: phi_t @ (share * (psi @ x)),
        lambda x: psi_t @ (share * (phi @ x)),
        (phi.shape[1], psi.shape[1]),
        rank,
        iterations=_POWER_ITERATIONS,
        random_state=options.random_state + symbol,
    )
