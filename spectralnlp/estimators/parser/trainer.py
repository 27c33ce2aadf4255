"""Train a parser: its grammars, and components such as a span scorer.

Training has three steps: compute vectors or clusters of the trees' nodes; learn the components, one of which
needs a jackknife (``component.py``); learn the grammars. In domain adaptation, trees have weights.
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

# Approximate time of the trainer's stages, in percent of the default training on two cores.
_BEFORE = {"reading": 7, "nodes": 16}
_AFTER = {"grammars": 4, "model": 9}


class ParserTrainer(MomentEstimator[Tree]):
    """Base class of trainers, which learn the grammars and the components of a parser.

    A subclass lists the parts of the parser, and becomes a dataclass with the settings of all parts; each
    setting belongs to a single part.

    Class attributes:
        parts: dataclasses with the settings: the estimator of grammars, then the components.
        defaults: default values that differ from those of the parts.

    Attributes:
        grammar_: the fitted estimator of the grammars.
        components_: the learned components, by name; see `Parser.components`.

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
        """Create an object of a class in `parts`, with the settings that it shares with this trainer."""
        return part(**{field.name: getattr(self, field.name) for field in fields(part)})

    @property
    def grammar(self) -> TreebankEstimator:
        """An unfitted estimator of the grammars."""
        return self._part(self.parts[0])

    @property
    def components(self) -> list[Component]:
        """The components with their settings, including those that are turned off."""
        return [self._part(part) for part in self.parts if issubclass(part, Component)]

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
        self.grammar_, self.components_ = self.grammar, {}
        if self._needs_trees():
            self._learn_all(self.grammar_.treebank(moments))
        else:
            self.grammar_.solve(moments)

    def solve_adapted(
        self, general: Moments[Tree], domain: Moments[Tree], weight: float, shares: Floats | None = None
    ) -> ParserTrainer:
        """Learn from a general treebank and from trees of a domain, which have a larger weight.

        Args:
            general: moments of the general treebank, as `init_moments` returns them.
            domain: moments of the trees of the domain, with the same parameters.
            weight: weight of each sentence of the domain.
            shares: float64 (n_domain,); probability of each domain tree among the candidate trees of its
                sentence; None if each sentence has a single tree.

        Raises:
            ConfigError: the moments are counts instead of trees.
        """
        self.validate()
        log = domain.first_replay_log()
        if log is None:
            what = f"{self.display_name} cannot be adapted, because trees cannot have weights"
            raise ConfigError(what, hint="train it again on all the data, or use lpcfg")
        shares = np.ones(len(cast(TreeLog, log).documents())) if shares is None else shares
        joined = deepcopy(general)
        joined.append(domain)
        self.grammar_, self.components_ = self.grammar, {}
        with one_blas_thread():
            self._learn_all(self.grammar_.treebank(joined).weighted(weight, shares))
        return self

    def _learn_all(self, trees: Treebank) -> None:
        """Learn the components and then the grammars from a treebank."""
        trees = trees.without_copies()
        self.grammar_.describe(trees)
        learner = self.grammar_.learner(trees)
        context = Context(learner, self.grammar_, self.components)
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
