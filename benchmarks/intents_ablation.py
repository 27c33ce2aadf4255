"""Measure what each part of the intent classifier contributes: the part ``ablation`` of `benchmarks.intents`.

Only training sets are used: a third of each is held out, the prior is learned from the other two thirds of
all five corpora, and the classifier from five examples per intent or from all. Differences to the full
classifier are paired by text.
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

import numpy as np
from spectralnlp_sketch import IntentClassifier, with_unlabelled
from spectralnlp_sketch.intent.prior import Prior

from benchmarks.labelled import FEW, INTENTS, LABELS_ONLY, corpus, draw_each, learned_prior

# Examples per intent, and the number of repetitions with new held-out texts and examples.
EXAMPLES, SEEDS = 5, 3
# Number of bootstrap samples.
SAMPLES = 2000


@dataclass(frozen=True)
class Variant:
    """Variant of the classifier without one part.

    Args:
        changes: replacements for names in modules of `spectralnlp_sketch.intent`, by module and name.
        directions: whether the prior's directions are used.
        few, full: whether to train on five examples per intent, and on all examples.
    """

    changes: Mapping[str, Any] = field(default_factory=dict)
    directions: bool = True
    few: bool = True
    full: bool = False

    def prior(self, whole: Prior) -> Prior:
        return whole if self.directions else replace(whole, projection=whole.projection[:, :0])

    @contextmanager
    def applied(self) -> Iterator[None]:
        with ExitStack() as stack:
            for name, replacement in self.changes.items():
                stack.enter_context(patch(f"spectralnlp_sketch.intent.{name}", replacement))
            yield


def no_names(labels: Sequence[str]) -> list[str]:
    return [""] * len(labels)


def no_doubt(labelled: Any, unlabelled: Any, random_state: int) -> np.ndarray:
    return np.zeros(len(unlabelled), np.float32)


WHOLE = "intent"
VARIANTS = {
    WHOLE: Variant(full=True),
    "without names of labels": Variant({"estimator.label_texts": no_names}),
    "without similarity of names": Variant({"estimator.label_similarity_of": lambda names, form: None}),
    "without pseudo-labels": Variant({"pseudo_labels.Unlabelled.n_joining": lambda texts, n_labels: 0}),
    "without doubt of unlabelled texts": Variant({"pseudo_labels.domain_log_odds": no_doubt}),
    "without directions": Variant(directions=False, full=True),
    "without pairs of words": Variant({"estimator.PAIR_REACH": 0}, full=True),
    "without the second layer": Variant({"calibration.MIN_LABELS": sys.maxsize}, few=False, full=True),
}


def ablation_table() -> str:
    """Return the accuracy of the full classifier, and the loss without each part with its 95 % interval."""
    few, full = scores(SEEDS, EXAMPLES), scores(1, None)
    header = (*FEW, "mean difference")
    first = report.table((f"{EXAMPLES} examples an intent", *header), rows_of(few))
    return f"{first}\n\n{report.table(('all examples', *header), rows_of(full))}"


def scores(seeds: int, n: int | None) -> dict[str, dict[str, list[np.ndarray]]]:
    """Return the correctness of each held-out text by variant, corpus and seed."""
    found: dict[str, dict[str, list[np.ndarray]]] = {}
    for seed in range(seeds):
        halves = {name: held_out(len(corpus(name).texts), seed) for name in INTENTS}
        pool = [corpus(name).texts[i] for name in INTENTS for i in halves[name][0]]
        shared = learned_prior(pool)
        for name in FEW:
            data, (train, test) = corpus(name), halves[name]
            which = train if n is None else train[draw_each(data.labels[train], n, seed)]
            examples = with_unlabelled([data.texts[i] for i in which], data.labels[which], pool)
            asked, gold = [data.texts[i] for i in test], data.labels[test]
            for called, variant in VARIANTS.items():
                if not (variant.full if n is None else variant.few):
                    continue
                with variant.applied():
                    model = IntentClassifier(**LABELS_ONLY).fit_head(variant.prior(shared), *examples)
                right = 100.0 * (model.predict(asked) == gold)
                found.setdefault(called, {}).setdefault(name, []).append(right)
                print(n or "all", name, seed, called, f"{right.mean():.2f}", file=sys.stderr, flush=True)
    return found


def held_out(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of a random two thirds of ``n`` texts, and those of the rest."""
    order = np.random.default_rng(seed).permutation(n)
    return np.sort(order[n // 3 :]), np.sort(order[: n // 3])


def rows_of(found: Mapping[str, Mapping[str, Sequence[np.ndarray]]]) -> list[list[object]]:
    whole = found[WHOLE]
    rows: list[list[object]] = [[WHOLE, *(f"{np.mean(np.concatenate(whole[name])):.1f}" for name in FEW), ""]]
    for called, by_corpus in list(found.items())[1:]:
        differences = {
            name: [mine - theirs for mine, theirs in zip(by_corpus[name], whole[name], strict=True)]
            for name in FEW
        }
        cells = [f"{np.mean(np.concatenate(each)):+.1f}" for each in differences.values()]
        rows.append([called, *cells, interval(list(differences.values()))])
    return rows


def interval(differences: Sequence[Sequence[np.ndarray]]) -> str:
    """Return the mean over corpora, and its 95 % interval from a bootstrap over seeds and texts."""
    rng = np.random.default_rng(0)

    def resampled(of_seeds: Sequence[np.ndarray]) -> float:
        seeds = rng.integers(len(of_seeds), size=len(of_seeds))
        return float(np.mean([rng.choice(of_seeds[i], len(of_seeds[i])).mean() for i in seeds]))

    means = [np.mean([resampled(each) for each in differences]) for _ in range(SAMPLES)]
    low, high = np.quantile(means, (0.025, 0.975))
    mean = np.mean([np.mean([one.mean() for one in each]) for each in differences])
    return f"{mean:+.2f} ({low:+.2f} to {high:+.2f})"
