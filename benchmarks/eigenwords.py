"""Compare eigenwords with gensim's word2vec: time, memory, and quality of the word vectors.

Each row is trained in its own process on one thread, with kernels compiled before timing; the time includes
reading the compressed text. word2vec is skip-gram with 5 epochs, one worker, the same dimensions and minimum
count, and otherwise gensim's defaults. Measures:

- *nearest*, *ten*: share of words whose nearest neighbour has their most frequent part of speech in EWT's
  training set, and the mean share among the ten nearest (``spectralnlp evaluate DIR FILE.conllu``);
- *tags*, *unknown*: accuracy on EWT dev, and on its words that are not in EWT train, of an averaged
  perceptron (CRFsuite) with the usual features of words and spelling, and the vectors of the word and its
  neighbours.

    python -m benchmarks.eigenwords speed
    python -m benchmarks.eigenwords memory
    python -m benchmarks.eigenwords variants
    python -m benchmarks.eigenwords amount --plot docs/eigenwords.svg
    python -m benchmarks.eigenwords whitening
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import gzip
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spectralnlp_sketch import CCA

from benchmarks import tagging
from spectralnlp.estimators.eigenwords import Eigenwords, PairCounts
from spectralnlp.estimators.eigenwords.matrix import MatrixInMemory
from spectralnlp.estimators.eigenwords.solve import (
    blocks_of,
    choose_vocabulary,
    context_matrix,
    solve_vectors,
    transformed,
)
from spectralnlp.models.vectors import Vectors
from spectralnlp.runtime import InMemoryCorpus, accumulate
from spectralnlp.tasks.vectors import VectorsTask, neighbour_agreement

ENGLISH, MORE = "text/english_10m.txt.gz", "text/imdb_unsup.txt.gz"
TRAIN, DEV = "tagging/ewt/en_ewt-ud-train.conllu", "tagging/ewt/en_ewt-ud-dev.conllu"
WORD2VEC = "word2vec"
VARIANTS = (
    "",
    "spelling=False",
    "tokens",
    "clusters=500",
    "variant=svd",
    "preset=tutorial",
    "transform=none",
    "transform=log",
    "positions=pooled",
    "window=1",
    "window=3",
    "contexts=1000",
    "contexts=20000",
    "dimensions=20",
    "dimensions=200",
    WORD2VEC,
)
BOTH = ("", WORD2VEC)
AMOUNTS = ((0.3, ("",)), (1, BOTH), (3, ("",)), (10, BOTH), (23, ("",)))


@dataclass(frozen=True)
class Learned:
    """Word vectors that a training process has written, with the time and memory that it took."""

    path: Path
    seconds: float
    peak_mb: float
    tokens: int


def learn(setting: str, files: Sequence[Path], folder: Path) -> Learned:
    """Train vectors in this process, and write them to a folder.

    Args:
        setting: settings of eigenwords, ``KEY=VALUE,…``; or ``word2vec``.
        files: files of text.
        folder: folder to write.
    """
    return learn_word2vec(files, folder) if setting == WORD2VEC else learn_eigenwords(setting, files, folder)


def learn_eigenwords(setting: str, files: Sequence[Path], folder: Path) -> Learned:
    task = VectorsTask()
    pairs = (pair.partition("=") for pair in setting.split(",") if pair not in ("", "tokens"))
    settings = {key: value for key, _, value in pairs}
    task.train(Eigenwords(dimensions=2, min_count=1), _few_words(folder), report=_silent)
    started = time.process_time()
    vectors = task.train(Eigenwords.from_settings(settings), task.read(files), report=_silent)
    seconds = time.process_time() - started
    vectors.save(folder / "model", overwrite=True)
    return Learned(folder / "model", seconds, report.peak_megabytes(), vectors.about["training tokens"])


def _silent(line: str) -> None:
    pass


def _few_words(folder: Path) -> Any:
    """Write a small text; training on it compiles all kernels before time is measured."""
    path = folder / "few.txt"
    path.write_text("the cat sat .\na dog sat on the mat .\n" * 3)
    return VectorsTask().read([path])


class Lines:
    """Sentences of lower-cased words in files, as an iterable that gensim can read several times."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.files = files
        self.tokens = 0

    def __iter__(self) -> Iterator[list[str]]:
        self.tokens = 0
        for block in VectorsTask().read(self.files):
            for line in str(block).split("\n"):
                words = line.lower().split()
                self.tokens += len(words)
                yield words


def learn_word2vec(files: Sequence[Path], folder: Path) -> Learned:
    from gensim.models import Word2Vec

    started = time.process_time()
    lines = Lines(files)
    model = Word2Vec(lines, vector_size=50, sg=1, epochs=5, workers=1, min_count=3, seed=0)
    seconds = time.process_time() - started
    model.wv.save_word2vec_format(folder / "w2v.txt")
    peak = report.peak_megabytes()
    Vectors.from_word2vec(folder / "w2v.txt").save(folder / "model", overwrite=True)
    return Learned(folder / "model", seconds, peak, lines.tokens)


def quality(learned: Learned, corpora: Path, setting: str) -> list[str]:
    """Return the quality of word vectors: the module's measures *nearest*, *ten*, *tags* and *unknown*."""
    import spectralnlp

    vectors = spectralnlp.load(learned.path)
    if setting == WORD2VEC:  # trained on lower-cased words, which its file does not record
        from dataclasses import replace

        vectors = replace(vectors, parameters=replace(vectors.parameters, lowercase=True))
    found = neighbour_agreement(vectors, VectorsTask().read_gold([corpora / TRAIN]))
    how = "tokens" if setting == "tokens" else "clusters" if "clusters=" in setting else "words"
    scores = tagging.accuracy(corpora / TRAIN, corpora / DEV, vectors, how)
    return [f"{each:.2f}" for each in (found.nearest, found.ten, *scores)]


def measure(setting: str, files: Sequence[Path], corpora: Path) -> tuple[Learned, list[str]]:
    """Train vectors on some files in a new process, and measure their quality.

    Args:
        setting: settings of eigenwords, ``KEY=VALUE,…``; or ``word2vec``.
        files: files of text.
        corpora: folder of the corpora.

    Returns:
        The trained vectors, and the measures of `quality`.
    """
    with tempfile.TemporaryDirectory() as folder:
        learned = report.apart(learn, setting, files, Path(folder))
        scores = report.apart(quality, learned, corpora, setting)
    print(
        f"{setting or 'eigenwords'}: {learned.seconds:.1f} s, {' '.join(scores)}", file=sys.stderr, flush=True
    )
    return learned, scores


def named(setting: str) -> str:
    if setting == WORD2VEC:
        return "word2vec"
    return f"`{setting}`" if setting and setting != "tokens" else "eigenwords" + " + contexts" * bool(setting)


def speed(corpora: Path, runs: int) -> None:
    """Print time and memory of both methods, the best of several runs."""
    rows = []
    files = [corpora / ENGLISH]
    best: dict[str, Learned] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(runs):
            for setting in ("", "spelling=False", WORD2VEC):
                learned = report.apart(learn, setting, files, Path(folder))
                if setting not in best or learned.seconds < best[setting].seconds:
                    best[setting] = learned
                print(setting, learned.seconds, file=sys.stderr, flush=True)
    slowest = best[WORD2VEC].seconds
    for setting, learned in best.items():
        rows.append(
            [
                named(setting),
                f"{learned.tokens:,}",
                f"{learned.seconds:.1f}",
                f"{slowest / learned.seconds:.1f}",
                f"{learned.peak_mb:,.0f}",
            ]
        )
    print(report.table(("", "tokens", "CPU s", "× as fast as word2vec", "peak MB"), rows))


def sample(corpora: Path, millions: float, folder: Path) -> list[Path]:
    """Return files of about ``millions`` million tokens of English text, with film reviews if needed."""
    if millions >= 10:
        return [corpora / ENGLISH, corpora / MORE] if millions > 11 else [corpora / ENGLISH]
    path = folder / "part.txt"
    every = round(10.3 / millions)
    with (
        gzip.open(corpora / ENGLISH, "rt", encoding="utf-8") as file,
        path.open("w", encoding="utf-8") as part,
    ):
        part.writelines(line for number, line in enumerate(file) if number % every == 0)
    return [path]


def memory(corpora: Path) -> None:
    """Print time and peak memory for increasing amounts of text."""
    rows = []
    for millions in (1, 3, 10, 23):
        with tempfile.TemporaryDirectory() as folder:
            learned = report.apart(learn, "", sample(corpora, millions, Path(folder)), Path(folder))
        cost = (learned.seconds, learned.tokens / learned.seconds, learned.peak_mb)
        rows.append([named(""), f"{learned.tokens:,}", f"{cost[0]:.1f}", *(f"{x:,.0f}" for x in cost[1:])])
        print(rows[-1], file=sys.stderr, flush=True)
    print(report.table(("", "tokens", "CPU s", "tokens/s", "peak MB"), rows))


def variants(corpora: Path, settings: Sequence[str]) -> None:
    """Print time and quality of variants of eigenwords that change one setting each."""
    rows = [["no vectors", None, None, None, *_percent(report.apart(_without, corpora))]]
    for setting in settings:
        learned, scores = measure(setting, [corpora / ENGLISH], corpora)
        rows.append([named(setting), f"{learned.seconds:.1f}", *scores])
    print(report.table(("", "CPU s", "nearest", "ten", "tags", "unknown"), rows))


def _without(corpora: Path) -> tuple[float, float]:
    return tagging.accuracy(corpora / TRAIN, corpora / DEV, None)


def _percent(scores: Sequence[float]) -> list[str]:
    return [f"{each:.2f}" for each in scores]


def amount(corpora: Path, plot: Path | None) -> None:
    """Print time and quality of the vectors for increasing amounts of text; draw them if a file is named."""
    rows, points = [], []
    for millions, settings in AMOUNTS:
        for setting in settings:
            with tempfile.TemporaryDirectory() as folder:
                learned, scores = measure(setting, sample(corpora, millions, Path(folder)), corpora)
            rows.append([named(setting), f"{learned.tokens / 1e6:.1f}", f"{learned.seconds:.1f}", *scores])
            points.append((named(setting), learned.tokens, *map(float, scores)))
    print(report.table(("", "million tokens", "CPU s", "nearest", "ten", "tags", "unknown"), rows))
    if plot is not None:
        draw(points, report.apart(_without, corpora)[0], plot)


def whitening(corpora: Path) -> None:
    """Print how close the vectors are to a CCA whose context positions are whitened jointly.

    The text has a million tokens; all words beyond the 700 most frequent are merged into one. The true CCA is
    `spectralnlp_sketch.CCA` of each token and the four words around it. To compare the subspaces, words are
    weighted by the square roots of their counts.
    """
    import numpy as np
    import scipy.linalg

    with tempfile.TemporaryDirectory() as folder:
        sentences = list(Lines(sample(corpora, 1, Path(folder))))
    frequent = Counter(word for words in sentences for word in words).most_common(700)
    known = {word for word, _ in frequent}
    sentences = [[word if word in known else "<rare>" for word in words] for words in sentences if words]
    counts = accumulate(PairCounts(window=2), InMemoryCorpus(sentences))
    words = choose_vocabulary(counts, min_count=1, max_words=None, n_contexts=None)
    matrix = MatrixInMemory(context_matrix(counts, words, blocks_of(2, "apart")))
    true = true_cca(sentences, counts.names(words.rows), max(_WIDTHS))
    weighted = np.sqrt(counts.words.counts[words.rows])[:, None] * true.x_weights_
    rows = []
    for transform in ("none", "sqrt"):
        vectors = solve_vectors(transformed(matrix, transform), "cca", 2 * max(_WIDTHS), random_state=0)[0]
        for k in _WIDTHS:
            same, more = (
                np.cos(scipy.linalg.subspace_angles(vectors[:, :width].astype(float), weighted[:, :k]))
                for width in (k, 2 * k)
            )
            figures = (same.max(), np.median(same), same.min(), np.median(more), more.min())
            rows.append([f"`transform={transform}`", k, *(f"{each:.3f}" for each in figures)])
    header = ("", "k", "largest cosine", "median", "smallest", "median among 2k", "smallest among 2k")
    print(report.table(header, rows))


_WIDTHS = (5, 10, 20, 50)


def true_cca(sentences: Sequence[Sequence[str]], names: Sequence[str], k: int) -> CCA:
    """Compute the CCA of tokens and the words around them, with one column for each word and position.

    Args:
        sentences: the text.
        names: the words.
        k: number of pairs of directions.
    """
    import numpy as np
    import scipy.sparse

    place = {word: number for number, word in enumerate(names, 1)}
    model = CCA(k)
    for start in range(0, len(sentences), 1000):
        ids: list[int] = []
        for each in sentences[start : start + 1000]:
            ids += [-1, 0, *(place[word] for word in each), 0, -1]
        codes = np.array(ids)
        tokens = np.flatnonzero(codes > 0)
        size, n = len(names) + 1, len(tokens)
        around = codes[tokens[:, None] + [-2, -1, 1, 2]] + size * np.arange(4)
        kept = codes[tokens[:, None] + [-2, -1, 1, 2]] >= 0
        x = scipy.sparse.csr_array((np.ones(n), (np.arange(n), codes[tokens] - 1)), shape=(n, size - 1))
        where = (np.nonzero(kept)[0], around[kept])
        y = scipy.sparse.csr_array((np.ones(kept.sum()), where), shape=(n, 4 * size))
        model.partial_fit(x, y)
    return model


def draw(points: Sequence[tuple[Any, ...]], plain: float, path: Path) -> None:
    import matplotlib
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for axes, column, title in zip(
        figure.subplots(1, 2),
        (3, 4),
        ("ten nearest with the part of speech, %", "EWT dev tags, %"),
        strict=True,
    ):
        for name in dict.fromkeys(point[0] for point in points):
            part = [point for point in points if point[0] == name]
            axes.plot([p[1] for p in part], [p[column] for p in part], marker="o", label=name.strip("`"))
        axes.set_xscale("log")
        axes.set_xlabel("tokens of text")
        axes.set_title(title, fontsize=10)
        axes.grid(alpha=0.3)
        if column == 4:
            axes.axhline(plain, color="grey", linestyle="--", label="no vectors")
        axes.legend(fontsize=8)
    with matplotlib.rc_context({"svg.hashsalt": "spectralnlp"}):
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main() -> None:
    """Run the part of the benchmark that the command line names, and print its table."""
    parser = report.argument_parser(__doc__, corpora=True)
    parser.add_argument("table", choices=("speed", "memory", "variants", "amount", "whitening"))
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="of speed: the best of so many")
    parser.add_argument("--setting", action="append", metavar="KEY=VALUE,…", help="of variants; repeatable")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="of amount: draw it too")
    arguments = parser.parse_args()
    print(
        f"    python -m benchmarks.eigenwords {arguments.table}\n\n{report.machine()} One thread.\n",
        flush=True,
    )
    if arguments.table == "speed":
        speed(arguments.corpora, arguments.runs)
    elif arguments.table == "memory":
        memory(arguments.corpora)
    elif arguments.table == "variants":
        variants(arguments.corpora, arguments.setting or VARIANTS)
    elif arguments.table == "whitening":
        whitening(arguments.corpora)
    else:
        amount(arguments.corpora, arguments.plot)


if __name__ == "__main__":
    main()
