"""A classifier that learns texts one by one, beside one that learned all of them at once.

    python -m benchmarks.intents_updates                 # 1,000 updates of CLINC150 and Banking77
    python -m benchmarks.intents_updates --updates 100 banking77

The last texts of a random order join one after the other by `update`, the others were learned before. *same
labels* is the share of dev texts whose label is that of the classifier that learned everything again.
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
import time
from collections.abc import Sequence

import numpy as np
from spectralnlp_sketch import IntentClassifier
from spectralnlp_sketch.labelled import Example

from benchmarks.intents import corpus
from spectralnlp import InMemoryCorpus, changes

HEADER = ("", "before", "one by one", "at once", "same labels, %", "seconds an update, median", "longest")


def row(name: str, n_updates: int) -> list[object]:
    """Accuracies, agreement and times of a corpus."""
    data = corpus(name)
    order = np.random.default_rng(0).permutation(len(data.texts)).tolist()
    examples = [Example(data.texts[i], str(data.labels[i])) for i in order]
    first, later = examples[:-n_updates], examples[-n_updates:]

    def train(some: Sequence[Example]) -> changes.Change:
        return changes.train("intent", IntentClassifier(), InMemoryCorpus(some))

    def labels(change: changes.Change) -> np.ndarray:
        return np.array([each.label for each in change.model.classify_many(data.dev_texts)])

    change = train(first)
    before, seconds = labels(change), []
    for each in later:
        started = time.perf_counter()
        change = changes.update(change.kept, InMemoryCorpus([each]), again=True)
        seconds.append(time.perf_counter() - started)
    one_by_one, at_once = labels(change), labels(train(examples))
    accuracies = [f"{data.score(each):.2f}" for each in (before, one_by_one, at_once)]
    agreement = 100 * float((one_by_one == at_once).mean())
    return [name, *accuracies, f"{agreement:.2f}", f"{np.median(seconds):.2f}", f"{max(seconds):.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("corpora", nargs="*", default=["clinc150", "banking77"])
    parser.add_argument("--updates", type=int, default=1000)
    arguments = parser.parse_args()
    print(report.machine())
    rows = [row(name, arguments.updates) for name in arguments.corpora]
    print(f"\n{report.table(HEADER, rows)}")


if __name__ == "__main__":
    main()
