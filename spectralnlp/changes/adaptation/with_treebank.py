"""Adapt a parser to a domain by training on its general treebank and, with more weight, on domain trees.

Moments (training statistics) are additive, so the moments of the domain's trees are added to those of the
general treebank, multiplied by a weight that is larger the fewer trees there are. Two further sources of data
are optional. Unlabelled text is parsed by the adapted model, and its trees are added with weight 1
(self-training, McClosky et al. 2006). For partially annotated sentences, all probable trees with the known
brackets are added, each weighted by its probability (Pereira and Schabes 1992).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial as bound
from itertools import islice
from typing import Any

import numpy as np

from spectralnlp.changes.adaptation.adapter import check_weight, has_counted_states
from spectralnlp.changes.adaptation.adapter import default_weight as default_weight_of
from spectralnlp.changes.adaptation.completion import WeightedTree, completions
from spectralnlp.changes.kept_moments import estimator_named, task_of
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

_LONGEST = 60  # maximum tokens of a sentence of unlabelled text
_MAX_PARSED = 15_000
_SHOWN = 60  # characters shown of a skipped sentence


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
    task = task_of(estimator)
    trees = list(task.examples(estimator, domain))
    if not trees:
        raise InputError("no trees to adapt to", hint="give files with trees of the domain")
    if weight is None:
        weight = default_weight(general, len(trees))
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
    domain: Any,
    weight: float,
    shares: Floats | None = None,
    report: ProgressCallback = silent,
    description: str = "",
) -> Parser:
    """Return a parser learned from the moments of a treebank and the weighted moments of domain trees.

    Args:
        trainer: unfitted estimator of the parser.
        general: moments (training statistics) of the general treebank.
        domain: moments of the trees of the domain.
        weight: how many times each sentence of the domain counts.
        shares: float64 (n_trees,); probability of each domain tree among the candidate trees of its sentence;
            None if each sentence has a single tree.
        report: progress callback.
        description: Markdown for the model card.

    Raises:
        ConfigError: the estimator does not train parsers, or cannot weight examples.
    """
    if not isinstance(trainer, ParserTrainer):
        what = f"{trainer.display_name} cannot be adapted: its examples all count once"
        raise ConfigError(what, hint="train it again on all the data, or use lpcfg")
    with timed_passes(report):
        trainer.solve_adapted(general.parts["estimator"], domain.parts["estimator"], weight, shares)
    model = task_of(trainer).to_model(trainer, report=report, description=description)
    return replace(model, conventions=conventions_of(general, domain))


def completed_trees(
    parser: Parser, partial: Iterable[Sentence], report: ProgressCallback
) -> list[list[WeightedTree]]:
    """Return the probable trees of each partially annotated sentence; sentences without a tree are skipped.

    Args:
        parser: the parser, already adapted to complete trees.
        partial: sentences with constraints on their trees.
        report: progress callback; called once with a line that gives the number of sentences with trees, and
            quotes the first skipped sentence.

    Raises:
        InputError: the constraints of a sentence are invalid.
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
    """Return the probable trees of a sentence under its constraints, or the reason why there are none.

    Returns:
        The trees, and a message that quotes the sentence and says why it has no tree; empty if there are
        trees.
    """
    reason = "the model has no tree for its words"
    try:
        if trees := completions(parser, sentence):
            return trees, ""
    except NoTreeError as error:
        reason = error.what
    return [], f"{' '.join(sentence.words)[:_SHOWN]!r}: {reason}"


def moments_of(estimator: Estimator[Any], corpus: Corpus[Any]) -> Moments[Any]:
    """Compute the moments (training statistics) of a treebank, for `adapt` if the model has not kept them.

    Args:
        estimator: an unfitted estimator.
        corpus: trees of the treebank.

    Raises:
        ConfigError: moments of this estimator cannot be kept.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp import PCFG, changes
        >>> trees = spectralnlp.read_treebank("corpora/treebank/dev.mrg")
        >>> changes.moments_of(PCFG(), trees).can_forget
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
        model: folder of a model, or name of an installed one.
        settings: settings to change; maps names to values as text.

    Raises:
        ConfigError: the model's metadata do not name its estimator and settings, the estimator is not
            installed, or there is no such setting.

    Examples:
        >>> from spectralnlp import changes
        >>> changes.estimator_of("en").task
        'parsing'
    """
    return estimator_with_settings(load(model).about, settings)


def estimator_with_settings(
    about: Mapping[str, Any], settings: Mapping[str, str] | None = None
) -> Estimator[Any]:
    """Return an unfitted estimator from a model's metadata ``about``; see `estimator_of`."""
    kind, values = estimator_named(about.get("estimator")), about.get("parameters")
    if kind is not None and isinstance(values, Mapping):
        known = {key: each for key, each in values.items() if key in kind().get_params()}
        return kind.from_settings(settings or {}, known)
    what = "the model does not say by which estimator and settings it was trained"
    raise ConfigError(what, hint="train a model, and adapt that")


def needs_moments(trainer: Any, model: Any) -> bool:
    """Return whether a parser can only be adapted with its treebank, or with the moments of the treebank.

    The result is False if all grammars have counted states (`has_counted_states`), because then
    `adapt_without_treebank` can adapt the parser.

    Args:
        trainer: estimator of the model.
        model: the model; for models other than parsers, the result is False.
    """
    return isinstance(trainer, ParserTrainer) and not has_counted_states(model)


def default_weight(general: Moments[Any], n_domain: int) -> float:
    """Return the default weight of a domain tree, √(n_general / n_domain), limited to the range 1 to 7.5.

    Args:
        general: moments of the general treebank, which give its number of trees.
        n_domain: number of trees of the domain.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp import changes, registry
        >>> trees = spectralnlp.read_treebank("corpora/treebank/train.mrg")
        >>> trainer = registry.estimators.get("lpcfg")()
        >>> round(changes.default_weight(changes.moments_of(trainer, trees), 19), 2)
        3.0
    """
    return default_weight_of(_n_examples(general), n_domain)


def _n_examples(moments: Moments[Any]) -> int:
    """Return the number of training examples that moments store; 0 for moments that store no examples."""
    log = moments.first_replay_log()
    return 0 if log is None else len(log.arrays()["places"])


def _moments(general: Moments[Any], trees: Sequence[Any]) -> Moments[Any]:
    return accumulate(general.empty_like(), InMemoryCorpus(trees))


def _parsed(parser: Any, sentences: Iterable[Any]) -> list[Any]:
    """Return the trees of sentences; sentences that are too long or have no tree are skipped."""
    parses = islice((each for each in parser.parse_many(sentences) if each is not None), _MAX_PARSED)
    good = (each for each in parses if each.fallback is None and len(each.tree.words()) <= _LONGEST)
    return [strip_root(each.tree) for each in good]
