"""Learn latent-variable grammars from a treebank, and from parts of it for jackknifing.

First, every node is represented by a vector (for a grammar of tensors) or by a state (for a grammar of
clusters). Both are computed from singular vectors of the nodes' features. The parameters of a grammar are
then sums over nodes. In a jackknife, the folds reuse the representations of their nodes, and only the sums
are computed again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.lpcfg.moments import CountedTable, nodes_of
from spectralnlp.estimators.lpcfg.solve import plain_grammar, spectral_grammar
from spectralnlp.estimators.lpcfg.states import TreeEventIndex, state_grammar
from spectralnlp.estimators.shared import settings
from spectralnlp.estimators.shared.clusters import cluster_nodes
from spectralnlp.estimators.shared.event_index import HARD_SMOOTHING, SOFT_SMOOTHING
from spectralnlp.estimators.shared.grammars import GrammarLearner
from spectralnlp.estimators.shared.lexicon import LexiconOptions
from spectralnlp.estimators.shared.projections import (
    Directions,
    ProjectionOptions,
    Projections,
    find_directions,
    project_nodes,
)
from spectralnlp.estimators.shared.smoothing import SmoothingOptions
from spectralnlp.estimators.shared.treebank import Treebank
from spectralnlp.linalg.rank import Spectrum
from spectralnlp.parameters import GrammarSet, Ints, LatentGrammar
from spectralnlp.progress import fit_pass, report_progress
from spectralnlp.runtime import map_kernels, trim_memory
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.trees.features import FeatureSet, node_features
from spectralnlp.trees.treelog import TreeTable

TENSORS, CLUSTERS, PRUNER = "tensors", "clusters", "pruning grammar"
# EM from clusters skips states of a node with a lower posterior; a few states have nearly all the mass.
_MIN_POSTERIOR = 1e-4


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Settings for learning the grammars of a binarisation.

    Attributes:
        kinds: kind of each grammar, TENSORS or CLUSTERS; the last one is PRUNER if a pruning grammar is
            wanted.
        n_states: maximum number of states per symbol.
        pruner_states: maximum number of states per symbol of the pruning grammar.
        nodes_per_state: minimum number of nodes of a symbol per state; 0 for no such bound.
        em_iterations: number of EM iterations that refine clusters.
        features: feature set of the nodes.
        projection: options of the projection of features to vectors.
        smoothing: options of the smoothing of rule tensors.
        lexicon: options of the lexicon.
        random_state: seed of the clustering.
    """

    kinds: Sequence[str]
    n_states: int
    pruner_states: int
    nodes_per_state: float
    em_iterations: int
    features: FeatureSet
    projection: ProjectionOptions
    smoothing: SmoothingOptions
    lexicon: LexiconOptions
    random_state: int


class Clusters(NamedTuple):
    """Assignment of a state to every node, by clustering.

    Attributes:
        state: int32 (n_nodes,); state of each node.
        n_states: int32 (n_symbols,); number of states of each symbol.
    """

    state: Ints
    n_states: Ints

    def select(self, nodes: NDArray[np.bool_], symbols: Ints) -> Clusters:
        """Return the clusters of some nodes only; symbols are renumbered.

        Args:
            nodes: bool (n_nodes,); which nodes to select.
            symbols: int32 (n_new_symbols,); old index of each new symbol.
        """
        return Clusters(self.state[nodes], self.n_states[symbols])


# Descriptions of the nodes of a binarisation, one for each of its grammars.
NodeRepresentations = Sequence[Projections | Clusters]


class LPCFGLearner(GrammarLearner):
    """Object that learns latent-variable grammars for each binarisation of a treebank.

    Args:
        recipe: settings of the grammars.
        trees: treebank to learn from.
        representations: vectors or clusters of the nodes in each binarisation, or None to compute them.
    """

    def __init__(
        self, recipe: Recipe, trees: Treebank, representations: Sequence[NodeRepresentations] | None = None
    ) -> None:
        self.recipe, self.trees, self._representations = recipe, trees, representations
        self._spectra: Mapping[str, Spectrum] = {}
        self._counted = [CountedTable.of(table, recipe.lexicon) for table in trees.tables]
        self.coarse = list(map_kernels(plain_grammar, self._counted))

    @property
    def _names(self) -> list[str]:
        return [each.direction for each in self.trees.binarisers]

    def describe_nodes(self) -> None:
        """Compute vectors and clusters of the nodes in each binarisation."""
        parts = zip(self.trees.tables, self._names, strict=True)
        described = [describe(table, name, self.recipe) for table, name in parts]
        self._representations = [representations for representations, _ in described]
        self._spectra = described[0][1]
        if not self.recipe.nodes_per_state:
            report_noise(self._spectra)

    def learn(self) -> tuple[GrammarSet, ...]:
        """Learn and return the grammars of each binarisation."""
        trees = self.trees
        if self._representations is None:
            self.describe_nodes()
        assert self._representations is not None
        parts = zip(self._counted, self._representations, self._names, strict=True)
        learned = [learn_grammars(counted, nodes, name, self.recipe) for counted, nodes, name in parts]
        has_pruner = PRUNER in self.recipe.kinds
        first, *others = (
            GrammarSet(
                binariser=binariser,
                chains=trees.chains,
                coarse=coarse,
                pruner=grammars[-1] if has_pruner else None,
                grammars=tuple(grammars[:-1] if has_pruner else grammars),
            )
            for binariser, coarse, grammars in zip(trees.binarisers, self.coarse, learned, strict=True)
        )
        values = {name: each.rounded() for name, each in self._spectra.items()}
        return replace(first, singular_values=values), *others

    def select(self, trees: NDArray[np.bool_]) -> LPCFGLearner:
        """Return a learner for some of the trees, which reuses the vectors or clusters of their nodes.

        Args:
            trees: bool (n_trees,); which trees to select.
        """
        part = self.trees.select(trees)
        if self._representations is None:
            return LPCFGLearner(self.recipe, part)
        representations = []
        for whole, some, nodes in zip(self.trees.tables, part.tables, self._representations, strict=True):
            symbols = np.searchsorted(whole.symbols, some.symbols).astype(np.int32)
            kept = trees[whole.tree]
            representations.append([each.select(kept, symbols) for each in nodes])
        return LPCFGLearner(self.recipe, part, representations)


def report_noise(spectra: Mapping[str, Spectrum]) -> None:
    """Report in a line which symbols have more states than their nodes bear, the largest difference first.

    Args:
        spectra: singular values of each symbol.
    """
    borne = {name: max(int((each.values > each.noise).sum()), 1) for name, each in spectra.items()}
    excess = {name: len(each.values) - borne[name] for name, each in spectra.items()}
    worst = sorted((name for name in excess if excess[name] > 0), key=lambda name: (-excess[name], name))
    if worst:
        shown = ", ".join(f"{name} {borne[name]} of {borne[name] + excess[name]}" for name in worst[:3])
        more = ", …" if len(worst) > 3 else ""
        what = f"{len(worst)} of {len(spectra)} symbols have more states than their nodes bear"
        report_progress(f"{what}, whose singular values are below the sampling error: {shown}{more}")


def describe(
    table: TreeTable, name: str, recipe: Recipe
) -> tuple[NodeRepresentations, Mapping[str, Spectrum]]:
    """For each grammar to be learned, compute the vectors or the clusters of all nodes of a treebank.

    Args:
        table: treebank in one binarisation.
        name: name of the binarisation, for progress reports.
        recipe: settings of the grammars.

    Returns:
        The vectors or clusters for each grammar, and the singular values of each symbol.
    """
    nodes = nodes_of(table)
    with fit_pass(f"{name}: features"):
        features = node_features(table, recipe.features, signature_by_name(recipe.lexicon.scheme))
    with fit_pass(f"{name}: SVD"):
        directions = find_directions(nodes, features, recipe.projection)
    del features

    def describe_for(numbered: tuple[int, str]) -> Projections | Clusters:
        seed, kind = numbered
        if kind == TENSORS:
            return project_nodes(nodes, directions, recipe.projection, np.float32)
        wanted = nodes.wanted_states(
            recipe.pruner_states if kind == PRUNER else recipe.n_states, recipe.nodes_per_state
        )
        return _clusters(table, directions, wanted, [recipe.random_state, 0 if kind == PRUNER else seed])

    spectra = directions.spectra(nodes, recipe.projection)
    with fit_pass(f"{name}: clusters"):
        representations = list(map_kernels(describe_for, enumerate(recipe.kinds)))
    return representations, {table.symbols[a]: each for a, each in spectra.items()}


def _clusters(
    table: TreeTable, directions: Directions, wanted: Ints, random_state: Sequence[int]
) -> Clusters:
    dimensions = settings.CLUSTER_DIMENSIONS
    return Clusters(
        *cluster_nodes(table.n_nodes, directions, wanted, dimensions=dimensions, random_state=random_state)
    )


def learn_grammars(
    counted: CountedTable, representations: NodeRepresentations, name: str, recipe: Recipe
) -> list[LatentGrammar]:
    """Compute the grammars of one binarisation from the vectors or clusters of nodes.

    Args:
        counted: treebank with the counts of its (word, tag) pairs.
        representations: vectors or clusters of the nodes, for each grammar.
        name: name of the binarisation, for progress reports.
        recipe: settings of the grammars.

    Returns:
        A grammar for each of ``recipe.kinds``.
    """
    index = TreeEventIndex.of(counted, least_posterior=_MIN_POSTERIOR)

    def learn(nodes: Projections | Clusters) -> LatentGrammar:
        if isinstance(nodes, Projections):
            return spectral_grammar(counted, nodes, recipe.smoothing)
        counts = index.count_states(nodes.state, nodes.n_states)
        counts, _ = index.refine(counts, recipe.em_iterations, first_smoothing=HARD_SMOOTHING)
        return state_grammar(index, counts, SOFT_SMOOTHING if recipe.em_iterations else HARD_SMOOTHING)

    with fit_pass(f"{name}: grammars"):
        grammars = list(map_kernels(learn, representations))
        trim_memory()
        return grammars
