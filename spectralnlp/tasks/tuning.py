"""Settings of a parser chosen by evidence: alternatives learn from some trees, and are scored on others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from spectralnlp.estimators.parser.tuning import Trials, trials_of
from spectralnlp.progress import timed_passes
from spectralnlp.runtime import Corpus, InMemoryCorpus

T = TypeVar("T")

# Neighbours are alike, so blocks of so many examples are held out, not single ones.
_BLOCK = 50
_HELD_OUT = 5  # every fifth block
_FEWEST = 500  # examples; fewer show no difference
# A difference that equal settings show so seldom is taken for one. There are some ten alternatives.
_BY_CHANCE = 0.02


def choose_settings(task: Any, trainer: Any, corpus: Corpus[Any], report: Callable[[str], None]) -> Any:
    """Return a trainer with the settings that the trees speak for.

    Args:
        task: of the trainer; evaluates and compares.
        trainer: unfitted; returned as it is if its setting ``tune`` does not ask for trials, or it has none.
        corpus: what it is to be fitted to.
        report: called with a line for each alternative.
    """
    tune = trainer.get_params().get("tune", "none")
    if tune == "none":
        return trainer
    trials = trials_of(tune, pooled="+" in trainer.binarisations)
    trainer = replace(trainer, tune="none")
    examples = list(corpus)
    if len(examples) < _FEWEST:
        report(f"tune: settings stay as they are, for there are fewer than {_FEWEST} examples")
        return trainer
    train, held_out = _parts(examples, trials, trainer.random_state)
    report(f"tune: {len(train):,} examples to learn from, {len(held_out):,} to score")

    def trial(settings: Mapping[str, object]) -> Any:
        with timed_passes(lambda line: None):
            fitted = replace(trainer, **{**trials.settings, **settings}).fit(InMemoryCorpus(train))
        return task.evaluate(task.wrap(fitted), InMemoryCorpus(held_out))

    chosen: dict[str, object] = {}
    best = trial(chosen)
    for settings in trials.alternatives:
        if all(getattr(trainer, name) == value for name, value in settings.items()):
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
    return replace(trainer, **chosen)


def _parts(examples: Sequence[T], trials: Trials, random_state: int) -> tuple[list[T], list[T]]:
    """Examples to learn from and examples to score, by blocks, in their order."""
    blocks = [examples[first : first + _BLOCK] for first in range(0, len(examples), _BLOCK)]
    order = np.random.default_rng(random_state).permutation(len(blocks)).tolist()
    n_held_out = max(min(len(blocks) // _HELD_OUT, trials.most_held_out // _BLOCK), 1)
    n_train = trials.most_trees // _BLOCK
    held_out, train = sorted(order[:n_held_out]), sorted(order[n_held_out : n_held_out + n_train])
    return [e for b in train for e in blocks[b]], [e for b in held_out for e in blocks[b]]


def _written(settings: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())
