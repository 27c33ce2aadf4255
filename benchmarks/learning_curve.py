"""F1 by number of training trees: what spectral estimates need, beside annotation.

Training trees are drawn without replacement, the smaller samples being part of the larger; each seed draws
its own.

    python -m benchmarks.learning_curve
    python -m benchmarks.learning_curve --treebank gum --sizes 100,1000,10224 --seeds 3
"""

from __future__ import annotations

from benchmarks import experiment, peers, report  # first: it sets the number of threads  # isort: skip

import random
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.parsing import Setting, add_settings, measure
from spectralnlp.trees import Tree, add_root

SETTINGS = ("pcfg", "lpcfg:grammars=tensors", "lpcfg:grammars=clusters", "lpcfg")
SIZES = (100, 400, 800, 1700, 3401)


def write_sample(trees: Sequence[Tree], size: int, seed: int, folder: Path) -> None:
    """Write so many random trees into a folder, in the treebank's order."""
    order = list(range(len(trees)))
    random.Random(seed).shuffle(order)
    lines = [f"{add_root(trees[index])}\n" for index in sorted(order[:size])]
    (folder / "train.mrg").write_text("".join(lines), encoding="utf-8")


def scores_of(setting: Setting, trees: Sequence[Tree], size: int, seeds: int, dev: Path) -> list[float]:
    """F1 of a setting trained on samples of one size."""
    scores = []
    for seed in range(seeds):
        with TemporaryDirectory() as folder:
            write_sample(trees, size, seed, Path(folder))
            scores.append(report.apart(measure, setting, seed, Path(folder), dev, ()).f1)
        experiment.note(f"{setting.text} with {size} trees, seed {seed}: F1 {scores[-1]:.2f}")
    return scores


def main() -> None:
    """Print the table."""
    parser = experiment.argument_parser(__doc__)
    experiment.add_seeds(parser)
    parser.add_argument(
        "--sizes",
        type=experiment.numbers,
        default=SIZES,
        metavar="N,…",
        help="numbers of trees; default " + ",".join(map(str, SIZES)),
    )
    add_settings(parser, f"repeatable; default {', '.join(SETTINGS)}")
    arguments = parser.parse_args()
    folder = experiment.folder_of(arguments)
    settings = arguments.setting or [Setting.read(text) for text in SETTINGS]
    experiment.print_heading("learning_curve")
    trees = list(peers.treebank(folder / "train"))
    rows = []
    for size in sorted({min(size, len(trees)) for size in arguments.sizes}):
        scores = [scores_of(setting, trees, size, arguments.seeds, folder / "dev") for setting in settings]
        rows.append([f"{size:,}", *map(experiment.mean_spread, scores)])
    header = ["trees", *(f"`{setting.text}`" for setting in settings)]
    print(f"### F1 by number of trees, {arguments.treebank} dev\n\n{report.table(header, rows)}", flush=True)


if __name__ == "__main__":
    main()
