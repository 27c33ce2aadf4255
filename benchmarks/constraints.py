"""Compare the time of parsing under constraints with that of unconstrained parsing.

The sentences are tokenised pieces of equal length from the project's own text. Times are CPU milliseconds per
sentence: the median, with the maximum in brackets.

    python -m benchmarks.constraints
    python -m benchmarks.constraints --model models/own --lengths 30 60
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import spectralnlp
from benchmarks import report
from spectralnlp.models.parser import Parser

TEXT = Path(__file__).parent.parent / "corpora" / "text" / "lighthouse.txt"
N_SENTENCES, REPEATS = 12, 3
Constraints = Callable[[int], dict[str, Any]]


def pieces(parser: Parser, n_tokens: int) -> list[list[str]]:
    """Return passages of ``n_tokens`` tokens from the text, none of which contains a sentence end inside."""
    sentences = parser.sentences(TEXT.read_text(encoding="utf-8").splitlines(keepends=True))
    words = [word for sentence in sentences for word in sentence.words if word not in (".", "?", "!")]
    words *= 1 + (N_SENTENCES + n_tokens) // len(words)
    starts = np.linspace(0, len(words) - n_tokens, N_SENTENCES).astype(int).tolist()
    return [[*words[start : start + n_tokens - 1], "."] for start in starts]


def milliseconds(parser: Parser, sentences: list[list[str]], constraints: Constraints) -> list[float]:
    """Return the CPU milliseconds that parsing each sentence takes, the minimum of several runs."""
    times = []
    for number, words in enumerate(sentences):
        given, runs = constraints(number), []
        for _ in range(REPEATS):
            started = process_time()
            try:
                parser.parse_tokens(words, **given)
            except spectralnlp.SpectralError:
                assert "SBARQ" in str(given), "only the impossible is refused"
            runs.append(1000 * (process_time() - started))
        times.append(min(runs))
    return times


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its table."""
    options = report.argument_parser(__doc__)
    options.add_argument("--model", default="en", help="a parser")
    options.add_argument("--lengths", type=int, nargs="+", default=[10, 20, 30, 40], help="tokens")
    given = options.parse_args()
    parser = spectralnlp.load(given.model)
    print("| tokens | plain | a bracket of its tree | any bracket of three | refused |")
    print("| --- | --- | --- | --- | --- |")
    for n in given.lengths:
        sentences = pieces(parser, n)
        trees = [parser.parse_tokens(words) for words in sentences]
        rng = np.random.default_rng(n)

        def of_tree(number: int) -> dict[str, Any]:
            wide = [c for c in trees[number].constituents if c.end - c.start > 1]  # noqa: B023
            chosen = wide[rng.integers(len(wide))]  # noqa: B023
            return {"brackets": [(chosen.start, chosen.end, chosen.label)]}

        def anywhere(number: int) -> dict[str, Any]:
            start = int(rng.integers(n - 3))  # noqa: B023
            return {"brackets": [(start, start + 3)]}

        columns = [
            milliseconds(parser, sentences, each)
            for each in (lambda _: {}, of_tree, anywhere, lambda _: {"brackets": [(1, 2, "SBARQ")]})
        ]
        cells = (f"{np.median(times):.0f} ({max(times):.0f})" for times in columns)
        print(f"| {n} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
