"""Compare a model that is updated example by example with one trained on all examples at once.

    python -m benchmarks.updates                      # 1,000 updates of CLINC150 and Banking77
    python -m benchmarks.updates --updates 100 banking77
    python -m benchmarks.updates --updates 100 ewt    # a tagger of UD English EWT, sentence by sentence

A model is trained on all but the last examples of a random order; they are added one by one by `update`.
*same labels* is the share of dev labels that agree with a model trained again on all examples; *given
directions* is the agreement with a classifier with the same directions and second layer whose head is trained
again, to a tenth of the tolerance; *without one* is the agreement between models trained on all examples
and on all but the last, which shows the effect of a single example.
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from spectralnlp_sketch import IntentClassifier
from spectralnlp_sketch.intent import head_learner
from spectralnlp_sketch.labelled import Example

from benchmarks.labelled import corpus
from spectralnlp import CRFTagger, InMemoryCorpus, changes
from spectralnlp.estimator import Estimator
from spectralnlp.tasks.tagging import TaggingTask

HEADER = (
    "",
    "examples",
    "updates",
    "before",
    "one by one",
    "at once",
    "same labels, %",
    "given directions, %",
    "without one, %",
    "CPU s an update, median",
    "longest",
)


class Data(NamedTuple):
    """Training examples, and functions that score models on dev.

    Attributes:
        name: name of the estimator.
        make: function that returns a new estimator.
        examples: training examples.
        labels: function that returns a model's labels of dev.
        gold: gold labels of dev.
    """

    name: str
    make: Callable[[], Estimator[Any]]
    examples: Sequence[Any]
    labels: Callable[[Any], np.ndarray]
    gold: np.ndarray


def intents(name: str) -> Data:
    data = corpus(name)
    examples = [Example(text, str(label)) for text, label in zip(data.texts, data.labels, strict=True)]

    def labels(model: Any) -> np.ndarray:
        return np.array([each.label for each in model.classify_many(data.dev_texts)])

    return Data("intent", IntentClassifier, examples, labels, np.asarray(data.dev_labels).astype(str))


def ewt() -> Data:
    task, tagger = TaggingTask(), CRFTagger(column="upos")

    def read(part: str) -> list[Any]:
        return list(
            task.examples(
                tagger, task.read([report.CORPORA / "tagging" / "ewt" / f"en_ewt-ud-{part}.conllu"])
            )
        )

    dev = read("dev")

    def labels(model: Any) -> np.ndarray:
        found = model.best_tags([words for words, _ in dev])
        return np.array([tag for tags in found for tag in tags])

    gold = np.array([tag for _, tags in dev for tag in tags])
    return Data("tagger", lambda: CRFTagger(column="upos"), read("train"), labels, gold)


def row(name: str, n_updates: int) -> list[object]:
    """Return the table row of a corpus: accuracies, agreement and times.

    Args:
        name: name of the corpus.
        n_updates: number of examples to add one by one.
    """
    data = ewt() if name == "ewt" else intents(name)
    order = np.random.default_rng(0).permutation(len(data.examples)).tolist()
    examples = [data.examples[i] for i in order]

    def train(some: Sequence[Any]) -> changes.Change:
        return changes.train(data.name, data.make(), InMemoryCorpus(some))

    change = train(examples[:-n_updates])
    before, seconds = data.labels(change.model), []
    for each in examples[-n_updates:]:
        started = time.process_time()
        change = changes.update(change.kept, InMemoryCorpus([each]), add_known=True)
        seconds.append(time.process_time() - started)
    found = [data.labels(each) for each in (change.model, train(examples).model, train(examples[:-1]).model)]
    scores = [f"{100 * float((each == data.gold).mean()):.2f}" for each in (before, *found[:2])]
    same = [f"{100 * float((each == found[1]).mean()):.2f}" for each in (found[0], found[2])]
    same.insert(1, f"{100 * agreement_given_directions(data, change):.2f}" if name != "ewt" else "–")
    times = [f"{np.median(seconds):.2f}", f"{max(seconds):.2f}"]
    return [name, f"{len(examples):,}", f"{n_updates:,}", *scores, *same, *times]


def agreement_given_directions(data: Data, change: changes.Change) -> float:
    """Return the agreement on dev of an updated model with one whose head is trained again to the optimum.

    Both have the same directions and second layer.

    Args:
        data: the data.
        change: the updated model.
    """
    kept: Any = change.kept
    nothing = kept.state._replace(duals=np.zeros_like(kept.state.duals))
    with patch.object(head_learner, "_FURTHER_TOLERANCE", head_learner._FURTHER_TOLERANCE / 10):
        again = kept.learner.resume_training(kept.moments, nothing)
    return float((data.labels(change.model) == data.labels(again.classifier_)).mean())


def main() -> None:
    parser = report.argument_parser(__doc__)
    parser.add_argument("corpora", nargs="*", default=["clinc150", "banking77"])
    parser.add_argument("--updates", type=int, default=1000)
    arguments = parser.parse_args()
    print(report.machine())
    rows = [row(name, arguments.updates) for name in arguments.corpora]
    print(f"\n{report.table(HEADER, rows)}")


if __name__ == "__main__":
    main()
