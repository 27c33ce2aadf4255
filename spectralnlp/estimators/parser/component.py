"""The parts of a parser that are learned around its grammars, and what each of them learns from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.shared.grammars import GrammarLearner, TreebankEstimator
from spectralnlp.estimators.shared.treebank import Treebank
from spectralnlp.parameters import GrammarSet, Ints, LatentGrammar

# Documents that a fold needs; with fewer, folds are blocks of sentences.
_DOCUMENTS_PER_FOLD = 5


@dataclass
class Context:
    """What the components of a parser learn from.

    Attributes:
        trees: the treebank, or the part of it outside of a fold.
        grammar: the estimator of the grammars, which has described the whole treebank.
        learner: of the grammars, from these trees.
        grammar_sets: of each binarisation; empty until they are learned.
        components: what was learned before, by name.
        whole: in a fold, the context of the whole treebank.
        learn_part: learns grammars and components from some of the trees of a context, bool (n_trees,).
    """

    trees: Treebank
    grammar: TreebankEstimator
    learner: GrammarLearner
    whole: Context | None
    learn_part: Callable[[Context, NDArray[np.bool_]], Context]
    grammar_sets: tuple[GrammarSet, ...] = ()
    components: dict[str, Any] = field(default_factory=dict)

    @property
    def coarse(self) -> Sequence[LatentGrammar]:
        """The plain grammar of each binarisation."""
        return self.learner.coarse

    @property
    def random_state(self) -> int:
        """Seed of all that is drawn at random."""
        return int(self.grammar.get_params().get("random_state", 0))

    def jackknife(self, n_folds: int) -> Iterator[Fold]:
        """Yield each fold of documents, with grammars and components that never saw its trees.

        Args:
            n_folds: how many.
        """
        folds = folds_of(self.trees.documents, n_folds)
        for number in np.unique(folds).tolist():
            yield Fold(number, folds == number, self.learn_part(self, folds != number))


class Fold(NamedTuple):
    """A fold of a treebank.

    Attributes:
        number: of the fold, from 0.
        held_out: bool (n_trees,); its trees.
        others: what was learned from all other trees.
    """

    number: int
    held_out: NDArray[np.bool_]
    others: Context


class Component(ABC):
    """A dataclass of settings, which learns one part of a parser; see `ParserTrainer`.

    Class attributes:
        name: of the part, in `Parser.components`.
        least_trees: with fewer it is not learned.
        learned: before, beside (in another thread) or after the grammars.
    """

    name: ClassVar[str]
    least_trees: ClassVar[int] = 0
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


def learn_components(components: Sequence[Component], learned: str, context: Context) -> Mapping[str, Any]:
    """Add to a context the components of one stage, those that are on and have enough trees.

    Args:
        components: of a parser.
        learned: the stage, as of `Component`.
        context: whose components they join, if they have a value.
    """
    for each in components:
        if each.learned == learned and each.is_on and context.trees.first.n_trees >= each.least_trees:
            value = each.learn(context)
            if value is not None:
                context.components[each.name] = value
    return context.components


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
