"""Measure F1 by number of training trees, for any settings and treebanks.

Training trees are drawn without replacement in nested samples, one sequence of samples per seed. With
``--results`` each score is appended to a file, and runs that the file already has are skipped.

    python -m benchmarks.learning_curve
    python -m benchmarks.learning_curve --treebank gum --sizes 100,1000,10224 --seeds 3
    python -m benchmarks.learning_curve --treebank masc --treebank alpino --treebank icon --treebank keyaki
        --setting lpcfg --sizes 250,500,1000,2000,4000 --plot docs/learning-curve.svg
"""

from __future__ import annotations

from benchmarks import experiment, peers, report  # first: it sets the number of threads  # isort: skip

import argparse
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

from benchmarks.languages import TREEBANKS
from benchmarks.parsing import Setting, add_settings, as_loaded
from spectralnlp import registry
from spectralnlp.trees import Tree, add_root

SETTINGS = ("pcfg", "lpcfg:grammars=tensors", "lpcfg:grammars=clusters", "lpcfg")
SIZES = (100, 400, 800, 1700, 3401)
# Names of treebanks in the plot.
LANGUAGES = {
    "wsj": "English (WSJ)",
    "gum": "English (GUM)",
    "masc": "English (MASC)",
    "icepahc": "Icelandic (IcePaHC)",
    "alpino": "Dutch (Alpino)",
    "icon": "Indonesian (ICON)",
    "keyaki": "Japanese (Keyaki)",
}
Curve = Mapping[int, Sequence[float]]  # F1 of each seed, by number of trees


def write_sample(trees: Sequence[Tree], size: int, seed: int, folder: Path) -> None:
    """Write ``size`` random trees to a folder, in the order of the treebank."""
    order = list(range(len(trees)))
    random.Random(seed).shuffle(order)
    lines = [f"{add_root(trees[index])}\n" for index in sorted(order[:size])]
    (folder / "train.mrg").write_text("".join(lines), encoding="utf-8")


def f1_of(setting: Setting, seed: int, train: Path, dev: Path) -> float:
    """Train a setting on a folder of trees and return its F1 on another, in this process."""
    kind = registry.estimators.get(setting.estimator)
    seeded = {"random_state": str(seed)} if "random_state" in kind().get_params() else {}
    task = registry.tasks.get(kind.task)()
    parser = task.train(kind.from_settings({**seeded, **setting.params}), peers.treebank(train))
    scored = task.evaluate(as_loaded(parser), peers.treebank(dev), decoder=setting.decoder)
    f1: float = scored.overall.f1
    return f1


class Scores:
    """Cache of F1 by treebank, setting, number of trees and seed.

    Args:
        path: JSON lines file with earlier scores, to which new ones are appended; None for no file.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path is not None and path.exists() else []
        self.known = {tuple(key): f1 for *key, f1 in map(json.loads, lines)}

    def measure(self, setting: Setting, trees: Sequence[Tree], size: int, seed: int, folder: Path) -> float:
        """Return F1 of a setting trained on a sample of trees; it is computed only if it is not known yet.

        Args:
            setting: estimator and settings.
            trees: trees to sample from.
            size: number of trees.
            seed: seed of the sample and of training.
            folder: folder of the treebank, with ``dev``.
        """
        key = folder.name, setting.text, size, seed
        if key not in self.known:
            with TemporaryDirectory() as sample:
                write_sample(trees, size, seed, Path(sample))
                found = report.apart(f1_of, setting, seed, Path(sample), folder / "dev")
            experiment.note(f"{folder.name}, {setting.text} with {size} trees, seed {seed}: F1 {found:.2f}")
            self.known[key] = found
            if self.path is not None:
                with self.path.open("a") as file:
                    file.write(json.dumps([*key, found]) + "\n")
        return self.known[key]

    def curves(
        self, folder: Path, settings: Sequence[Setting], sizes: Sequence[int], seeds: int
    ) -> list[Curve]:
        """Return the learning curve of each setting: F1 by number of training trees, for each seed.

        Args:
            folder: folder of the treebank.
            settings: estimators and settings.
            sizes: numbers of trees.
            seeds: number of seeds.
        """
        trees = list(peers.treebank(folder / "train"))
        sizes = sorted({min(size, len(trees)) for size in sizes})
        return [
            {size: [self.measure(each, trees, size, seed, folder) for seed in range(seeds)] for size in sizes}
            for each in settings
        ]


def draw(curves: Mapping[str, Curve], path: Path) -> None:
    """Draw named curves: means over seeds, with their range as a bar."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "spectralnlp", "font.size": 9})
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(6.4, 3.6))
    for (name, curve), marker in zip(curves.items(), "os^vDPX*" * len(curves), strict=False):
        f1 = [mean(each) for each in curve.values()]
        below = [middle - min(each) for middle, each in zip(f1, curve.values(), strict=True)]
        above = [max(each) - middle for middle, each in zip(f1, curve.values(), strict=True)]
        axis.errorbar(list(curve), f1, (below, above), marker=marker, markersize=5, capsize=2, label=name)
    sizes = sorted({size for curve in curves.values() for size in curve})
    axis.set_xscale("log")
    axis.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axis.minorticks_off()
    axis.set(xlabel="training trees", ylabel="F1 on dev")
    axis.grid(alpha=0.3)
    axis.legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def parser_of() -> argparse.ArgumentParser:
    """Make the parser of this benchmark's command-line arguments."""
    parser = report.argument_parser(__doc__, corpora=True)
    parser.add_argument("--treebank", action="append", choices=TREEBANKS, help="repeatable; default wsj")
    experiment.add_seeds(parser)
    parser.add_argument(
        "--sizes",
        type=experiment.numbers,
        default=SIZES,
        metavar="N,…",
        help="numbers of trees; default " + ",".join(map(str, SIZES)),
    )
    add_settings(parser, f"repeatable; default {', '.join(SETTINGS)}")
    parser.add_argument("--results", type=Path, metavar="FILE", help="scores, to go on from")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="where to draw all curves, .svg")
    return parser


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print a table for each treebank."""
    arguments = parser_of().parse_args()
    settings = arguments.setting or [Setting.read(text) for text in SETTINGS]
    scores, drawn = Scores(arguments.results), {}
    experiment.print_heading("learning_curve")
    for treebank in arguments.treebank or ["wsj"]:
        folder = arguments.corpora / "treebanks" / treebank
        curves = scores.curves(folder, settings, arguments.sizes, arguments.seeds)
        for setting, curve in zip(settings, curves, strict=True):
            name = LANGUAGES.get(treebank, treebank)
            drawn[f"{name}, {setting.text}" if len(settings) > 1 else name] = curve
        rows = [
            [f"{size:,}", *(experiment.mean_spread(curve[size]) for curve in curves)] for size in curves[0]
        ]
        header = ["trees", *(f"`{setting.text}`" for setting in settings)]
        print(f"### F1 by number of trees, {treebank} dev\n\n{report.table(header, rows)}\n", flush=True)
    if arguments.plot is not None:
        draw(drawn, arguments.plot)


if __name__ == "__main__":
    main()
