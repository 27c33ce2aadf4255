"""Settings chosen by evidence: alternatives learn from a part of the examples, and are scored on another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from spectralnlp.estimator import Estimator, Tuning
from spectralnlp.progress import timed_passes
from spectralnlp.runtime import Corpus, InMemoryCorpus

if TYPE_CHECKING:
    from spectralnlp.tasks.task import Task

T = TypeVar("T")

# Neighbours are alike, so blocks of so many examples are held out, not single ones.
_BLOCK = 50
_HELD_OUT = 5  # every fifth block
_FEWEST = 500  # examples; fewer show no difference
# A difference that equal settings show so seldom is taken for one. There are some ten alternatives.
_BY_CHANCE = 0.02


def choose_settings(
    task: Task, estimator: Estimator[Any], corpus: Corpus[Any], report: Callable[[str], None]
) -> Estimator[Any]:
    """Return an estimator with the settings that the examples speak for.

    Args:
        task: of the estimator; trains, evaluates and compares.
        estimator: unfitted; returned as it is if it has no `Estimator.tuning`.
        corpus: what it is to be fitted to.
        report: called with a line for each alternative.
    """
    plan = estimator.tuning()
    if plan is None:
        return estimator
    estimator = replace(estimator, **plan.final)
    examples = list(corpus)
    if len(examples) < _FEWEST:
        report(f"tune: settings stay as they are, for there are fewer than {_FEWEST} examples")
        return estimator
    train, held_out = _parts(examples, plan, int(estimator.get_params().get("random_state", 0)))
    report(f"tune: {len(train):,} examples to learn from, {len(held_out):,} to score")

    def trial(settings: Mapping[str, object]) -> Any:
        with timed_passes(lambda line: None):
            fitted = replace(estimator, **{**plan.trial, **settings}).fit(InMemoryCorpus(train))
        return task.evaluate(task.wrap(fitted), InMemoryCorpus(held_out))

    chosen: dict[str, object] = {}
    best = trial(chosen)
    for settings in plan.alternatives:
        if all(getattr(estimator, name) == value for name, value in settings.items()):
            continue
        found = trial({**chosen, **settings})
        comparison: Any = task.compare(found, best)
        is_better = comparison.delta > 0 and comparison.p_value < _BY_CHANCE
        report(
            f"tune: {_written(settings)}: {comparison.score_a:.2f} ({comparison.delta:+.2f})"
            + (", taken" if is_better else "")
        )
        if is_better:
            chosen, best = {**chosen, **settings}, found
    report(f"tune: {_written(chosen) or 'nothing'} is set")
    return replace(estimator, **chosen)


def _parts(examples: Sequence[T], plan: Tuning, random_state: int) -> tuple[list[T], list[T]]:
    """Examples to learn from and examples to score, by blocks, in their order."""
    blocks = [examples[first : first + _BLOCK] for first in range(0, len(examples), _BLOCK)]
    order = np.random.default_rng(random_state).permutation(len(blocks)).tolist()
    n_held_out = max(min(len(blocks) // _HELD_OUT, plan.most_held_out // _BLOCK), 1)
    n_train = plan.most_examples // _BLOCK
    held_out, train = sorted(order[:n_held_out]), sorted(order[n_held_out : n_held_out + n_train])
    return [e for b in train for e in blocks[b]], [e for b in held_out for e in blocks[b]]


def _written(settings: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())
