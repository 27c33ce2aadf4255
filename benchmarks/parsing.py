"""Compare accuracy and speed of parsers with any settings, the Berkeley parser and NLTK.

Each setting is trained in its own process, saved, loaded, and run on one thread, with kernels compiled and
loaded before timing. `lpcfg` trains its grammars with one thread per core. The Berkeley parser's trees are
the stored output of version 1.7 (in ``../shared/golden/evalb``), scored in the same run by the same code; its
speed is not measured here. NLTK's ViterbiParser, which takes seconds to minutes per sentence, parses a few
short sentences, which every setting parses, too.

    python -m benchmarks.parsing
    python -m benchmarks.parsing --treebank wsj --setting pcfg:preset=plain@viterbi --setting lpcfg:n_states=8
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import spectralnlp
from benchmarks import peers

TREEBANKS = ("wsj", "gum", "craft", "cess_esp")
SETTINGS = (
    "pcfg:preset=plain",
    "pcfg",
    "lpcfg:preset=tutorial",
    "lpcfg:preset=fast",
    "lpcfg",
    "lpcfg:preset=best",
)
THREADS = "One thread parses; training may take all cores."
WARM_UP = Path(__file__).parent.parent / "corpora" / "treebank" / "train.mrg"


@dataclass(frozen=True)
class Setting:
    """Estimator with settings written as text, and a decoder that replaces the model's own."""

    text: str
    estimator: str
    params: dict[str, str]
    decoder: str | None

    @classmethod
    def read(cls, text: str) -> Setting:
        """Return the setting of a text ``ESTIMATOR[:KEY=VALUE,…][@DECODER]``."""
        learner, _, decoder = text.partition("@")
        name, _, settings = learner.partition(":")
        pairs = [pair.partition("=") for pair in settings.split(",") if pair]
        if not name or any(not equals for _, equals, _ in pairs):
            raise argparse.ArgumentTypeError(f"{text!r} is not ESTIMATOR[:KEY=VALUE,...][@DECODER]")
        return cls(text, name, {key.strip(): value.strip() for key, _, value in pairs}, decoder or None)


@dataclass(frozen=True)
class Result:
    """Result of one training run and its evaluation; F1 and accuracy are in percent.

    ``skipped`` holds the invalid trees. ``again`` is the speed, in sentences per second, of parsing the
    sentences a second time with filled caches, and ``microseconds`` the time per word then.
    """

    seconds: float
    peak_mb: float
    f1: float
    f1_40: float
    accuracy: float
    sentences_per_second: float
    again: float
    microseconds: float
    failures: int
    skipped: int
    signature: str
    spot_check: peers.SpotCheck | None


def measure(setting: Setting, seed: int, train: Path, dev: Path, spots: Sequence[str]) -> Result:
    """Train and evaluate one setting in this process.

    Args:
        setting: setting to train.
        seed: ``random_state``, if the estimator has one and the setting does not give it.
        train, dev: folders of treebank files.
        spots: bracketed gold trees that are also parsed one by one, for comparison with NLTK; may be empty.
    """
    from spectralnlp import registry

    kind = registry.estimators.get(setting.estimator)
    params = setting.params
    if seed and "random_state" in kind().get_params():
        params = {"random_state": str(seed), **params}
    task = registry.tasks.get(kind.task)()
    small = as_loaded(task.train(kind.from_settings(params), task.read([WARM_UP])))
    task.evaluate(small, task.read([WARM_UP]), decoder=setting.decoder)
    skipped = set[str]()
    corpus, estimator = peers.treebank(train, skipped), kind.from_settings(params)
    started = perf_counter()
    parser = task.train(estimator, corpus)
    seconds = perf_counter() - started
    peak_mb = report.peak_megabytes()
    parser = as_loaded(parser)
    scored = task.evaluate(parser, peers.treebank(dev, skipped), decoder=setting.decoder)
    texts = [tree.words() for tree in peers.treebank(dev, skipped)]
    started = perf_counter()
    for _ in parser.parse_many(texts, decoder=setting.decoder):
        pass
    seconds_again = perf_counter() - started
    spot_check = None
    if spots:
        spot_check = peers.spot_check(
            lambda words: parser.parse_tokens(words, decoder=setting.decoder).tree, spots
        )
    return Result(
        seconds,
        peak_mb,
        scored.overall.f1,
        scored.short.f1,
        scored.overall.tagging_accuracy,
        scored.sentences_per_second or 0.0,
        len(texts) / seconds_again,
        1e6 * seconds_again / sum(map(len, texts)),
        scored.failures,
        len(skipped),
        scored.signature,
        spot_check,
    )


def as_loaded(parser: Any) -> Any:
    """Return the parser after saving and loading it, as users have it (in single precision)."""
    with TemporaryDirectory() as folder:
        parser.save(Path(folder, "model"))
        return spectralnlp.load(Path(folder, "model"))


def rows_of(
    treebank: str,
    settings: Sequence[Setting],
    seeds: int,
    folder: Path,
    spots: Sequence[str],
    berkeley: peers.Scores | None,
) -> Iterator[tuple[list[object], Result]]:
    """Yield, for each setting, a row of the table and the result with the first seed.

    Args:
        treebank: name of the treebank.
        settings: settings to train.
        seeds: number of training runs.
        folder: folder of the treebank.
        spots: gold trees for the comparison with NLTK.
        berkeley: scores of the Berkeley parser; None if there are none.
    """
    for setting in settings:
        runs = []
        for seed in range(seeds):
            runs.append(
                report.apart(
                    measure, setting, seed, folder / "train", folder / "dev", spots if not seed else ()
                )
            )
            print(f"{treebank} {setting.text} seed {seed}: F1 {runs[-1].f1:.2f}", file=sys.stderr, flush=True)
        f1 = mean(run.f1 for run in runs)
        spread = f" ± {stdev(run.f1 for run in runs):.2f}" if seeds > 1 else ""
        yield (
            [
                f"`{setting.text}`",
                f"{mean(run.seconds for run in runs):.1f}",
                f"{max(run.peak_mb for run in runs):,.0f}",
                f"{f1:.2f}{spread}",
                None if berkeley is None else f"{f1 - berkeley.f1:+.2f}",
                f"{mean(run.f1_40 for run in runs):.2f}",
                f"{mean(run.accuracy for run in runs):.2f}",
                f"{mean(run.sentences_per_second for run in runs):.1f}",
                f"{mean(run.again for run in runs):.1f}",
                f"{mean(run.microseconds for run in runs):.0f}",
                sum(run.failures for run in runs),
            ],
            runs[0],
        )


HEADER = (
    "parser",
    "training s",
    "peak MB",
    "F1",
    "− Berkeley",
    "F1 ≤ 40",
    "tags",
    "sentences/s",
    "again",
    "µs a word",
    "fallbacks",
)


def print_treebank(treebank: str, arguments: argparse.Namespace) -> None:
    """Print all tables of one treebank."""
    folder = arguments.corpora / "treebanks" / treebank
    if not folder.is_dir():
        sys.exit(f"{folder}: no such folder; say with --corpora where the corpora are")
    berkeley = peers.berkeley(treebank, arguments.golden)
    spots = peers.short_sentences(folder / "dev", arguments.nltk_sentences)
    nltk_checks = None
    if arguments.nltk_sentences and report.version_of("nltk"):
        nltk_checks = peers.nltk_viterbi(folder / "train", spots, arguments.nltk_seconds)
        spots = spots[: nltk_checks.sentences]
    rows: list[list[object]] = []
    results = []
    for row, result in rows_of(treebank, arguments.setting, arguments.seeds, folder, spots, berkeley):
        rows.append(row)
        results.append(result)
    if berkeley is not None:
        tail = [f"{berkeley.f1:.2f}", None, f"{berkeley.f1_40:.2f}", f"{berkeley.accuracy:.2f}"]
        rows.append(["Berkeley 1.7, stored output", None, None, *tail, None, None, None, berkeley.skipped])
    print(f"### {treebank} dev, {results[0].signature}\n\n{report.table(HEADER, rows)}\n", flush=True)
    if results[0].skipped:
        print(f"{results[0].skipped} trees that cannot be read are left out.\n")
    if nltk_checks is None or not nltk_checks.sentences:
        absent = not report.version_of("nltk")
        print(f"NLTK {'is not installed' if absent else 'was left out, or parsed nothing in its time'}.\n")
        return
    checks = {f"`{s.text}`": r.spot_check for s, r in zip(arguments.setting, results, strict=True)}
    print(f"{spot_check_table(nltk_checks, checks)}\n", flush=True)


def spot_check_table(nltk: peers.SpotCheck, ours: Mapping[str, peers.SpotCheck | None]) -> str:
    """Return a table of NLTK and our settings on the same short sentences."""
    named = {"NLTK ViterbiParser, plain PCFG": nltk, **ours}
    rows = [
        [
            name,
            f"{check.f1:.1f}",
            f"{1000 * check.seconds / check.sentences:,.1f}",
            f"{nltk.seconds / check.seconds:,.0f}",
        ]
        for name, check in named.items()
        if check is not None
    ]
    what = f"{nltk.sentences} sentences of {peers.SHORT[0]} to {peers.SHORT[1]} tokens"
    return report.table((what, "F1", "ms a sentence", "times as fast as NLTK"), rows)


def add_settings(parser: argparse.ArgumentParser, text: str, *, decoder: str = "[@DECODER]") -> None:
    """Add the repeatable argument ``--setting``.

    Args:
        parser: argument parser to which it is added.
        text: help text.
        decoder: end of the placeholder in the help.
    """
    parser.add_argument(
        "--setting", action="append", type=Setting.read, metavar=f"NAME[:KEY=VALUE,…]{decoder}", help=text
    )


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its tables."""
    parser = report.argument_parser(__doc__, corpora=True)
    parser.add_argument(
        "--golden",
        type=Path,
        default=Path("../shared/golden/evalb"),
        metavar="DIR",
        help="where the Berkeley parser's output is",
    )
    parser.add_argument(
        "--treebank", action="append", choices=TREEBANKS, help="repeatable; default wsj and gum"
    )
    add_settings(parser, f"repeatable; default {', '.join(SETTINGS)}")
    parser.add_argument(
        "--seeds", type=int, default=1, metavar="N", help="runs of each setting; F1 ± deviation"
    )
    parser.add_argument(
        "--nltk-sentences", type=int, default=10, metavar="N", help="short sentences; 0: no NLTK"
    )
    parser.add_argument("--nltk-seconds", type=float, default=60, metavar="S", help="NLTK's time a treebank")
    arguments = parser.parse_args()
    arguments.setting = arguments.setting or [Setting.read(text) for text in SETTINGS]
    print(f"{report.machine()} {THREADS}\n", flush=True)
    for treebank in arguments.treebank or ("wsj", "gum"):
        print_treebank(treebank, arguments)


if __name__ == "__main__":
    main()
