"""Print the errors of a parser: missing, spurious and relabelled brackets by label, most frequent first.

All brackets count, including punctuation, so totals differ slightly from EVALB's.

    python -m benchmarks.compare_trees gold.mrg predicted.mrg
"""

from __future__ import annotations

from benchmarks import report  # isort: skip

import argparse
from collections import Counter
from pathlib import Path

from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.trees import Tree, add_root

Bracket = tuple[str, int, int]


def brackets(tree: Tree) -> Counter[Bracket]:
    """Return the brackets of a tree below its root."""
    return Counter(add_root(tree).spans()[1:])


def renamed(lost: Counter[Bracket], added: Counter[Bracket]) -> Counter[str]:
    """Count the spans that both trees have with different labels, as ``gold → predicted``.

    Args:
        lost: brackets of the gold tree only.
        added: brackets of the predicted tree only.
    """
    by_span: dict[tuple[int, int], list[str]] = {}
    for label, *span in sorted(added.elements()):
        by_span.setdefault((span[0], span[1]), []).append(label)
    pairs = Counter[str]()
    for label, start, end in sorted(lost.elements()):
        candidates = by_span.get((start, end))
        if candidates:
            pairs[f"{label} → {candidates.pop(0)}"] += 1
    return pairs


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("gold", type=Path)
    parser.add_argument("predicted", type=Path)
    parser.add_argument("--top", type=int, default=15, metavar="N", help="rows of each table")
    arguments = parser.parse_args()
    in_gold, in_predicted, in_both = Counter[str](), Counter[str](), Counter[str]()
    renamings = Counter[str]()
    trees = [list(ParsingTask().read([path])) for path in (arguments.gold, arguments.predicted)]
    for gold, predicted in zip(*trees, strict=True):
        ours, theirs = brackets(gold), brackets(predicted)
        for counts, found in ((in_gold, ours), (in_predicted, theirs), (in_both, ours & theirs)):
            for (label, _, _), count in found.items():
                counts[label] += count
        renamings += renamed(ours - theirs, theirs - ours)
    lost, added = in_gold - in_both, in_predicted - in_both
    worst = sorted({*lost, *added}, key=lambda label: (-lost[label] - added[label], label))[: arguments.top]
    rows = [
        [
            label,
            in_gold[label],
            lost[label],
            added[label],
            _percent(in_both[label], in_gold[label]),
            _percent(in_both[label], in_predicted[label]),
        ]
        for label in worst
    ]
    print(report.table(("label", "gold", "lost", "added", "recall", "precision"), rows), end="\n\n")
    print(report.table(("same span, other label", "times"), renamings.most_common(arguments.top)))


def _percent(part: int, whole: int) -> str | None:
    return f"{100 * part / whole:.1f}" if whole else None


if __name__ == "__main__":
    main()
