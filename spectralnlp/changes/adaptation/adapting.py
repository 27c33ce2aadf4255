"""Adapt a parser to a domain: add the counts of a few trees of the domain to those that it was learned from.

The counts are the moments (training statistics) of the general treebank where they are there, and the parser
is then learned anew (`adapt`). Otherwise they are read off its grammars (`adapt_without_treebank`). The trees
of the domain are multiplied by a weight that is larger the fewer trees there are. Two further sources of data
are optional. For partially annotated sentences, all probable trees with the known brackets are added, each
weighted by its probability (Pereira and Schabes 1992). Unlabelled text is parsed by the adapted model, and
its trees are added with weight 1 (self-training, McClosky et al. 2006).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial as bound
from itertools import chain, islice
from typing import Any

import numpy as np

from spectralnlp.changes.adaptation.adapter import Adapter
from spectralnlp.changes.adaptation.completion import completed_trees
from spectralnlp.changes.adaptation.domain import Domain
from spectralnlp.changes.kept_moments import task_of
from spectralnlp.errors import ConfigError
from spectralnlp.estimator import Estimator
from spectralnlp.estimators.parser.trainer import ParserTrainer
from spectralnlp.linalg import one_blas_thread
from spectralnlp.models.parser import Parser
from spectralnlp.progress import timed_passes
from spectralnlp.runtime import Corpus, InMemoryCorpus, Moments, accumulate
from spectralnlp.tasks.task import ProgressCallback, silent
from spectralnlp.tasks.token_boundaries import conventions_of
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree, strip_root

_LONGEST = 60  # maximum tokens of a sentence of unlabelled text
_MAX_PARSED = 15_000


def adapt(
    estimator: Estimator[Any],
    general: Moments[Any],
    domain: Corpus[Any],
    *,
    weight: float | None = None,
    partial: Iterable[Sentence] | None = None,
    unlabelled: Iterable[Any] | None = None,
    report: ProgressCallback = silent,
    description: str = "",
) -> Any:
    """Train a parser on a general treebank and on trees of a domain.

    Args:
        estimator: an unfitted estimator of parsers, with the settings of the general model.
        general: moments (training statistics) of the general treebank: those kept with the general model, or
            the result of `moments_of`.
        domain: trees of the domain.
        weight: how many times each tree of the domain counts; None for `default_weight`.
        partial: sentences of the domain with constraints on their trees. For each sentence, the trees that
            meet its constraints are weighted by their probabilities, which sum to 1. Sentences for which the
            adapted model has no such tree are skipped.
        unlabelled: tokenised sentences of the domain; the adapted parser parses them, and its trees are added
            to the training data.
        report: progress callback, called with a line for each pass.
        description: Markdown for the model card.

    Raises:
        ConfigError: the estimator cannot be adapted, or the weight is not positive.
        InputError: there are no trees, or the constraints of a sentence are invalid.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp import changes, registry
        >>> trainer = registry.estimators.get("lpcfg")(grammars="clusters", n_states=2)
        >>> trees = list(spectralnlp.read_treebank("corpora/treebank/train.mrg"))
        >>> general = changes.moments_of(trainer, spectralnlp.InMemoryCorpus(trees[:100]))
        >>> domain = spectralnlp.InMemoryCorpus(trees[100:150])
        >>> changes.adapt(trainer, general, domain, weight=2.0).info["training trees"]
        150
    """
    if estimator.task != "parsing":
        what = f"only parsers can be adapted, and this estimator is for {estimator.task}"
        raise ConfigError(what, hint="`update` adds examples to other models")
    own = Domain.of(task_of(estimator).examples(estimator, domain), general, weight)
    report(f"adapt: each of {len(own.trees):,} trees counts {own.weight:.1f} times")
    learn = bound(_learn_anew, estimator, general, report, description)
    return _adapted(learn, own, partial, unlabelled, report)


def adapt_without_treebank(
    parser: Parser | Adapter,
    trees: Sequence[Tree],
    *,
    weight: float | None = None,
    max_scorer_trees: int | None = None,
    partial: Iterable[Sentence] | None = None,
    report: ProgressCallback = silent,
) -> Parser:
    """Adapt a parser to trees of a domain, without the treebank or the moments it was trained on.

    Args:
        parser: a parser whose grammars have counted states (clusters), such as the shipped models; or an
            `Adapter` of it, which makes repeated calls faster: only trees that were not in the last call
            are counted.
        trees: one or more trees of the domain, without traces and function tags.
        weight: how many times each tree counts; None for the square root of the ratio of the parser's
            training trees to these trees, limited to the range 1 to 7.5.
        max_scorer_trees: if ``trees`` has more than twice this number of trees, the span scorer learns only
            from this number of trees, the last ones of ``trees``; None to learn from all trees.
        partial: partially annotated sentences, as for :func:`~spectralnlp.changes.adapt`; the span scorer
            learns from the most probable tree of each.
        report: progress callback, called with a line for each pass.

    Raises:
        ConfigError: a grammar of the parser has no counted states, or the weight is not positive.
        InputError: there are no trees, or the constraints of a partially annotated sentence are invalid.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp import changes
        >>> from spectralnlp.trees import read_brackets
        >>> trees = list(read_brackets(["(HEADING (NP (NNS Methods)) (: :))"] * 9))
        >>> parser = changes.adapt_without_treebank(spectralnlp.load("en"), trees)
        >>> print(parser.parse_tokens(["Results", ":"]).tree)
        (TOP (HEADING (NP (NNS Results)) (: :)))
    """
    adapter = parser if isinstance(parser, Adapter) else Adapter(parser)
    own = Domain.of(trees, adapter.n_trees, weight)
    return _adapted(bound(adapter.learn, max_scorer_trees=max_scorer_trees), own, partial, None, report)


def _adapted(
    learn: Callable[[Domain], Parser],
    domain: Domain,
    partial: Iterable[Sentence] | None,
    unlabelled: Iterable[Any] | None,
    report: ProgressCallback,
) -> Parser:
    """Return a parser adapted to a domain and, in a second round, to what it makes of further sentences.

    Args:
        learn: function that adds what a domain holds to the counts of the general parser, and returns the
            parser learned from both.
        domain: trees of the domain.
        partial: partially annotated sentences; None for none.
        unlabelled: tokenised sentences; None for none.
        report: progress callback.
    """
    parser = learn(domain)
    if partial is None and unlabelled is None:
        return parser
    if partial is not None:
        domain = replace(domain, completed=completed_trees(parser, partial, report))
    if unlabelled is not None:
        domain = replace(domain, parsed=_parsed(parser, unlabelled))
        report(f"adapt: {len(domain.parsed):,} sentences of unlabelled text are parsed")
    return learn(domain)


def _learn_anew(
    estimator: Estimator[Any],
    general: Any,
    report: ProgressCallback,
    description: str,
    domain: Domain,
) -> Parser:
    """Return a parser learned from a general treebank and from what a domain holds.

    Args:
        estimator: unfitted estimator of the parser.
        general: moments (training statistics) of the general treebank.
        report: progress callback.
        description: Markdown for the model card.
        domain: what to add.

    Raises:
        ConfigError: the estimator does not train parsers, or keeps counts, which cannot be weighted.
    """
    if not isinstance(estimator, ParserTrainer) or general.first_replay_log() is None:
        what = f"{estimator.display_name} cannot be adapted: its examples all count once"
        raise ConfigError(what, hint="train it again on all the data, or use lpcfg")
    estimator.validate()
    trainer, moments = replace(estimator), deepcopy(general)
    completed = list(chain.from_iterable(domain.completed))
    added = [
        accumulate(general.empty_like(), InMemoryCorpus(trees))
        for trees in (domain.parsed, domain.trees, [each.tree for each in completed])
    ]
    shares = np.array([1.0] * len(domain.trees) + [each.share for each in completed])
    with timed_passes(report), one_blas_thread():
        later = [each.parts["estimator"] for each in added]
        treebank = trainer.treebank(general.parts["estimator"], later)
        trainer.learn(treebank.weighted(domain.weight, shares))
    for each in added:
        moments.append(each)
    model = task_of(trainer).to_model(trainer, report=report, description=description)
    return replace(model, conventions=conventions_of(moments))


def _parsed(parser: Parser, sentences: Iterable[Any]) -> list[Tree]:
    """Return the trees of sentences; sentences that are too long or have no tree are skipped."""
    parses = islice((each for each in parser.parse_many(sentences) if each is not None), _MAX_PARSED)
    good = (each for each in parses if each.fallback is None and len(each.tree.words()) <= _LONGEST)
    return [strip_root(each.tree) for each in good]
