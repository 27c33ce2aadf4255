"""Train a parser: its grammars, and components such as a span scorer.

Training has three steps: compute vectors or clusters of the trees' nodes; learn the components, one of which
needs a jackknife (``component.py``); learn the grammars. In domain adaptation, trees have weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, ClassVar, Self, cast

import numpy as np

from spectralnlp.estimator import MomentEstimator
from spectralnlp.estimators.parser.component import Component, Context
from spectralnlp.estimators.parser.silver import SilverTrees
from spectralnlp.estimators.shared.grammars import TreebankEstimator
from spectralnlp.estimators.shared.treebank import Treebank
from spectralnlp.hyperparameters import hyperparameters, unknown_name
from spectralnlp.progress import Stages
from spectralnlp.runtime import Corpus, Moments
from spectralnlp.trees import Tree

# Approximate time of the trainer's stages, in percent of the default training on two cores.
_BEFORE = {"reading": 7, "nodes": 16}
_AFTER = {"grammars": 4, "model": 9}


@dataclass(kw_only=True, eq=False, repr=False, init=False)
class ParserTrainer(MomentEstimator[Tree]):
    """Base class of trainers, which learn the grammars and the components of a parser.

    In Python, settings are those of the grammar's estimator and of each component; where settings are given
    by name, as after ``--set``, they are all in one list, in which each belongs to a single part.

    Args:
        grammar: estimator of the grammars with its settings; None for the defaults.
        components: components with their settings; those that are not given have the defaults.
        settings: settings of any part by name, which replace those of ``grammar`` and ``components``.

    Class attributes:
        parts: classes of the estimator of grammars and of the components.
        defaults: default values that differ from those of the parts.

    Attributes:
        grammar, components: the parts with their settings; the components include those that are turned off.
        grammar_: the fitted estimator of the grammars.
        components_: the learned components, by name; see `Parser.components`.

    Raises:
        TypeError: there is no such setting or component.

    Examples:
        >>> from spectralnlp import LPCFG, read_treebank, registry
        >>> from spectralnlp.estimators.parser.span_scorer import SpanScoring
        >>> kind = registry.estimators.get("lpcfg")
        >>> trainer = kind(grammar=LPCFG(grammars="clusters"), components=[SpanScoring(span_scorer=False)])
        >>> trainer.get_params() == kind(grammars="clusters", span_scorer=False).get_params()
        True
        >>> trainer.fit(read_treebank("corpora/treebank/train.mrg")).grammar_.n_trees_
        171
    """

    task = "parsing"
    parts: ClassVar[tuple[type[Any], ...]]
    defaults: ClassVar[Mapping[str, object]] = {}

    grammar: TreebankEstimator
    components: Sequence[Component]

    def __init__(
        self,
        *,
        grammar: TreebankEstimator | None = None,
        components: Sequence[Component] = (),
        **settings: Any,
    ) -> None:
        given = {type(each): each for each in (grammar, *components) if each is not None}
        what = f"{type(self).__name__}.__init__() got an unexpected"
        if strange := [name for name in settings if name not in hyperparameters(type(self))]:
            raise TypeError(f"{what} keyword argument {strange[0]!r}")
        if others := [kind.__name__ for kind in given if kind not in self.parts]:
            raise TypeError(f"{what} part {others[0]!r}")
        grammar, *components = (self._part(kind, given.get(kind), settings) for kind in self.parts)
        self.grammar, self.components = cast(TreebankEstimator, grammar), tuple(components)

    def _part(self, kind: type[Any], given: Any, settings: Mapping[str, Any]) -> Any:
        """Return a part with settings by name: those given, else those of a given part, else the defaults."""
        names = {field.name for field in fields(kind)}
        of_kind = {name: value for name, value in settings.items() if name in names}
        if given is not None:
            return replace(given, **of_kind)
        return kind(**{name: each for name, each in self.defaults.items() if name in names} | of_kind)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the settings of all parts by name."""
        parts: tuple[Any, ...] = (self.grammar, *self.components)
        return {field.name: getattr(part, field.name) for part in parts for field in fields(part)}

    def set_params(self, **params: Any) -> Self:
        """Change settings of the parts by name.

        Raises:
            ConfigError: there is no setting of that name; then none is changed.
        """
        for name in params:
            if name not in hyperparameters(type(self)):
                raise unknown_name("hyper-parameter", name, hyperparameters(type(self)), type(self))
        changed = replace(self, **params)
        self.grammar, self.components = changed.grammar, changed.components
        return self

    def check_combination(self) -> None:
        """Check that the settings of the grammars and of each component are compatible.

        Raises:
            ConfigError: two settings are incompatible.
        """
        self.grammar.check_combination()
        for component in self.components:
            component.check_combination()

    def least_trees(self) -> int:
        """Return the minimum number of trees needed to learn all components that are turned on."""
        return max((each.least_trees for each in self.components if each.is_on), default=0)

    def _needs_trees(self) -> bool:
        return any(each.is_on for each in self.components)

    def init_moments(self, corpus: Corpus[Tree]) -> Moments[Tree]:
        """Return empty moments, in which training data are collected from trees.

        They are logs of the trees if a component is turned on, because components need the trees themselves.
        Otherwise, they are the moments of the grammar estimator, such as counts of rules.
        """
        grammar = self.grammar
        return grammar.init_trees(corpus) if self._needs_trees() else grammar.init_moments(corpus)

    def solve(self, moments: Any) -> None:
        """Learn grammars and components from the moments.

        Raises:
            InputError: there are no trees.
        """
        if self._needs_trees():
            self.learn(self.treebank(moments))
        else:
            self._begin()
            self.grammar_.solve(moments)

    def treebank(self, moments: Any, later: Sequence[Any] = ()) -> Treebank:
        """Return the trees of moments, followed by the silver trees, and by those of further moments.

        Args:
            moments: logs of gold trees.
            later: logs of trees that come after the silver trees.

        Raises:
            InputError: there are no trees, or a file of silver trees cannot be read.
        """
        silver = next((each for each in self.components if isinstance(each, SilverTrees)), SilverTrees())
        if not (silver.is_on or later):
            return self.grammar.treebank(moments)  # without a copy of the logs, which may be on the disk
        logs, kinds = moments.empty_like(), []
        for is_silver, part in ((False, moments), (True, silver.log(moments)), *((False, m) for m in later)):
            logs.append(part)
            kinds.append(np.full(len(part.first_replay_log().places()), is_silver))
        trees = self.grammar.treebank(logs)
        return trees.with_silver(np.concatenate(kinds), silver.silver_weight)

    def _begin(self) -> None:
        """Set the fitted attributes to a new estimator of grammars and no components."""
        self.grammar_: TreebankEstimator = replace(self.grammar)
        self.components_: Mapping[str, Any] = {}

    def learn(self, trees: Treebank) -> None:
        """Learn the components and then the grammars from a treebank, whose trees may have weights."""
        self._begin()
        trees = trees.without_copies()
        self.grammar_.describe(trees)
        learner = self.grammar_.learner(trees)
        context = Context(learner, self.grammar_, self.components)
        for each in self.components:
            each.check(context)
        last = context.wanted("after")
        stages = Stages({**_BEFORE, **{each.name: each.time(context) for each in last}, **_AFTER})
        stages.report_done("reading")
        context.learn("before")
        context.learn_concurrently(learner.describe_nodes)
        stages.report_done("nodes")
        for each in last:
            context.report_done = partial(stages.report_done, each.name)
            context.learn_component(each)
        self.components_ = context.components
        self.grammar_.grammar_sets_ = learner.learn()
        stages.report_done("grammars")
