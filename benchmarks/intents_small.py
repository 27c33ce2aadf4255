"""Evaluate classifiers trained on a thousand texts: the part ``small`` of `benchmarks.intents`."""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from spectralnlp_sketch import IntentClassifier, with_unlabelled

from benchmarks.labelled import INTENTS, LABELS_ONLY, corpus, peer

SMALL = ("sst", "trec", "r52", "sms_spam", "sentence_polarity", "imdb", *INTENTS)
# Maximum number of unlabelled texts.
MAX_REST = 9000


def small_table(n: int, draws: int) -> str:
    """Return a table of accuracies by Model2Vec's protocol: ``n`` labelled texts, the rest unlabelled."""
    called = ["tf-idf, linear SVM", "intent", "intent, unlabelled texts"]
    called += ["fastText"] if fasttext_module() else []
    scores: dict[str, list[np.ndarray]] = {name: [] for name in called}
    for name in SMALL:
        data = corpus(name)
        drawn = []
        for seed in range(draws):
            order = np.random.default_rng(seed).permutation(len(data.texts))
            texts, labels = [data.texts[i] for i in order[:n]], data.labels[order[:n]]
            rest = [data.texts[i] for i in order[n : n + MAX_REST]]
            ours: Callable[[], Any] = partial(IntentClassifier, **LABELS_ONLY)
            models: list[Any] = [
                peer().fit(texts, labels),
                ours().fit(texts, labels),
                ours().fit(*with_unlabelled(texts, labels, rest)),
            ]
            found = [model.predict(data.dev_texts) for model in models]
            if fasttext_module():
                found.append(by_fasttext(texts, labels, data.dev_texts))
            drawn.append([data.score(each) for each in found])
        for each, score in zip(called, np.mean(drawn, axis=0), strict=True):
            scores[each].append(score)
        print(name, *(f"{values[-1]:.1f}" for values in scores.values()), file=sys.stderr, flush=True)
    rows = [[name, *figures(values, "")] for name, values in scores.items()]
    for name in (called[0], *called[3:]):
        ahead = np.subtract(scores[called[2]], scores[name])
        rows.append([f"{called[2]} − {name}", *figures(ahead, "+")])
    return report.table((f"{n:,} training texts", *SMALL, "mean"), rows)


def figures(values: Any, sign: str) -> list[str]:
    return [f"{value:{sign}.1f}" for value in (*values, np.mean(values))]


@cache
def fasttext_module() -> Any:
    """Return the package ``fasttext``; None if it is not installed."""
    try:
        import fasttext
    except ImportError:
        return None
    return fasttext


def by_fasttext(texts: Sequence[str], labels: np.ndarray, asked: Sequence[str]) -> list[str]:
    """Train fastText, and return the labels that it predicts.

    Settings are word bigrams, character n-grams of 2 to 5, 50 epochs and rate 0.5.

    Args:
        texts: training texts.
        labels: their labels.
        asked: texts to label.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        names = sorted(set(labels.tolist()))
        for text, label in zip(texts, labels, strict=True):
            file.write(f"__label__{names.index(label)} {' '.join(text.lower().split())}\n")
        file.flush()
        model = fasttext_module().train_supervised(
            file.name,
            wordNgrams=2,
            minn=2,
            maxn=5,
            epoch=50,
            lr=0.5,
            dim=50,
            bucket=200_000,
            thread=1,
            verbose=0,
        )
    lines = [" ".join(text.lower().split()) + "\n" for text in asked]
    found = [model.f.predict(line, 1, 0.0, "strict") for line in lines]
    return [names[int(each[0][1].removeprefix("__label__"))] if each else names[0] for each in found]
