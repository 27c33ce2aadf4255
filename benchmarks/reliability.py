"""Measure the calibration of constituent posteriors: are 80 % of the brackets with posterior 0.8 right?

The brackets of a parser's trees are binned by posterior. A bracket is right if the gold tree has a bracket
with the same label over the same tokens, including punctuation; this is the event whose probability the
posterior is, and stricter than EVALB. The expected calibration error is the mean absolute difference between
a bin's mean posterior and its share of right brackets, weighted by number of brackets.

    python -m benchmarks.reliability
    python -m benchmarks.reliability --model en --treebank gum --svg reliability.svg
"""

from __future__ import annotations

from benchmarks import experiment, peers, report  # first: it sets the number of threads  # isort: skip

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import pi, sqrt
from pathlib import Path

import numpy as np

from benchmarks.parsing import Setting, add_settings
from spectralnlp import load, registry
from spectralnlp.models.parser import Parser
from spectralnlp.runtime import Corpus
from spectralnlp.tasks.parsing import ParsingTask, gold_sentence
from spectralnlp.trees import Tree

SETTINGS = ("pcfg", "lpcfg")
BINS = 10


@dataclass(frozen=True)
class Bin:
    """Bin of brackets with similar posteriors.

    Args:
        low: lower edge of the bin; all bins have the same width.
        count: number of brackets.
        posterior: mean posterior of the brackets.
        right: share of the brackets that are in the gold trees.
    """

    low: float
    count: int
    posterior: float
    right: float


def judged(parser: Parser, gold: Iterable[Tree]) -> Iterator[tuple[float, bool]]:
    """Yield the posterior of each bracket of a parser's trees, and whether the gold tree has it."""
    for tree in gold:
        found = Counter(tree.spans())
        parse = parser.parse_tokens(gold_sentence(tree, parser.conventions).words)
        for bracket in parse.constituents:
            key = bracket.label, bracket.start, bracket.end
            yield bracket.posterior, found[key] > 0
            found[key] -= 1


def bins_of(brackets: Iterable[tuple[float, bool]], n_bins: int = BINS) -> list[Bin]:
    """Return non-empty bins of equal width.

    Args:
        brackets: posterior of each bracket, and whether it is right.
        n_bins: number of bins between 0 and 1.
    """
    table = np.array(list(brackets), dtype=np.float64).reshape(-1, 2)
    place = np.minimum((table[:, 0] * n_bins).astype(int), n_bins - 1)
    return [
        Bin(number / n_bins, len(rows), float(rows[:, 0].mean()), float(rows[:, 1].mean()))
        for number in range(n_bins)
        if len(rows := table[place == number])
    ]


def calibration_error(bins: Sequence[Bin]) -> float:
    """Return the expected calibration error, from 0 to 1."""
    return sum(b.count * abs(b.posterior - b.right) for b in bins) / sum(b.count for b in bins)


def chance_error(bins: Sequence[Bin]) -> float:
    """Return the approximate calibration error of perfect posteriors, due to the finite number of brackets.

    The share of right brackets among n of probability p deviates by √(2p(1 − p) / πn) on average (normal
    approximation).
    """
    spread = [b.count * sqrt(2 * b.posterior * (1 - b.posterior) / (pi * b.count)) for b in bins]
    return sum(spread) / sum(b.count for b in bins)


def table_of(name: str, bins: Sequence[Bin]) -> str:
    """Return the table of one parser's bins."""
    rows = [
        [
            f"{b.low:.1f} – {b.low + 1 / BINS:.1f}",
            f"{b.count:,}",
            f"{b.posterior:.3f}",
            f"{b.right:.3f}",
            f"{b.right - b.posterior:+.3f}",
        ]
        for b in bins
    ]
    total = sum(b.count for b in bins)
    right = sum(b.count * b.right for b in bins) / total
    posterior = sum(b.count * b.posterior for b in bins) / total
    rows.append(["all", f"{total:,}", f"{posterior:.3f}", f"{right:.3f}", f"{right - posterior:+.3f}"])
    header = (f"`{name}`", "brackets", "mean posterior", "share right", "difference")
    error, chance = calibration_error(bins), chance_error(bins)
    what = f"Expected calibration error: {error:.4f}; right posteriors would have {chance:.4f} by chance."
    return f"{report.table(header, rows)}\n\n{what}"


# ---------------------------------------------------------------------------------------------------------
# Diagram

SIDE, MARGIN = 360, 56  # pixels: side of the square, and margin on its left and below
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")  # colour-blind safe (Okabe and Ito)
LARGEST = 9  # pixels: radius of the fullest bin
FEWEST = 10  # least number of brackets in a bin that is drawn


def diagram(series: Mapping[str, Sequence[Bin]]) -> str:
    """Return an SVG diagram with a line per parser; the area of a dot is its bin's share of the brackets."""
    width, height = SIDE + MARGIN + 24, SIDE + MARGIN + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *_axes(),
    ]
    for bins, colour in zip(series.values(), COLOURS, strict=False):
        parts += _line([b for b in bins if b.count >= FEWEST], colour)
    for row, (name, colour) in enumerate(zip(series, COLOURS, strict=False)):
        y = _y(1) + 20 + 20 * row
        parts.append(f'<circle cx="{MARGIN + 18}" cy="{y}" r="5" fill="{colour}"/>')
        text = f"{name} (error {calibration_error(series[name]):.3f})"
        parts.append(f'<text x="{MARGIN + 30}" y="{y + 4}" fill="#222222">{escape(text)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _x(value: float) -> float:
    return round(MARGIN + SIDE * value, 1)


def _y(value: float) -> float:
    return round(12 + SIDE * (1 - value), 1)


def _axes() -> Iterator[str]:
    """Yield SVG elements of the frame, the numbered grid, the diagonal and the axis labels."""
    for tenth in range(0, 11, 2):
        v = tenth / 10
        yield f'<path d="M{_x(v)} {_y(0)}V{_y(1)}M{_x(0)} {_y(v)}H{_x(1)}" stroke="#dddddd" fill="none"/>'
        yield f'<text x="{_x(v)}" y="{_y(0) + 18}" text-anchor="middle" fill="#444444">{v:.1f}</text>'
        yield f'<text x="{_x(0) - 8}" y="{_y(v) + 4}" text-anchor="end" fill="#444444">{v:.1f}</text>'
    diagonal = f"M{_x(0)} {_y(0)}L{_x(1)} {_y(1)}"
    yield f'<path d="{diagonal}" stroke="#888888" stroke-dasharray="5 4" fill="none"/>'
    middle_x, middle_y = _x(0.5), _y(0.5)
    yield f'<text x="{middle_x}" y="{_y(0) + 40}" text-anchor="middle" fill="#222222">mean posterior</text>'
    turned = f'transform="rotate(-90 16 {middle_y})" text-anchor="middle" fill="#222222"'
    yield f'<text x="16" y="{middle_y}" {turned}>share of brackets that are right</text>'


def _line(bins: Sequence[Bin], colour: str) -> Iterator[str]:
    points = " ".join(f"{_x(b.posterior)},{_y(b.right)}" for b in bins)
    yield f'<polyline points="{points}" stroke="{colour}" stroke-width="2" fill="none"/>'
    fullest = max((b.count for b in bins), default=0)
    for b in bins:
        radius = max(2.0, LARGEST * (b.count / fullest) ** 0.5)
        yield f'<circle cx="{_x(b.posterior)}" cy="{_y(b.right)}" r="{radius:.1f}" fill="{colour}"/>'


# ---------------------------------------------------------------------------------------------------------


def trained(setting: Setting, train: Corpus[Tree]) -> Parser:
    """Train a parser with a setting."""
    parser: Parser = ParsingTask().train(
        registry.estimators.get(setting.estimator).from_settings(setting.params), train
    )
    return parser


def main() -> None:
    """Run the benchmark with the arguments of the command line; print its tables, draw its diagram."""
    parser = experiment.argument_parser(__doc__)
    parser.add_argument(
        "--model", action="append", metavar="NAME|PATH", help="trained models; repeatable; none by default"
    )
    default = f"default, without --model: {', '.join(SETTINGS)}"
    add_settings(parser, f"what is trained on the treebank; repeatable; {default}", decoder="")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw a diagram into this file")
    arguments = parser.parse_args()
    folder = experiment.folder_of(arguments)
    settings = arguments.setting or ([] if arguments.model else [Setting.read(text) for text in SETTINGS])
    experiment.print_heading("reliability")
    train, dev = peers.treebank(folder / "train"), peers.treebank(folder / "dev")
    print(f"### Constituent posteriors, {arguments.treebank} dev\n")
    series = {}
    for name in arguments.model or ():
        series[name] = bins_of(judged(load(name), dev))
    for setting in settings:
        series[setting.text] = bins_of(judged(trained(setting, train), dev))
    for name, bins in series.items():
        print(f"{table_of(name, bins)}\n", flush=True)
    if arguments.svg:
        arguments.svg.write_text(diagram(series), encoding="utf-8")


if __name__ == "__main__":
    main()
