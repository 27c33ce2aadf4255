"""Measure what each part of the tagger contributes, by cross-validation on training sets.

A fold is every third document (EWT) or block of 50 sentences (the other sets, which mark no documents). Each
variant is trained on the other folds and tags this one; seeds differ by fold, but not by variant.
Differences to the full tagger with unlabelled text are paired, with a 95 % interval from a bootstrap over
documents. Vectors are trained once, on text that includes all folds, for all variants.

    python -m benchmarks.tagger_folds
    python -m benchmarks.tagger_folds --task wnut --task spanish --row member --seeds 3
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks.taggers import TASKS, Data, Measured, Ours, measure, say, train_vectors, unlabelled
from spectralnlp.text.conll import TaggedSentence

_FOLDS, _BLOCK, _SAMPLES = 3, 50, 2000
_TAGGER = "spectralnlp.estimators.tagger"


@dataclass(frozen=True)
class Row:
    """Variant of the tagger that lacks one part.

    Attributes:
        vectors: kinds of vectors that are used: 0 for lower-cased words, 1 for words as written.
        constants: changed constants of the tagger's modules.
        spans_only: whether the variant matters only for sets with spans.
    """

    vectors: tuple[int, ...] = (0, 1)
    constants: Mapping[str, Any] = field(default_factory=dict)
    spans_only: bool = False

    @contextmanager
    def changed(self) -> Iterator[None]:
        """Return a context in which the constants of the variant are changed."""
        patches = [patch(f"{_TAGGER}.{name}", value) for name, value in self.constants.items()]
        for each in patches:
            each.start()
        try:
            yield
        finally:
            for each in patches:
                each.stop()


WHOLE = "whole"
ROWS = {
    WHOLE: Row(),
    "no unlabelled text": Row(()),
    "vectors in small letters only": Row((0,)),
    "vectors as written only": Row((1,)),
    "no clusters": Row(constants={"unlabelled._N_CLUSTERS": 1}),
    "no pairs and n-grams": Row(constants={"estimator._MIN_SEEN": 1 << 30}),
    "one member": Row(constants={"estimator._MEMBERS": 1}, spans_only=True),
    "no bias of spans": Row(constants={"held_out._BIASES": (0.0,)}, spans_only=True),
}


def documents(data: Data) -> tuple[list[TaggedSentence], NDArray[np.int64]]:
    """Return the training sentences of a data set, and the document or block to which each belongs."""
    sentences = data.read("train")
    number = np.arange(len(sentences)) // _BLOCK
    if data.train.endswith(".conllu"):
        with (report.CORPORA / "tagging" / data.train).open(encoding="utf-8") as lines:
            marks = [
                line.startswith("# newdoc id") for line in lines if line.startswith(("# newdoc", "# sent_id"))
            ]
        new, is_sentence = np.array(marks), ~np.array(marks)
        number = np.cumsum(new)[is_sentence] - 1
    has_words = [len(words) > 0 for words, _ in sentences]
    return [each for each in sentences if each[0]], number[has_words]


def tag_folds(
    name: str,
    row: Row,
    vectors: Sequence[str],
    sentences: Sequence[TaggedSentence],
    of: NDArray[np.int64],
    seed: int,
) -> tuple[NDArray[np.int64], float]:
    """Tag each fold by a tagger trained on the other folds, and count right tags.

    Args:
        name: name of the data set.
        row: variant of the tagger.
        vectors: folders of word vectors.
        sentences: the training sentences.
        of: document of each sentence.
        seed: seed of training.

    Returns:
        int64 (n_documents, 7), counts of `TagReport` by document, and the mean seconds of training.
    """
    counts, seconds = np.zeros((int(of.max()) + 1, 7), np.int64), 0.0
    for fold in range(_FOLDS):
        is_held_out = of % _FOLDS == fold
        parts: tuple[list[TaggedSentence], list[TaggedSentence]] = ([], [])
        for each, held_out in zip(sentences, is_held_out.tolist(), strict=True):
            parts[held_out].append(each)
        learner = Ours(eigenwords=[vectors[i] for i in row.vectors], random_state=_FOLDS * seed + fold)
        with row.changed():
            found: Measured = measure(f"{name}, fold {fold}, seed {seed}", learner, *parts)
        np.add.at(counts, of[is_held_out], found.scores.counts)
        seconds += found.training / _FOLDS
    return counts, seconds


def score_of(counts: NDArray[np.int64], *, spans: bool) -> Any:
    """Return F1 of spans or accuracy, in percent, from counts (…, n_documents, 7) over all documents."""
    total = counts.sum(axis=-2)
    words, right, gold, found, matched = (total[..., i] for i in (0, 1, 4, 5, 6))
    return 200 * matched / np.maximum(gold + found, 1) if spans else 100 * right / words


def difference(ours: NDArray[np.int64], whole: NDArray[np.int64], *, spans: bool) -> str:
    """Return the difference of a variant's score to the full tagger's, paired by document, with its interval.

    Args:
        ours: counts of the variant by document.
        whole: counts of the full tagger.
        spans: whether F1 of spans is compared, not accuracy.
    """
    chosen = np.random.default_rng(0).integers(len(whole), size=(_SAMPLES, len(whole)))
    samples = score_of(ours[chosen], spans=spans) - score_of(whole[chosen], spans=spans)
    low, high = np.percentile(samples, [2.5, 97.5])
    mean = score_of(ours, spans=spans) - score_of(whole, spans=spans)
    return f"{mean:+.2f} [{low:+.2f}, {high:+.2f}]"


def table(tasks: Sequence[str], wanted: Callable[[str], bool], seeds: int, folder: Path) -> str:
    """Return the table of each data set, with a row for each variant.

    Args:
        tasks: names of the data sets.
        wanted: function that returns whether a variant is wanted, by name.
        seeds: number of training runs.
        folder: folder for word vectors.
    """
    rows: list[list[Any]] = []
    learned: dict[str, list[str]] = {}
    for task in tasks:
        data = TASKS[task]
        if data.language not in learned:
            learned[data.language] = train_vectors(unlabelled(data.language, folder), folder).folders
        sentences, of = documents(data)
        spans = data.column is None
        whole = None
        for name, row in ROWS.items():
            if (row.spans_only and task not in ("wnut", "spanish")) or not (name == WHOLE or wanted(name)):
                continue
            runs = [
                tag_folds(f"{task}, {name}", row, learned[data.language], sentences, of, seed)
                for seed in range(seeds)
            ]
            counts = (
                np.concatenate([each for each, _ in runs], axis=1).reshape(len(runs[0][0]), seeds, 7).sum(1)
            )
            whole = counts if whole is None else whole
            unknown = 100 * counts[:, 3].sum() / counts[:, 2].sum()
            by = "" if name == WHOLE else difference(counts, whole, spans=spans)
            seconds = sum(each for _, each in runs) / seeds
            cells = [f"{score_of(counts, spans=spans):.2f}", f"{unknown:.1f}", by, f"{seconds:.1f}"]
            rows.append([data.title if name == WHOLE else "", name, *cells])
            say(" | ".join(map(str, rows[-1])))
    header = ("", "", "accuracy or F1", "unknown words", "difference", "training s")
    return report.table(header, rows)


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its table."""
    parser = report.argument_parser(__doc__)
    parser.add_argument("--task", action="append", choices=TASKS, help="repeatable; default all but xpos")
    parser.add_argument(
        "--row", action="append", metavar="TEXT", help="rows whose names hold this; default all"
    )
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="runs of each row")
    arguments = parser.parse_args()
    print(f"{report.machine()} One thread.\n", flush=True)
    tasks = arguments.task or [task for task in TASKS if task != "xpos"]
    wanted = arguments.row or [""]
    with tempfile.TemporaryDirectory() as name:
        print(table(tasks, lambda row: any(each in row for each in wanted), arguments.seeds, Path(name)))


if __name__ == "__main__":
    main()
