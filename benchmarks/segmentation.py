"""Measure the segmentation of text without blanks into words: F1 of all and of unknown words, and time.

A parser's segmenter is trained on a treebank's train part and scored on dev; or, to choose settings, it is
trained on four fifths of the documents of train and scored on the rest.

    python -m benchmarks.segmentation
    python -m benchmarks.segmentation --fold 0
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

from collections.abc import Sequence
from pathlib import Path
from time import process_time

import numpy as np

from spectralnlp.estimators.parser.segmenter import known_words, learn_segmenter, tagged_words
from spectralnlp.estimators.shared.treebank import Treebank
from spectralnlp.inference.chains.segmentation import ChainSegmenter
from spectralnlp.runtime import accumulate
from spectralnlp.scoring.evalb import percent
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.trees import Binariser
from spectralnlp.trees.treelog import TreeLog

FOLDS = 5
Sentences = list[list[tuple[str, str]]]


def read(folder: Path) -> tuple[Sentences, list[int]]:
    """Return tagged sentences, and the document of each."""
    log = TreeLog(Binariser().to_dict())
    accumulate(log, ParsingTask().read(folder))
    sentences = tagged_words(Treebank.of([log]).first)
    if sentences is None:
        raise SystemExit(f"{folder}: words are written apart")
    return sentences, log.documents().tolist()


def row(name: str, segmenter: ChainSegmenter, test: Sentences) -> list[object]:
    """Return the table row of a segmenter, with scores of all words and of words unknown to it."""
    started, found, gold = process_time(), [], []
    for sentence in test:
        ends = segmenter.ends("".join(word for word, _ in sentence))
        found.append(set(zip([0, *ends], ends, strict=False)))
        gold.append(_spans([word for word, _ in sentence]))
    speed = len(test) / (process_time() - started)
    matched, n_found, n_gold = 0, sum(map(len, found)), sum(map(len, gold))
    unknown = matched_unknown = 0
    for sentence, ours, theirs in zip(test, found, gold, strict=True):
        for (word, _), span in zip(sentence, theirs, strict=True):
            matched += span in ours
            unknown += word not in segmenter.words
            matched_unknown += word not in segmenter.words and span in ours
    f1, recall = percent(2 * matched, n_found + n_gold), percent(matched_unknown, unknown)
    return [name, len(test), f"{f1:.2f}", f"{percent(unknown, n_gold):.1f}", f"{recall:.1f}", f"{speed:.0f}"]


def _spans(words: Sequence[str]) -> list[tuple[int, int]]:
    ends = np.cumsum([len(word) for word in words]).tolist()
    return list(zip([0, *ends], ends, strict=False))


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its table."""
    parser = report.argument_parser(__doc__, corpora=True)
    parser.add_argument("--treebank", default="keyaki", metavar="NAME", help="under treebanks/")
    parser.add_argument(
        "--fold", type=int, metavar="N", choices=range(FOLDS), help="of train, in place of dev"
    )
    arguments = parser.parse_args()
    folder = arguments.corpora / "treebanks" / arguments.treebank
    train, documents = read(folder / "train")
    if arguments.fold is None:
        name, (test, _) = "dev", read(folder / "dev")
    else:
        name, inside = f"fold {arguments.fold}", [each % FOLDS == arguments.fold for each in documents]
        test = [sentence for sentence, held_out in zip(train, inside, strict=True) if held_out]
        train = [sentence for sentence, held_out in zip(train, inside, strict=True) if not held_out]
        documents = [each for each, held_out in zip(documents, inside, strict=True) if not held_out]
    started = process_time()
    weights = learn_segmenter(train, np.array(documents, np.int32), random_state=0)
    print(f"{report.machine()} {process_time() - started:.0f} CPU seconds of training.\n")
    header = ["test", "sentences", "F1 of words", "unknown, %", "their recall", "sentences a CPU second"]
    print(report.table(header, [row(name, ChainSegmenter(weights, known_words(train)), test)]))


if __name__ == "__main__":
    main()
