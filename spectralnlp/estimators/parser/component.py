"""The parts of a parser that are learned around its grammars, and what each of them learns from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.shared.grammars import GrammarLearner, TreebankEstimator
from spectralnlp.estimators.shared.treebank import Treebank
from spectralnlp.parameters import GrammarSet, Ints, LatentGrammar
from spectralnlp.runtime import map_kernels

R = TypeVar("R")

# Documents that a fold needs; with fewer, folds are blocks of sentences.
_DOCUMENTS_PER_FOLD = 5


@dataclass
class Context:
    """What the components of a parser learn from.

    Attributes:
        learner: of the grammars, from a treebank, or from the part of it outside of a fold.
        grammar: the estimator of the grammars, which has described the whole treebank.
        parts: the components of the parser, those that are off among them.
        whole: in a fold, the context of the whole treebank.
        components: what was learned before, by name.
        report_done: called by a component that takes long with what part of it is done, in [0, 1].
    """

    learner: GrammarLearner
    grammar: TreebankEstimator
    parts: Sequence[Component]
    whole: Context | None = None
    components: dict[str, Any] = field(default_factory=dict)
    report_done: Callable[[float], None] = lambda part: None

    @property
    def trees(self) -> Treebank:
        """The treebank, or the part of it outside of a fold."""
        return self.learner.trees

    @property
    def coarse(self) -> Sequence[LatentGrammar]:
        """The plain grammar of each binarisation."""
        return self.learner.coarse

    @property
    def random_state(self) -> int:
        """Seed of all that is drawn at random."""
        return int(self.grammar.get_params().get("random_state", 0))

    def wanted(self, stage: str) -> list[Component]:
        """Return the components of a stage (of `Component`) that are on and have enough trees."""
        n_trees = self.trees.first.n_trees
        return [
            each
            for each in self.parts
            if each.learned == stage and each.is_on and n_trees >= each.least_trees
        ]

    def learn(self, stage: str) -> None:
        """Learn the wanted components of a stage."""
        for each in self.wanted(stage):
            self.learn_component(each)

    def learn_component(self, component: Component) -> None:
        """Learn a component, and add it to the others if the trees bear it."""
        value = component.learn(self)
        if value is not None:
            self.components[component.name] = value

    def learn_beside(self, job: Callable[[], R]) -> R:
        """Return the result of a job, and learn the components meanwhile that are learned beside it.

        They are learned in one thread; the job may take all of the engine's.
        """
        jobs: list[Callable[[], Any]] = [job, lambda: self.learn("beside")]
        result, _ = map_kernels(lambda each: each(), jobs)
        return result

    def jackknife(self, n_folds: int, read: Callable[[Fold], R]) -> list[R]:
        """Return what is read from each fold of documents, by what never saw its trees.

        Args:
            n_folds: how many.
            read: called with one fold after the other, of which each takes much memory.
        """
        folds = folds_of(self.trees.documents, n_folds)
        return [read(self._fold(number, folds == number)) for number in np.unique(folds).tolist()]

    def _fold(self, number: int, held_out: NDArray[np.bool_]) -> Fold:
        others = Context(self.learner.select(~held_out), self.grammar, self.parts, self)
        others.learn("before")
        return Fold(number, held_out, others, others.learn_beside(others.learner.learn))


class Fold(NamedTuple):
    """A fold of a treebank.

    Attributes:
        number: of the fold, from 0.
        held_out: bool (n_trees,); its trees.
        others: the context of all other trees, with their components.
        grammar_sets: of all other trees, one for each binarisation.
    """

    number: int
    held_out: NDArray[np.bool_]
    others: Context
    grammar_sets: tuple[GrammarSet, ...]


class Component(ABC):
    """A dataclass of settings, which learns one part of a parser; see `ParserTrainer`.

    Class attributes:
        name: of the part, in `Parser.components`.
        least_trees: with fewer it is not learned.
        time: that learning takes after the others, in hundredths of the default training; see ``trainer.py``.
        learned: before or beside the description of the nodes that grammars are made of, or after it.
    """

    name: ClassVar[str]
    least_trees: ClassVar[int] = 0
    time: ClassVar[float] = 0.0
    learned: ClassVar[Literal["before", "beside", "after"]]

    @property
    @abstractmethod
    def is_on(self) -> bool:
        """Whether the settings want it."""

    def check_combination(self) -> None:  # noqa: B027 (most settings go with any others)
        """Check the settings together.

        Raises:
            ConfigError: two do not go together.
        """

    @abstractmethod
    def learn(self, context: Context) -> Any:
        """Learn the part from trees; None if they do not bear it.

        Args:
            context: with at least `least_trees` trees.
        """


def folds_of(documents: Ints, n_folds: int) -> Ints:
    """int32 (n_trees,): the fold of each tree, the same for all trees of a document.

    Where there are fewer than five documents a fold, folds are blocks of neighbouring trees.

    Args:
        documents: int32 (n_trees,); the document of each tree, ascending.
        n_folds: how many.
    """
    _, rank = np.unique(documents, return_inverse=True)
    if len(rank) and rank.max() + 1 >= _DOCUMENTS_PER_FOLD * n_folds:
        return (rank % n_folds).astype(np.int32)
    n_blocks = _DOCUMENTS_PER_FOLD * n_folds
    return (np.arange(len(rank)) * n_blocks // max(len(rank), 1) % n_folds).astype(np.int32)
