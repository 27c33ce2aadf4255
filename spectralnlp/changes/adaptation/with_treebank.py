"""Adaptation: a general model and a few trees of another domain become one model.

Moments are additive, so the trees of the domain are added to those that the general model keeps, and count
more often, the more so the fewer they are. Unlabelled text is parsed by the model that comes of that, and its
trees are added to the general ones, each counting once (self-training, McClosky et al. 2006). Of a sentence
some of whose brackets are known, all likely trees that have them are learned from, each by its probability
(Pereira and Schabes 1992).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial as bound
from itertools import islice
from typing import Any

import numpy as np

from spectralnlp.changes.adaptation.adapter import check_weight, holds_counts
from spectralnlp.changes.adaptation.adapter import usual_weight as usual_weight_of
from spectralnlp.changes.adaptation.completion import WeightedTree, completions
from spectralnlp.changes.kept import estimator_named, task_of
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimator import Estimator
from spectralnlp.estimators.parser.trainer import ParserTrainer
from spectralnlp.models.parser import Parser
from spectralnlp.parameters import Floats
from spectralnlp.progress import timed_passes
from spectralnlp.runtime import Corpus, InMemoryCorpus, Moments, accumulate, map_ordered
from spectralnlp.tasks.api import load
from spectralnlp.tasks.task import ProgressCallback, silent
from spectralnlp.tasks.token_boundaries import conventions_of
from spectralnlp.text.constraints import NoTreeError
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import strip_root

_LONGEST = 60  # tokens of sentences of unlabelled text that teach
_MOST_PARSED = 15_000
_SHOWN = 60  # characters of a sentence that is left out


def adapt(
    estimator: Estimator[Any],
    general: Moments[Any],
    own: Corpus[Any],
    *,
    weight: float | None = None,
    partial: Iterable[Sentence] | None = None,
    unlabelled: Iterable[Any] | None = None,
    report: ProgressCallback = silent,
    description: str = "",
) -> Any:
    """Make a model of a general treebank and of trees of a domain.

    Args:
        estimator: of parsers, with the general model's settings, unfitted.
        general: what the general model keeps, or what `observed` gave.
        own: trees of the domain.
        weight: how often each of these counts; None for `usual_weight`.
        partial: sentences of the domain with constraints on their trees. The trees that meet these count by
            their probability, and together as one tree of the domain does. Sentences that no tree of the
            adapted model meets are left out; None for none.
        unlabelled: tokenised sentences of the domain; None for none.
        report: called with a line for each pass.
        description: Markdown for the model card.

    Raises:
        ConfigError: the estimator cannot be adapted, or the weight is not positive.
        InputError: there are no trees, or constraints that make no sense.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp import changes, registry
        >>> trainer = registry.estimators.get("lpcfg")(grammars="clusters", n_states=2)
        >>> trees = list(spectralnlp.read_treebank("corpora/treebank/train.mrg"))
        >>> general = changes.observed(trainer, spectralnlp.InMemoryCorpus(trees[:100]))
        >>> own = spectralnlp.InMemoryCorpus(trees[100:150])
        >>> changes.adapt(trainer, general, own, weight=2.0).info["training trees"]
        150
    """
    if estimator.task != "parsing":
        what = f"only parsers can be adapted, and this estimator is for {estimator.task}"
        raise ConfigError(what, hint="`update` adds examples to other models")
    task = task_of(estimator)
    trees = list(task.examples(estimator, own))
    if not trees:
        raise InputError("no trees to adapt to", hint="give files with trees of the domain")
    if weight is None:
        weight = usual_weight(general, len(trees))
    check_weight(weight)
    report(f"adapt: each of {len(trees):,} trees counts {weight:.1f} times")
    moments = _moments(general, trees)
    reporting: dict[str, Any] = {"report": report, "description": description}
    model = _solved(estimator, general, moments, weight, **reporting)
    if partial is None and unlabelled is None:
        return model
    shares = None
    if partial is not None:
        completed = [each for likely in completed_trees(model, partial, report) for each in likely]
        moments.append(_moments(general, [each.tree for each in completed]))
        shares = np.array([1.0] * len(trees) + [each.share for each in completed])
    if unlabelled is not None:
        parsed = _parsed(model, unlabelled)
        report(f"adapt: {len(parsed):,} sentences of unlabelled text are parsed")
        general = deepcopy(general)
        general.append(_moments(general, parsed))
    return _solved(replace(estimator), general, moments, weight, shares, **reporting)


def _solved(
    trainer: Estimator[Any],
    general: Any,
    own: Any,
    weight: float,
    shares: Floats | None = None,
    report: ProgressCallback = silent,
    description: str = "",
) -> Parser:
    """The parser of general moments and of those of a domain; see `ParserTrainer.solve_adapted`.

    Raises:
        ConfigError: the estimator trains no parser.
    """
    if not isinstance(trainer, ParserTrainer):
        what = f"{trainer.known_as} cannot be adapted: its examples all count once"
        raise ConfigError(what, hint="train it again on all the data, or use lpcfg")
    with timed_passes(report):
        trainer.solve_adapted(general.parts["estimator"], own.parts["estimator"], weight, shares)
    model = task_of(trainer).described(trainer, report=report, description=description)
    return replace(model, conventions=conventions_of(general, own))


def completed_trees(
    parser: Parser, partial: Iterable[Sentence], report: ProgressCallback
) -> list[list[WeightedTree]]:
    """The likely trees of each sentence under its constraints, without the sentences that have none.

    Args:
        parser: adapted already.
        partial: the sentences.
        report: told how many there are, and which is the first that was left out.

    Raises:
        InputError: there are constraints that make no sense.
    """
    completed: list[list[WeightedTree]] = []
    left_out: list[str] = []
    for trees, reason in map_ordered(bound(_completed, parser), partial):
        if trees:
            completed.append(trees)
        else:
            left_out.append(reason)
    n_all, ways = len(completed) + len(left_out), sum(map(len, completed)) / max(len(completed), 1)
    others = f"; the first of the others, {left_out[0]}" if left_out else ""
    report(f"adapt: {len(completed):,} of {n_all:,} partial trees completed, {ways:.1f} ways each{others}")
    return completed


def _completed(parser: Parser, sentence: Sentence) -> tuple[list[WeightedTree], str]:
    """The trees of a sentence, or why there are none."""
    reason = "the model has no tree for its words"
    try:
        if trees := completions(parser, sentence):
            return trees, ""
    except NoTreeError as error:
        reason = error.what
    return [], f"{' '.join(sentence.words)[:_SHOWN]!r}: {reason}"


def observed(estimator: Estimator[Any], corpus: Corpus[Any]) -> Moments[Any]:
    """Return the moments of a treebank, to adapt from where a model keeps none.

    Args:
        estimator: unfitted.
        corpus: the trees.

    Raises:
        ConfigError: the estimator keeps no moments.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp import PCFG, changes
        >>> trees = spectralnlp.read_treebank("corpora/treebank/dev.mrg")
        >>> changes.observed(PCFG(), trees).is_exact
        True
    """
    task = task_of(estimator)
    examples = task.examples(estimator, corpus)
    moments = accumulate(task.init_kept_moments(estimator, examples), examples)
    moments.renumber()
    return moments


def estimator_of(model: str, settings: Mapping[str, str] | None = None) -> Estimator[Any]:
    """Return an unfitted estimator with the settings that a model was trained with.

    Args:
        model: folder of a model, or the name of an installed one.
        settings: others in place of some of these, as text.

    Raises:
        ConfigError: the model does not say, or its estimator is not installed.

    Examples:
        >>> from spectralnlp import changes
        >>> changes.estimator_of("en").task
        'parsing'
    """
    return estimator_with_settings(load(model).about, settings)


def estimator_with_settings(
    about: Mapping[str, Any], settings: Mapping[str, str] | None = None
) -> Estimator[Any]:
    """Return an unfitted estimator, as `estimator_of`, from what a model says about itself."""
    kind, values = estimator_named(about.get("estimator")), about.get("parameters")
    if kind is not None and isinstance(values, Mapping):
        known = {key: each for key, each in values.items() if key in kind().get_params()}
        return kind.from_settings(settings or {}, known)
    what = "the model does not say by which estimator and settings it was trained"
    raise ConfigError(what, hint="train a model, and adapt that")


def needs_moments(trainer: Any, model: Any) -> bool:
    """Whether a model can be adapted only with its moments, or with its treebank again."""
    return isinstance(trainer, ParserTrainer) and not holds_counts(model)


def usual_weight(general: Moments[Any], n_own: int) -> float:
    """Return the root of how many times as many the general examples are, from 1 to 7.5.

    Args:
        general: moments of the general examples.
        n_own: number of those of the domain.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp import changes, registry
        >>> trees = spectralnlp.read_treebank("corpora/treebank/train.mrg")
        >>> trainer = registry.estimators.get("lpcfg")()
        >>> round(changes.usual_weight(changes.observed(trainer, trees), 19), 2)
        3.0
    """
    return usual_weight_of(_n_examples(general), n_own)


def _n_examples(moments: Moments[Any]) -> int:
    """How many examples are in a replay log; 0 where there is none, which cannot be adapted anyway."""
    log = moments.first_log()
    return 0 if log is None else len(log.arrays()["places"])


def _moments(general: Moments[Any], trees: Sequence[Any]) -> Moments[Any]:
    return accumulate(general.empty_like(), InMemoryCorpus(trees))


def _parsed(parser: Any, sentences: Iterable[Any]) -> list[Any]:
    """The trees of sentences, but of long ones and of those that the parser has no derivation for."""
    parses = islice((each for each in parser.parse_many(sentences) if each is not None), _MOST_PARSED)
    good = (each for each in parses if each.fallback is None and len(each.tree.words()) <= _LONGEST)
    return [strip_root(each.tree) for each in good]
