"""Base class of a parser's components (its parts besides the grammars), and the data that they learn from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.shared.grammars import GrammarLearner, TreebankEstimator
from spectralnlp.estimators.shared.treebank import Treebank
from spectralnlp.parameters import GrammarSet, Ints, LatentGrammar
from spectralnlp.runtime import map_kernels

R = TypeVar("R")

# Minimum number of documents per fold; with fewer, folds are blocks of sentences.
_DOCUMENTS_PER_FOLD = 5


@dataclass
class Context:
    """Training data and intermediate results that the components of a parser learn from.

    Attributes:
        learner: learner of the grammars from the training trees: all trees of the treebank or, within a
            jackknife, the trees outside a fold.
        grammar: estimator of the grammars, with attributes that describe the whole treebank.
        parts: all components of the parser with their settings, including those that are turned off.
        whole: within a fold, the context of the whole treebank; else None.
        components: components learned so far, by name.
        report_done: function that a slow component calls with the fraction of its work done, in [0, 1].
    """

    learner: GrammarLearner
    grammar: TreebankEstimator
    parts: Sequence[Component]
    whole: Context | None = None
    components: dict[str, Any] = field(default_factory=dict)
    report_done: Callable[[float], None] = lambda part: None

    @cached_property
    def trees(self) -> Treebank:
        """The gold training trees; within a jackknife, only those outside the held-out fold."""
        return self.learner.trees.gold

    @property
    def coarse(self) -> Sequence[LatentGrammar]:
        """PCFG with one state per symbol, for each binarisation; it prunes the charts of other grammars."""
        return self.learner.coarse

    @property
    def random_state(self) -> int:
        """Seed of all random choices in training."""
        return int(self.grammar.get_params().get("random_state", 0))

    def wanted(self, stage: str) -> list[Component]:
        """Return the components to train in a stage: those turned on that have enough training trees.

        Args:
            stage: ``before``, ``beside`` or ``after``; see `Component`.
        """
        n_trees = self.trees.first.n_trees
        return [
            each
            for each in self.parts
            if each.learned == stage and each.is_on and n_trees >= each.least_trees
        ]

    def learn(self, stage: str) -> None:
        """Train the components of a stage that are turned on and have enough training trees."""
        for each in self.wanted(stage):
            self.learn_component(each)

    def learn_component(self, component: Component) -> None:
        """Learn a component, and add it to `components` unless there are too few trees to learn it."""
        value = component.learn(self)
        if value is not None:
            self.components[component.name] = value

    def learn_concurrently(self, job: Callable[[], R]) -> R:
        """Run a job, and learn the components of the stage ``beside`` at the same time, in another thread.

        Args:
            job: function without arguments.

        Returns:
            The result of the job.
        """
        jobs: list[Callable[[], Any]] = [job, lambda: self.learn("beside")]
        result, _ = map_kernels(lambda each: each(), jobs)
        return result

    def jackknife(self, n_folds: int, read: Callable[[Fold], R], repetitions: int = 1) -> list[R]:
        """Call ``read`` for each fold of the treebank, with grammars and components learned from other folds.

        Args:
            n_folds: number of folds.
            read: function to call with each `Fold`, which has the grammars and components learned from the
                other folds.
            repetitions: number of divisions of the treebank into folds, at most ``n_folds``.

        Returns:
            The results of the function, for each fold of each division.
        """
        results = []
        for repetition in range(repetitions):
            trees = self.learner.trees
            folds = np.empty(len(trees.documents), np.int32)
            for kind in (trees.is_silver, ~trees.is_silver):
                folds[kind] = folds_of(trees.documents[kind], n_folds, repetition)
            for fold in np.unique(folds).tolist():
                results.append(read(self._fold(repetition * n_folds + fold, folds == fold)))
        return results

    def _fold(self, number: int, held_out: NDArray[np.bool_]) -> Fold:
        others = Context(self.learner.select(~held_out), self.grammar, self.parts, self)
        others.learn("before")
        return Fold(number, held_out, others, others.learn_concurrently(others.learner.learn))


class Fold(NamedTuple):
    """A fold of a treebank, with grammars and components learned from the other folds.

    Attributes:
        number: index of the fold, from 0; if the treebank is divided into folds several times, the numbering
            continues over all divisions.
        held_out: bool (n_trees,); trees of the fold, gold and silver.
        others: context of all other trees, with the components learned from them.
        grammar_sets: grammars learned from all other trees, one set for each binarisation.
    """

    number: int
    held_out: NDArray[np.bool_]
    others: Context
    grammar_sets: tuple[GrammarSet, ...]


@dataclass(kw_only=True)
class Component(ABC):
    """Base class of components: each is a dataclass of settings, and learns one part of a parser.

    Class attributes:
        name: name of the learned component in `Parser.components`.
        least_trees: minimum number of trees; with fewer the component is not learned.
        learned: training stage, ``before``, ``beside`` (in parallel with) or ``after`` the step that assigns
            vectors or states to nodes for the grammars.
    """

    name: ClassVar[str]
    least_trees: ClassVar[int] = 0
    learned: ClassVar[Literal["before", "beside", "after"]]

    @property
    @abstractmethod
    def is_on(self) -> bool:
        """Whether the settings request that the component is learned."""

    def time(self, context: Context) -> float:
        """Return the expected training time of the component, for the progress bar.

        Only components of the stage ``after`` override this method. The time is relative: the other parts of
        the training, such as computing the grammars, take 36 units together.
        """
        return 0.0

    def check_combination(self) -> None:  # noqa: B027 (most settings go with any others)
        """Check that the settings are compatible with one another.

        Raises:
            ConfigError: two settings are incompatible.
        """

    def check(self, context: Context) -> None:  # noqa: B027 (most components learn from the trees alone)
        """Check, before anything is learned, that the component can learn from what its settings name.

        Raises:
            InputError: it cannot.
        """

    @abstractmethod
    def learn(self, context: Context) -> Any:
        """Train this component on trees; return None if there are too few to learn from.

        Args:
            context: training data, with at least `least_trees` trees.
        """


def folds_of(documents: Ints, n_folds: int, repetition: int = 0) -> Ints:
    """Assign a fold to each tree, the same one for all trees of a document.

    If there are fewer than five documents per fold, blocks of adjacent trees take the place of documents.

    Args:
        documents: int32 (n_trees,); index of each tree's document, ascending.
        n_folds: number of folds.
        repetition: index, less than ``n_folds``, of the assignment to return. Documents that share a fold in
            one assignment are in different folds in another, as far as possible.

    Returns:
        The fold of each tree, int32 (n_trees,).
    """
    _, rank = np.unique(documents, return_inverse=True)
    n_blocks = _DOCUMENTS_PER_FOLD * n_folds
    if not len(rank) or rank.max() + 1 < n_blocks:
        rank = np.arange(len(rank)) * n_blocks // max(len(rank), 1)
    return ((rank + repetition * (rank // n_folds)) % n_folds).astype(np.int32)
