"""The trees of a domain that a parser is adapted to, with their weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.runtime import Moments
from spectralnlp.trees import Tree

_MAX_WEIGHT = 1_000_000
# Bounds of the default weight: with a larger one, grammars overfit the few trees.
_LEAST_DEFAULT, _MOST_DEFAULT = 1.0, 7.5


class WeightedTree(NamedTuple):
    """Candidate tree of a sentence, with its probability.

    Attributes:
        tree: the tree, without the root ``TOP``.
        share: probability of the tree among the candidates, in (0, 1].
    """

    tree: Tree
    share: float


@dataclass(frozen=True)
class Domain:
    """What is added to the counts of a general parser to adapt it.

    Attributes:
        weight: how many times each sentence of the domain counts.
        trees: trees of the domain, one or more.
        completed: candidate trees of each partially annotated sentence, the most probable first.
        parsed: trees by the adapted parser, which count once.
    """

    weight: float
    trees: Sequence[Tree]
    completed: Sequence[Sequence[WeightedTree]] = ()
    parsed: Sequence[Tree] = ()

    @classmethod
    def of(cls, trees: Iterable[Tree], general: Moments[Any] | float, weight: float | None) -> Domain:
        """Return a domain of complete trees.

        Args:
            trees: the trees.
            general: moments of the general treebank, or its number of trees.
            weight: how many times each tree counts; None for `default_weight`.

        Raises:
            ConfigError: the weight is not positive, or is above a million.
            InputError: there are no trees.
        """
        trees = list(trees)
        if not trees:
            raise InputError("no trees to adapt to", hint="give files with trees of the domain")
        weight = default_weight(general, len(trees)) if weight is None else weight
        if not 0 < weight <= _MAX_WEIGHT:
            raise ConfigError(f"a weight must be above 0 and at most {_MAX_WEIGHT:,}, not {weight:g}")
        return cls(weight, trees)


def default_weight(general: Moments[Any] | float, n_domain: int) -> float:
    """Return the default weight of a domain tree, √(n_general / n_domain), limited to the range 1 to 7.5.

    Args:
        general: moments of the general treebank, or its number of trees.
        n_domain: number of trees of the domain, at least 1.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp import changes, registry
        >>> trees = spectralnlp.read_treebank("corpora/treebank/train.mrg")
        >>> trainer = registry.estimators.get("lpcfg")()
        >>> round(changes.default_weight(changes.moments_of(trainer, trees), 19), 2)
        3.0
    """
    n_general = _n_examples(general) if isinstance(general, Moments) else general
    return min(max(sqrt(n_general / n_domain), _LEAST_DEFAULT), _MOST_DEFAULT)


def _n_examples(moments: Moments[Any]) -> int:
    """Return the number of training examples that moments store; 0 for moments that store no examples."""
    log = moments.first_replay_log()
    return 0 if log is None else len(log.arrays()["places"])
