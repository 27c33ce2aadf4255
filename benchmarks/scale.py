"""Measure the cost of bounded memory and of several workers, on text with an unbounded vocabulary.

    python -m benchmarks.scale generate DIR --megabytes 2000
    python -m benchmarks.scale memory --megabytes 10 100 1000 2000
    python -m benchmarks.scale memory --estimator hmm --memory 1GB --only-limited --set operator_count=500
    python -m benchmarks.scale memory --estimator intent --memory '' --only-limited
    python -m benchmarks.scale streams --text TEXT.gz --parse 0.5 5
    python -m benchmarks.scale workers
    python -m benchmarks.scale overhead

The text is generated: ranks of words follow an unbounded Zipf–Mandelbrot law, so that the vocabulary grows by
Heaps' law; the classes of consecutive words depend on each other, so that there is structure to learn. It is
stored in plain files of about 20 MB. *memory* trains in its own process and reports its peak memory.
*streams* tags, classifies and parses the lines of a given text, repeated in another order, and reports peak
memory. *workers* compares passes on one and on two workers of a running Dask cluster with compiled kernels.
*overhead* compares whole runs, including start and end of the cluster.
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from spectralnlp import registry
from spectralnlp.api import train
from spectralnlp.estimator import Estimator
from spectralnlp.estimators.eigenwords import Eigenwords, PairCounts
from spectralnlp.estimators.lpcfg.moments import binariser_of
from spectralnlp.estimators.parser.parsers import LPCFGParser
from spectralnlp.runtime import Corpus, Moments, accumulate, open_text, use_engine, use_memory
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.tasks.vectors import VectorsTask
from spectralnlp.trees.treelog import TreeLog

CORPORA = Path(__file__).resolve().parents[1] / "corpora"
FILE_MEGABYTES = 20
EXPONENT, SHIFT = 1.5, 30.0  # parameters of the Zipf–Mandelbrot law
CLASSES = 12
WORDS_A_SENTENCE = 18


# ---------------------------------------------------------------------------------------------------------
# Text


def generate(folder: Path, megabytes: float, seed: int = 0) -> list[Path]:
    """Write files of text, each reproducible on its own; existing files are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    n_files = max(1, round(megabytes / FILE_MEGABYTES))
    for number in range(n_files):
        path = folder / f"{number:04d}.txt"
        files.append(path)
        if not path.exists():
            with path.with_suffix(".part").open("w", encoding="utf-8") as file:
                _write_text(file.write, megabytes / n_files * 1e6, np.random.default_rng((seed, number)))
            path.with_suffix(".part").rename(path)
    return files


def _write_text(write: Callable[[str], Any], n_bytes: float, rng: np.random.Generator) -> None:
    names = np.array([_spell(rank) for rank in range(1 << 16)], dtype=object)
    follows = np.random.default_rng(1).dirichlet(np.full(CLASSES, 0.2), size=CLASSES).cumsum(axis=1)
    while n_bytes > 0:
        n_sentences = 4000
        ranks = (
            (SHIFT * ((1 - rng.random((n_sentences, WORDS_A_SENTENCE))) ** (-1 / (EXPONENT - 1)) - 1))
            .clip(0, 2**40)
            .astype(np.int64)
        )
        classes = rng.integers(CLASSES, size=n_sentences)
        for place in range(WORDS_A_SENTENCE):
            classes = (rng.random((n_sentences, 1)) > follows[classes]).sum(axis=1).clip(0, CLASSES - 1)
            ranks[:, place] += classes - ranks[:, place] % CLASSES
        words = np.empty(ranks.size, dtype=object)
        flat = ranks.ravel()
        common = flat < len(names)
        words[common] = names[flat[common]]
        words[~common] = [_spell(rank) for rank in flat[~common].tolist()]
        text = "\n".join(map(" ".join, words.reshape(ranks.shape).tolist())) + "\n"
        write(text)
        n_bytes -= len(text)


def _spell(rank: int) -> str:
    """Return the spelling of the word of a frequency rank, in syllables; rarer words are longer."""
    word = ""
    while True:
        rank, syllable = divmod(rank, 70)
        word += "bdfgklmnprstvz"[syllable // 5] + "aeiou"[syllable % 5]
        if not rank:
            return word
        rank -= 1


# ---------------------------------------------------------------------------------------------------------
# Memory


def one(folder: str, estimator: str, memory: str | None, settings: Sequence[str]) -> dict[str, float | None]:
    """Train one estimator in this process; return seconds, peak memory and the size of the data.

    Args:
        folder: folder of the text.
        estimator: name of the estimator.
        memory: memory limit, such as ``1GB``; None for no limit.
        settings: settings of the estimator.
    """
    name = registry.estimators.resolve(estimator)
    kind: type[Estimator[Any]] = registry.estimators.get(name)
    learner: Any = kind.from_settings(dict(each.split("=", 1) for each in settings))
    task = registry.tasks.get(kind.task)()
    started = time.perf_counter()
    with use_memory(memory) if memory else nullcontext():
        if kind.task == "intents":  # the text is used as unlabelled text
            corpus = task.read([CORPORA / "intents" / "train.tsv"], unlabelled=[folder])
        else:
            corpus = task.read([folder], **({"reader": "tokens"} if kind.task == "vectors" else {}))
        model = task.train(learner, corpus, report=lambda line: print(line, file=sys.stderr))
        with tempfile.TemporaryDirectory() as output:
            model.save(Path(output, "model"))
    words = {
        "vectors": lambda: learner.word_vectors_.words,
        "sequences": lambda: learner.filter_.symbols,
        "topics": lambda: learner.topics_.words,
    }
    return {
        "seconds": time.perf_counter() - started,
        "peak": report.peak_megabytes(),
        "tokens": getattr(learner, "n_tokens_", getattr(learner, "n_symbols_", None)),
        "types": getattr(learner, "n_types_", None),
        "words": len(words[kind.task]()) if kind.task in words else None,
        "exact": getattr(learner, "is_exact_", True),
    }


def memory_table(
    megabytes: Sequence[float], estimator: str, limits: Sequence[str], settings: Sequence[str], where: Path
) -> str:
    rows = []
    for size in megabytes:
        folder = where / f"{size:g}"
        generate(folder, size)
        for limit in limits:
            command = [sys.executable, "-m", "benchmarks.scale", "one", str(folder), "--memory", limit]
            command += [f"--estimator={estimator}", *(f"--set={each}" for each in settings)]
            found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            scales = {"tokens": 1e6, "types": 1e3, "words": 1e3, "peak": 1}
            cells = [None if found[n] is None else f"{found[n] / scale:,.0f}" for n, scale in scales.items()]
            exact = "yes" if found["exact"] else "no"
            rows.append([f"{size:,g} MB", limit or "none", *cells, f"{found['seconds']:.0f}", exact])
    header = ["text", "--memory", "10⁶ tokens", "10³ types", "10³ words", "peak MB", "s", "exact"]
    return report.table(header, rows)


# Megabytes of text for each streaming command.
_SIZES = {"tag": (1, 10, 100), "classify": (1, 10, 100), "parse": (0.5, 5)}

# Runs a command and writes its peak in MB and its CPU time as the last line of stderr.
_MEASURED = """
import sys, time
from benchmarks import report
from spectralnlp.cli import main
status = main()
print(report.peak_megabytes(), time.process_time(), file=sys.stderr)
sys.exit(status)
"""


def repeat_text(source: Path, path: Path, megabytes: float) -> Path:
    """Write lines of a text repeatedly, shuffled at each repetition, up to a size in megabytes."""
    with open_text(source) as opened:
        lines = [each for each in opened if each.strip()]
    random, size = Random(0), 0
    with path.open("w", encoding="utf-8") as file:
        while size < megabytes * 1e6:
            random.shuffle(lines)
            for line in lines:
                size += len(line.encode()) + 1
                file.write(line.rstrip("\n") + "\n")
                if size >= megabytes * 1e6:
                    break
    return path


def stream_table(text: Path, sizes: Mapping[str, Sequence[float]]) -> str:
    """Return a table of the peak memory of commands by the size of the text."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        models = {"tag": "en-tagger", "classify": str(Path(folder, "intent")), "parse": "en"}
        train("intent", CORPORA / "intents" / "train.tsv").save(models["classify"])
        for command, megabytes in sizes.items():
            for size in megabytes:
                path = repeat_text(text, Path(folder, "text"), size)
                run = [sys.executable, "-c", _MEASURED, command, "-m", models[command], str(path)]
                done = subprocess.run(
                    [*run, "-o", str(Path(folder, "out"))], check=True, stderr=subprocess.PIPE, text=True
                )
                peak, seconds = map(float, done.stderr.split()[-2:])
                name = f"`{command} -m {Path(models[command]).name}`"
                rows.append([name, f"{size:g} MB", f"{peak:.0f}", f"{seconds:.0f}"])
                print(" ".join(rows[-1]), file=sys.stderr)
    return report.table(["command", "text", "peak MB", "CPU s"], rows)


# ---------------------------------------------------------------------------------------------------------
# Workers


def passes(text: Path, trees: Path | None) -> dict[str, tuple[Moments[Any], Corpus[Any], int]]:
    """Return, by name, the passes over the data whose time is measured.

    Returns:
        For each pass: empty moments, a corpus with at least one file per worker, and a batch size.
    """
    from spectralnlp_sketch import FrequentDirections
    from spectralnlp_sketch.row_files import FileRows, RowFormat

    words = VectorsTask().read([text], reader="tokens")
    rows = FileRows(sorted(text.glob("*.txt")), RowFormat("text", 1024, (1, 1)))
    sketch = FrequentDirections(sketch_size=128)
    sketch.begin(rows)
    found: dict[str, tuple[Moments[Any], Corpus[Any], int]] = {
        "eigenwords": (PairCounts(), words, 256),
        "frequent directions": (sketch.moments_, rows, 8192),
    }
    if trees is not None:
        log = TreeLog(binariser_of("head", unaries="compress", heads="english").to_dict())
        found["lpcfg, trees"] = (log, ParsingTask().read([trees]), 256)
    return found


def worker_table(text: Path, trees: Path | None) -> str:
    rows = []
    for name, (moments, corpus, batch_size) in passes(text, trees).items():
        seconds = {}
        for jobs in (1, 2):
            with use_engine("dask", jobs=jobs):
                few = _first_of(corpus)
                accumulate(
                    moments.empty_like(), few, batch_size=batch_size
                )  # starts workers, imports modules and compiles kernels
                started = time.perf_counter()
                accumulate(moments.empty_like(), corpus, batch_size=batch_size)
                seconds[jobs] = time.perf_counter() - started
        rows.append([name, *(f"{each:.1f}" for each in seconds.values()), f"{seconds[1] / seconds[2]:.2f}"])
    return report.table(["pass", "one worker, s", "two workers, s", "times as fast"], rows)


class _first_of(Corpus[Any]):  # noqa: N801 (reads as a function)
    """Corpus of the first two partitions of another corpus, one for each of two workers."""

    def __init__(self, corpus: Corpus[Any]) -> None:
        self.corpus = corpus

    def partitions(self) -> list[Any]:
        return list(self.corpus.partitions())[:2]


def overhead_table(text: Path, trees: Path | None) -> str:
    """Return a table of whole runs: estimators fitted serially, and on one local worker."""
    rows = []
    fits: dict[str, tuple[Callable[[], Any], Corpus[Any]]] = {
        "eigenwords": (Eigenwords, VectorsTask().read([text], reader="tokens"))
    }
    if trees is not None:
        fits["lpcfg"] = (LPCFGParser, ParsingTask().read([trees]))
    for name, (make, corpus) in fits.items():
        seconds = []
        for engine in (serial, one_local_worker):
            started = time.perf_counter()
            with engine():
                make().fit(corpus)
            seconds.append(time.perf_counter() - started)
        rows.append(
            [name, *(f"{each:.1f}" for each in seconds), f"{100 * (seconds[1] / seconds[0] - 1):+.0f} %"]
        )
    return report.table(["fit", "serial, s", "one local worker, s", "longer by"], rows)


@contextmanager
def serial() -> Iterator[None]:
    with use_engine("serial"):
        yield


@contextmanager
def one_local_worker() -> Iterator[None]:
    with use_engine("dask", jobs=1):
        yield


def main(arguments: Sequence[str] | None = None) -> None:
    parser = report.argument_parser(__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    generating = commands.add_parser("generate")
    generating.add_argument("folder", type=Path)
    generating.add_argument("--megabytes", type=float, default=100)
    single = commands.add_parser("one")
    single.add_argument("folder")
    measuring = commands.add_parser("memory")
    measuring.add_argument("--megabytes", type=float, nargs="+", default=[10, 100, 1000, 2000])
    for command in (single, measuring):
        command.add_argument("--memory", default="1.2GB")
        command.add_argument("--estimator", default="eigenwords", help="Or hmm, topics, sent, intent …")
        command.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    measuring.add_argument("--only-limited", action="store_true", help="Not without a limit, too.")
    comparing, timing = commands.add_parser("workers"), commands.add_parser("overhead")
    for command in (comparing, timing):
        command.add_argument("--megabytes", type=float, default=400)
        command.add_argument("--trees", type=Path, help="A treebank in several files.")
    streaming = commands.add_parser("streams")
    streaming.add_argument("--text", type=Path, required=True, help="Lines to repeat; may be compressed.")
    for name, sizes in _SIZES.items():
        streaming.add_argument(f"--{name}", type=float, nargs="*", default=sizes, metavar="MEGABYTES")
    for command in (measuring, comparing, timing):
        command.add_argument("--where", type=Path, default=Path(tempfile.gettempdir(), "spectralnlp-scale"))
    given = parser.parse_args(arguments)
    if given.command == "generate":
        generate(given.folder, given.megabytes)
        return
    if given.command == "one":
        print(json.dumps(one(given.folder, given.estimator, given.memory or None, given.set)))
        return
    print(report.machine(), end="\n\n")
    if given.command == "memory":
        limits = [given.memory] if given.only_limited else [given.memory, ""]
        print(memory_table(given.megabytes, given.estimator, limits, given.set, given.where))
        return
    if given.command == "streams":
        megabytes = {name: getattr(given, name) for name in _SIZES}
        print(stream_table(given.text, megabytes))
        return
    text = given.where / f"{given.megabytes:g}"
    generate(text, given.megabytes)
    print((worker_table if given.command == "workers" else overhead_table)(text, given.trees))


if __name__ == "__main__":
    main()
