"""Train a parser with default settings on each treebank, and print a table of scores.

The table has a row per treebank: its size, training time, and, on its dev part, F1 (EVALB, Collins's
parameters, without function labels), the difference to the Berkeley parser's F1 on the same trees (measured
before: ``../shared/golden/berkeley.md``), exact match, tag accuracy, tag accuracy of unknown words, and speed
on one thread. Each parser is trained in its own process; `lpcfg` trains with one thread per core.

    python -m benchmarks.languages
    python -m benchmarks.languages --treebank floresta --treebank icepahc --setting lpcfg:preset=best
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from time import perf_counter

from benchmarks import peers
from benchmarks.parsing import WARM_UP, Setting, add_settings
from spectralnlp import registry
from spectralnlp.scoring import score_trees
from spectralnlp.tasks.parsing import gold_sentence
from spectralnlp.trees import Tree, add_root

TREEBANKS = (
    "wsj",
    "gum",
    "masc",
    "craft",
    "icepahc",
    "farpahc",
    "squoia_de",
    "alpino",
    "sequoia",
    "cess_esp",
    "floresta",
    "turkish",
    "icon",
    "keyaki",
)
HEADER = (
    "treebank, setting",
    "trees",
    "phrase labels, tags",
    "training s",
    "F1",
    "− Berkeley",
    "exact",
    "tags",
    "unknown words",
    "their tags",
    "sentences/s",
)


@dataclass(frozen=True)
class Result:
    """Result of training one parser: its costs, and its scores on the dev part in percent."""

    n_trees: int
    n_labels: int
    n_tags: int
    seconds: float
    f1: float
    exact: float
    tags: float
    unknown: float
    unknown_tags: float
    sentences_per_second: float


def measure(setting: Setting, seed: int, folder: Path) -> Result:
    """Train a parser on the folder's ``train`` and parse its ``dev``, in this process."""
    kind = registry.estimators.get(setting.estimator)
    params = {"random_state": str(seed), **setting.params} if seed else setting.params
    task = registry.tasks.get(kind.task)()
    task.train(kind.from_settings(params), task.read([WARM_UP]))
    corpus = peers.treebank(folder / "train")
    started = perf_counter()
    parser = task.train(kind.from_settings(params), corpus)
    seconds = perf_counter() - started
    trees, gold = list(corpus), list(peers.treebank(folder / "dev"))
    known = {word for tree in trees for word in tree.words()}
    parser.parse_tokens(gold[0].words())  # loads the kernels
    started = perf_counter()
    sentences = [gold_sentence(tree, parser.conventions) for tree in gold]
    parsed = [parse.tree for parse in parser.parse_many(sentences, decoder=setting.decoder)]
    sentences_per_second = len(gold) / (perf_counter() - started)
    score = score_trees([add_root(tree) for tree in gold], parsed).overall
    right, n_words = [], 0
    for ours, theirs in zip(gold, parsed, strict=True):
        n_words += len(ours.words())
        pairs = zip(ours.preterminals(), theirs.preterminals(), strict=True)
        right += [node.label == other.label for node, other in pairs if node.word not in known]
    labels, tags = labels_of(trees)
    return Result(
        n_trees=len(trees),
        n_labels=len(labels),
        n_tags=len(tags),
        seconds=seconds,
        f1=score.f1,
        exact=score.complete_match,
        tags=score.tagging_accuracy,
        unknown=100 * len(right) / n_words,
        unknown_tags=100 * mean(right) if right else 0.0,
        sentences_per_second=sentences_per_second,
    )


def labels_of(trees: list[Tree]) -> tuple[set[str], set[str]]:
    """Return the set of phrase labels and the set of tags of trees."""
    tags = {node.label for tree in trees for node in tree.preterminals()}
    phrases = {node.label for tree in trees for node in tree.nodes() if node.word is None}
    return phrases, tags


def berkeley_of(corpora: Path) -> dict[str, float]:
    """Return the Berkeley parser's F1 by treebank, read from the table stored with the corpora.

    The result is empty without this table.
    """
    path = corpora.parent / "golden" / "berkeley.md"
    rows = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows if row.startswith("| ")]
    return {row[0].split()[0]: float(row[2]) for row in cells if row[2][:1].isdigit()}


def row_of(name: str, setting: Setting, seeds: int, corpora: Path) -> list[object]:
    """Return the table row of a treebank, with means over the seeds."""
    folder = corpora / "treebanks" / name
    runs = []
    for seed in range(seeds):
        runs.append(report.apart(measure, setting, seed, folder))
        print(f"{name} {setting.text} seed {seed}: F1 {runs[-1].f1:.2f}", file=sys.stderr, flush=True)
    spread = f" ± {stdev(run.f1 for run in runs):.2f}" if seeds > 1 else ""
    f1, berkeley = mean(run.f1 for run in runs), berkeley_of(corpora).get(name)
    return [
        f"{name}, `{setting.text}`",
        f"{runs[0].n_trees:,}",
        f"{runs[0].n_labels}, {runs[0].n_tags}",
        f"{mean(run.seconds for run in runs):.0f}",
        f"{f1:.2f}{spread}",
        None if berkeley is None else f"{f1 - berkeley:+.2f}",
        f"{mean(run.exact for run in runs):.1f}",
        f"{mean(run.tags for run in runs):.2f}",
        f"{runs[0].unknown:.1f} %",
        f"{mean(run.unknown_tags for run in runs):.1f}",
        f"{mean(run.sentences_per_second for run in runs):.0f}",
    ]


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its table."""
    parser = report.argument_parser(__doc__, corpora=True)
    parser.add_argument(
        "--treebank", action="append", metavar="NAME", help="repeatable; default " + ", ".join(TREEBANKS)
    )
    add_settings(parser, "repeatable; default lpcfg")
    parser.add_argument(
        "--seeds", type=int, default=1, metavar="N", help="runs of each setting; F1 ± deviation"
    )
    arguments = parser.parse_args()
    names = arguments.treebank or TREEBANKS
    settings = arguments.setting or [Setting.read("lpcfg")]
    for name in names:
        for part in ("train", "dev"):
            if not (arguments.corpora / "treebanks" / name / part).is_dir():
                sys.exit(f"{arguments.corpora / 'treebanks' / name / part}: no such folder")
    rows = [row_of(name, each, arguments.seeds, arguments.corpora) for name in names for each in settings]
    print(f"{report.machine()}\n\n{report.table(HEADER, rows)}")


if __name__ == "__main__":
    main()
