"""Training a parser: the estimator of its grammars runs, then the components that stand around them.

Nodes are described first, then components are learned, among them one that needs a jackknife
(``component.py``), and last the grammars. In adaptation some trees count more than others.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar, cast, get_type_hints

import numpy as np

from spectralnlp.errors import ConfigError
from spectralnlp.estimator import MomentEstimator
from spectralnlp.estimators.parser.component import Component, Context
from spectralnlp.estimators.shared.grammars import TreebankEstimator
from spectralnlp.estimators.shared.treebank import Treebank
from spectralnlp.linalg import one_blas_thread
from spectralnlp.parameters import Floats
from spectralnlp.progress import Stages
from spectralnlp.runtime import Corpus, Moments
from spectralnlp.trees import Tree
from spectralnlp.trees.treelog import TreeLog

# About how long the stages of the trainer take, in hundredths of the default training on two cores.
_BEFORE = {"reading": 7, "nodes": 16}
_AFTER = {"grammars": 4, "model": 9}


class ParserTrainer(MomentEstimator[Tree]):
    """Trains a parser.

    A subclass names the parts; it becomes a dataclass with the settings of all, each of which has one owner.

    Class attributes:
        parts: the dataclasses that own the settings: the estimator of grammars, then the components.
        defaults: of settings, where they are not those of the owners.

    Attributes:
        grammar_: the fitted estimator of the grammars.
        components_: what was learned around them, by name; see `Parser.components`.

    Examples:
        >>> from spectralnlp import read_treebank, registry
        >>> trainer = registry.estimators.get("lpcfg")(grammars="clusters", span_scorer=False)
        >>> trainer.fit(read_treebank("corpora/treebank/train.mrg")).grammar_.n_trees_
        171
    """

    task = "parsing"
    parts: ClassVar[tuple[type[Any], ...]]
    defaults: ClassVar[Mapping[str, object]] = {}

    grammar_: TreebankEstimator
    components_: Mapping[str, Any]

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        for part in cls.parts:
            annotations = get_type_hints(part, include_extras=True)
            for field in fields(part):
                cls.__annotations__[field.name] = annotations[field.name]
                setattr(cls, field.name, cls.defaults.get(field.name, field.default))
        dataclass(kw_only=True, eq=False, repr=False)(cls)

    def _part(self, part: type[Any]) -> Any:
        """A part with its settings."""
        return part(**{field.name: getattr(self, field.name) for field in fields(part)})

    @property
    def grammar(self) -> TreebankEstimator:
        """An unfitted estimator of the grammars."""
        return self._part(self.parts[0])

    @property
    def components(self) -> list[Component]:
        """The components, those that are off among them."""
        return [self._part(part) for part in self.parts if issubclass(part, Component)]

    def check_combination(self) -> None:
        """Check the settings of the grammars together, and of each component; errors as theirs."""
        self.grammar.check_combination()
        for component in self.components:
            component.check_combination()

    def least_trees(self) -> int:
        """Return how many trees it takes to learn all components that are on."""
        return max((each.least_trees for each in self.components if each.is_on), default=0)

    def _needs_trees(self) -> bool:
        return any(each.is_on for each in self.components)

    def init_moments(self, corpus: Corpus[Tree]) -> Moments[Tree]:
        """Return empty moments of the grammars: those that hold trees if a component is on."""
        grammar = self.grammar
        return grammar.init_trees(corpus) if self._needs_trees() else grammar.init_moments(corpus)

    def solve(self, moments: Any) -> None:
        """Learn grammars and components from the moments.

        Raises:
            InputError: there are no trees.
        """
        self.grammar_, self.components_ = self.grammar, {}
        if self._needs_trees():
            self._learn_all(self.grammar_.treebank(moments))
        else:
            self.grammar_.solve(moments)

    def solve_adapted(
        self, general: Moments[Tree], own: Moments[Tree], weight: float, shares: Floats | None = None
    ) -> ParserTrainer:
        """Learn from a general treebank, and from trees of a domain, which count more.

        Args:
            general: as of `init_moments`.
            own: of the trees of the domain, with the same parameters.
            weight: how often each of these counts.
            shares: float64 (n_own,); what part of a sentence each of these trees is, less than 1 for one of
                the several that it may have; None if all are whole.

        Raises:
            ConfigError: the moments hold no trees, but counts.
        """
        self.validate()
        log = own.first_log()
        if log is None:
            what = f"{self.known_as} cannot be adapted: its trees all count once"
            raise ConfigError(what, hint="train it again on all the data, or use lpcfg")
        shares = np.ones(len(cast(TreeLog, log).documents())) if shares is None else shares
        joined = deepcopy(general)
        joined.append(own)
        self.grammar_, self.components_ = self.grammar, {}
        with one_blas_thread():
            self._learn_all(self.grammar_.treebank(joined).weighted(weight, shares))
        return self

    def _learn_all(self, trees: Treebank) -> None:
        """Learn the components, and last the grammars, which take most memory."""
        trees = trees.without_copies()
        self.grammar_.describe(trees)
        learner = self.grammar_.learner(trees)
        context = Context(learner, self.grammar_, self.components)
        last = context.wanted("after")
        stages = Stages({**_BEFORE, **{each.name: each.time for each in last}, **_AFTER})
        stages.report_done("reading")
        context.learn("before")
        context.learn_beside(learner.describe_nodes)
        stages.report_done("nodes")
        for each in last:
            context.report_done = partial(stages.report_done, each.name)
            context.learn_component(each)
        self.components_ = context.components
        self.grammar_.grammar_sets_ = learner.learn()
        stages.report_done("grammars")
