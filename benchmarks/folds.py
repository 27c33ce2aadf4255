"""Compare settings of parsers, or versions of the code, by cross-validation on training parts.

The documents of a treebank's training part (blocks of 50 trees if it is one file) are divided into folds.
``run`` trains on all folds but one, parses that one, and appends a line of JSON to a file: brackets of each
document (EVALB, Collins's parameters), CPU seconds and peak memory of training, CPU seconds of parsing, and
posteriors of brackets with their correctness. Runs that the file already has are skipped. ``compare``
compares each setting of a file with the first, or the same settings of two files (before and after a change
of code): the paired difference of F1 on the same sentences, with the 95 % interval of a bootstrap over
documents, and the calibration error.

    python -m benchmarks.folds run RESULTS.jsonl --treebank wsj --setting lpcfg --setting lpcfg:preset=fast
    python -m benchmarks.folds compare RESULTS.jsonl
    python -m benchmarks.folds compare BEFORE.jsonl AFTER.jsonl
"""

from __future__ import annotations

from benchmarks import peers, report  # first: it sets the number of threads  # isort: skip

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import mean
from time import process_time

import numpy as np
from numpy.typing import NDArray

from benchmarks.languages import TREEBANKS
from benchmarks.parsing import WARM_UP, Setting, as_loaded
from benchmarks.reliability import BINS, Bin, calibration_error
from spectralnlp import registry
from spectralnlp.runtime import Corpus, Partition
from spectralnlp.scoring import score_trees
from spectralnlp.trees import Tree, add_root

BLOCK = 50  # trees per document if the treebank is one file
SAMPLES = 2000  # samples of the bootstrap
COUNTED = ("matched", "gold", "test", "correct_tags", "words")
Documents = Sequence[Sequence[Tree]]


@dataclass(frozen=True)
class Run:
    """Result of one parser, trained on all folds but one.

    Attributes:
        treebank, setting, fold, seed: identify the run.
        documents: matched, gold and predicted brackets, right tags and words of each document.
        bins: number of brackets, sum of posteriors and number of right brackets for each tenth of posteriors.
        training: CPU seconds of training; ``memory``: its peak in megabytes.
        parsing: CPU seconds of parsing; ``sentences``: number of parsed sentences.
    """

    treebank: str
    setting: str
    fold: int
    seed: int
    documents: list[list[int]]
    bins: list[list[float]]
    training: float
    memory: float
    parsing: float
    sentences: int

    @property
    def key(self) -> tuple[str, str, int, int]:
        """Values that identify the run in a file of results: treebank, setting, fold and seed."""
        return self.treebank, self.setting, self.fold, self.seed


def documents_of(folder: Path, most: int | None) -> Documents:
    """Return the documents of a treebank folder; at most ``most`` of them, evenly spread."""
    corpus = peers.treebank(folder)
    found = [list(part) for part in corpus.partitions()]
    if len(found) == 1:
        found = [found[0][at : at + BLOCK] for at in range(0, len(found[0]), BLOCK)]
    found = [each for each in found if each]
    if most is not None and most < len(found):
        found = [found[number * len(found) // most] for number in range(most)]
    return found


class Some(Corpus[Tree]):
    """Corpus of selected documents in memory, with one partition for each document."""

    def __init__(self, documents: Documents) -> None:
        self.documents = documents

    def partitions(self) -> Sequence[Partition[Tree]]:
        """Return one partition per document."""
        return [
            Partition(str(number), number, 0, partial(iter, trees))
            for number, trees in enumerate(self.documents)
        ]


def measure(treebank: str, setting: Setting, fold: int, n_folds: int, seed: int, documents: Documents) -> Run:
    """Train on all folds but one and parse that one, in this process.

    Args:
        treebank: name of the treebank.
        setting: estimator and settings.
        fold: number of the fold to parse.
        n_folds: number of folds.
        seed: seed of training.
        documents: documents of the treebank.
    """
    kind = registry.estimators.get(setting.estimator)
    seeded = {"random_state": str(seed)} if "random_state" in kind().get_params() else {}
    learner = kind.from_settings({**seeded, **setting.params})
    task = registry.tasks.get(kind.task)()
    warm = as_loaded(task.train(kind.from_settings(setting.params), task.read([WARM_UP])))
    warm.parse_tokens(["a", "dog", "barks"])
    train = [each for number, each in enumerate(documents) if number % n_folds != fold]
    held_out = documents[fold::n_folds]
    started = process_time()
    parser = task.train(learner, Some(train))
    training, memory = process_time() - started, report.peak_megabytes()
    parser = as_loaded(parser)
    sentences = [tree for trees in held_out for tree in trees]
    started = process_time()
    parses = list(parser.parse_many([tree.words() for tree in sentences], decoder=setting.decoder))
    parsing = process_time() - started
    counts = iter(score_trees(map(add_root, sentences), [parse.tree for parse in parses]).counts)
    scored = []
    for trees in held_out:
        rows = [next(counts) for _ in trees]
        scored.append([sum(getattr(row, name) for row in rows) for name in COUNTED])
    bins = np.zeros((BINS, 3))
    for tree, parse in zip(sentences, parses, strict=True):
        gold = Counter(tree.spans())
        for bracket in parse.constituents:
            key = bracket.label, bracket.start, bracket.end
            place = min(int(bracket.posterior * BINS), BINS - 1)
            bins[place] += 1, bracket.posterior, gold[key] > 0
            gold[key] -= 1
    return Run(
        treebank=treebank,
        setting=setting.text,
        fold=fold,
        seed=seed,
        documents=scored,
        bins=bins.tolist(),
        training=training,
        memory=memory,
        parsing=parsing,
        sentences=len(sentences),
    )


def read_runs(path: Path) -> list[Run]:
    """Read the runs in a file of results."""
    return [Run(**json.loads(line)) for line in path.read_text().splitlines()] if path.exists() else []


def run(arguments: argparse.Namespace) -> None:
    """Train and score the parsers whose results are not yet in the file of results, and append theirs."""
    done = {each.key for each in read_runs(arguments.results)}
    for treebank in arguments.treebank:
        folder = arguments.corpora / "treebanks" / treebank / "train"
        documents = documents_of(folder, arguments.documents)
        for repetition in range(arguments.seeds):
            for fold in range(arguments.folds)[: arguments.only_folds]:
                seed = fold + 100 * repetition  # each fold has its own seed
                for setting in arguments.setting:
                    if (treebank, setting.text, fold, seed) in done:
                        continue
                    found = report.apart(measure, treebank, setting, fold, arguments.folds, seed, documents)
                    with arguments.results.open("a") as file:
                        file.write(json.dumps(asdict(found)) + "\n")
                    matched, gold, test, *_ = np.sum(found.documents, axis=0)
                    line = f"{found.key}: F1 {200 * matched / (gold + test):.2f}, {found.training:.0f} s"
                    print(line, file=sys.stderr, flush=True)


def f1_of(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return F1 in percent from int64 (..., 5) counts in the order of `Run.documents`."""
    f1: NDArray[np.float64] = 200 * counts[..., 0] / np.maximum(counts[..., 1] + counts[..., 2], 1)
    return f1


def difference(before: Sequence[Run], after: Sequence[Run]) -> str:
    """Return the difference of F1 on the same folds and seeds, with its 95 % interval.

    Args:
        before, after: runs to compare; the difference is that of ``after`` minus ``before``.
    """
    pairs = {each.key[2:]: each for each in before}
    both = [(pairs[each.key[2:]], each) for each in after if each.key[2:] in pairs]
    if not both:
        return "–"
    one, two = (np.concatenate([np.array(pair[side].documents) for pair in both]) for side in (0, 1))
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(one), (SAMPLES, len(one)))
    deltas = np.array([f1_of(two[rows].sum(0)) - f1_of(one[rows].sum(0)) for rows in drawn])
    low, high = np.quantile(deltas, (0.025, 0.975))
    delta = float(f1_of(two.sum(0)) - f1_of(one.sum(0)))
    return f"{delta:+.2f} [{low:+.2f}, {high:+.2f}]"


def error_of(runs: Sequence[Run]) -> float:
    """Return the expected calibration error of bracket posteriors over all runs."""
    total = np.sum([each.bins for each in runs], axis=0)
    bins = [
        Bin(n / BINS, int(row[0]), row[1] / row[0], row[2] / row[0]) for n, row in enumerate(total) if row[0]
    ]
    return calibration_error(bins)


def rows_of(name: str, runs: Sequence[Run], first: Sequence[Run]) -> list[object]:
    """Return the table row of a setting, compared with the first setting.

    Args:
        name: name of the row.
        runs: runs of the setting.
        first: runs of the first setting.
    """
    counts = np.sum([np.sum(each.documents, axis=0) for each in runs], axis=0)
    return [
        name,
        len(runs),
        f"{float(f1_of(counts)):.2f}",
        "" if runs is first else difference(first, runs),
        f"{100 * counts[3] / counts[4]:.2f}",
        f"{error_of(runs):.4f}",
        f"{mean(each.training for each in runs):.0f}",
        f"{mean(each.memory for each in runs):,.0f}",
        f"{sum(each.sentences for each in runs) / sum(each.parsing for each in runs):.0f}",
    ]


def compare(arguments: argparse.Namespace) -> None:
    """Print a table of differences between settings, or between two versions, for each treebank."""
    before = read_runs(arguments.results)
    after = read_runs(arguments.other) if arguments.other else None
    header = ("", "runs", "F1", "difference", "tags", "calibration", "training s", "MB", "sentences/s")
    for treebank in dict.fromkeys(each.treebank for each in before):
        rows: list[list[object]] = []
        settings = dict.fromkeys(each.setting for each in before if each.treebank == treebank)
        first: list[Run] | None = None
        for setting in settings:
            runs = [each for each in before if (each.treebank, each.setting) == (treebank, setting)]
            first = first or runs
            if after is None:
                rows.append(rows_of(f"{treebank}, `{setting}`", runs, first))
                continue
            others = [each for each in after if (each.treebank, each.setting) == (treebank, setting)]
            rows.append(rows_of(f"{treebank}, `{setting}`, before", runs, runs))
            if others:
                rows.append(rows_of("… after", others, runs))
        print(f"{report.table(header, rows)}\n", flush=True)


def parser_of() -> argparse.ArgumentParser:
    """Make the parser of this benchmark's command-line arguments."""
    parser = report.argument_parser(__doc__)
    parts = parser.add_subparsers(required=True)
    runs = parts.add_parser("run")
    runs.set_defaults(part=run)
    runs.add_argument("results", type=Path)
    runs.add_argument("--corpora", type=Path, default=report.CORPORA, metavar="DIR")
    runs.add_argument("--treebank", action="append", choices=TREEBANKS, required=True)
    runs.add_argument("--setting", action="append", type=Setting.read, required=True)
    runs.add_argument("--folds", type=int, default=3, metavar="N")
    runs.add_argument("--only-folds", type=int, metavar="N", help="the first N of them")
    runs.add_argument("--seeds", type=int, default=1, metavar="N", help="runs of each fold")
    runs.add_argument("--documents", type=int, metavar="N", help="so many, evenly spread")
    compares = parts.add_parser("compare")
    compares.set_defaults(part=compare)
    compares.add_argument("results", type=Path)
    compares.add_argument("other", type=Path, nargs="?")
    return parser


def main() -> None:
    """Train and score parsers, or compare their results, as the command line says."""
    arguments = parser_of().parse_args()
    arguments.part(arguments)


if __name__ == "__main__":
    main()
