"""Measure how much F1 is lost if rare words are replaced before training (`--keep-words-above N`).

Two sites that may not share rare words replace them, train, and merge their models.

    python -m benchmarks.rare_words               # N = 0, 1, 2, 5; some five minutes
    python -m benchmarks.rare_words 0 3 --runs 1

Each site has half of the WSJ sample. The merged model equals that of training on both halves byte by byte
(`tests/laws`), so the benchmark trains on both. F1 on dev is the mean of several runs with different seeds
and keys.
"""

from __future__ import annotations

from benchmarks import peers, report  # first: it sets the number of threads  # isort: skip

import secrets
from collections import Counter
from statistics import mean

from spectralnlp import InMemoryCorpus, registry
from spectralnlp.changes.rare_words import without_rare_words
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.trees import Tree

WSJ = report.CORPORA / "treebanks" / "wsj"
HEADER = ("N", "words replaced, %", "tokens replaced, %", "F1", "lowest", "highest", "tags, %")


def row(most: int, runs: int) -> list[object]:
    """Return the table row of a threshold: the share of words replaced, and F1 of the merged model.

    Args:
        most: maximum count of words to replace.
        runs: number of runs.
    """
    task, dev = ParsingTask(), InMemoryCorpus(list(peers.treebank(WSJ / "dev")))
    trees = list(peers.treebank(WSJ / "train"))
    sites = [InMemoryCorpus(part) for part in (trees[: len(trees) // 2], trees[len(trees) // 2 :])]
    reports = []
    for seed in range(runs):
        learner = registry.estimators.get("lpcfg").from_settings({"preset": "fast"}, {"random_state": seed})
        merged = list[Tree]()
        for site in sites:
            merged += without_rare_words(task, site, most, secrets.token_bytes(16)) if most else site
        reports.append(task.evaluate(task.train(learner, InMemoryCorpus(merged)), dev))
    counts = [Counter(word for tree in site for word in tree.words()) for site in sites]
    rare = [[n for n in each.values() if n <= most] for each in counts]
    words = sum(map(len, rare)) / sum(map(len, counts))
    tokens = sum(map(sum, rare)) / sum(each.total() for each in counts)
    scores = [each.overall.f1 for each in reports]
    shown = [f"{x:.2f}" for x in (mean(scores), min(scores), max(scores))]
    tags = mean(each.overall.tagging_accuracy for each in reports)
    return [most, f"{100 * words:.0f}", f"{100 * tokens:.1f}", *shown, f"{tags:.2f}"]


def main() -> None:
    parser = report.argument_parser(__doc__)
    parser.add_argument("most", nargs="*", type=int, default=[0, 1, 2, 5])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    print(report.machine())
    rows = [row(most, options.runs) for most in options.most]
    print(f"\n{report.table(HEADER, rows)}")


if __name__ == "__main__":
    main()
