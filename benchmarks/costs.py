"""Model the cost of each estimator as a function of its data, and check it at three sizes.

    python -m benchmarks.costs                       # all: about three minutes
    python -m benchmarks.costs eigenwords pcfg

For each estimator and three sizes of data, each twice the last, the tables show measured and modelled CPU
seconds of observing and solving, and bytes of moments. The model's rates come from the middle size. The
number of distinct items (pairs, rules) is a power law of the data's size, fitted to the smallest and middle
sizes.
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import gzip
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from time import process_time
from typing import Any

import numpy as np
from spectralnlp_sketch import FrequentDirections
from spectralnlp_sketch.stream import MatrixCorpus

from spectralnlp import registry
from spectralnlp.runtime import Corpus, InMemoryCorpus, accumulate, expand_inputs
from spectralnlp.text.content import content_words
from spectralnlp.trees.treelog import TreeLog


@dataclass(frozen=True)
class Size:
    """Measured costs of one run of an estimator.

    Attributes:
        tokens: number of tokens in the data, or of rows of a matrix.
        distinct: number of distinct items counted, whose entries in the moments grow slower than the data.
        observing, solving: CPU seconds of the two phases.
        size: bytes of the moments.
        merging: CPU seconds of merging moments of this size into others.
    """

    tokens: int
    distinct: int
    observing: float
    solving: float
    size: int
    merging: float


@dataclass(frozen=True)
class Cost:
    """Cost model of one estimator.

    Attributes:
        data: function that returns the corpus of a size from 1 to 4, and its number of tokens.
        learner: the unfitted estimator.
        distinct: function that returns the number of distinct items in moments.
        entry, token: bytes per distinct item, and per token of the data.
        work: function of tokens and distinct items to which the time of solving is proportional.
        formulas: formulas of observing, moments and solving, for the table.
    """

    data: Callable[[int], tuple[Corpus[Any], int]]
    learner: Callable[[], Any]
    distinct: Callable[[Any], int]
    entry: float
    token: float
    work: Callable[[float, float], float]
    formulas: tuple[str, str, str]


# ---------------------------------------------------------------------------------------------------------
# Data


def text(size: int, lines: int) -> tuple[Corpus[Any], int]:
    with gzip.open(report.CORPORA / "text" / "english_10m.txt.gz", "rt", encoding="utf-8") as file:
        sentences = [line.split() for line in islice(file, lines * size)]
    return InMemoryCorpus(sentences), sum(map(len, sentences))


def reviews(size: int, lines: int) -> tuple[Corpus[Any], int]:
    with gzip.open(report.CORPORA / "text" / "imdb_unsup.txt.gz", "rt", encoding="utf-8") as file:
        documents = [content_words(line) for line in islice(file, lines * size)]
    return InMemoryCorpus(documents), sum(map(len, documents))


def trees(size: int, task: str = "parsing") -> tuple[Corpus[Any], int]:
    files = expand_inputs([report.CORPORA / "treebanks" / "gum" / "train"])
    reader = registry.tasks.get(task)()
    examples = list(reader.read(files[: 20 * size]))
    if task == "tagging":
        examples = [sentence.tagged(None) for sentence in examples]
        return InMemoryCorpus(examples), sum(len(words) for words, _ in examples)
    return InMemoryCorpus(examples), sum(len(tree.words()) for tree in examples)


def matrix(size: int, rows: int, columns: int) -> tuple[Corpus[Any], int]:
    rng = np.random.default_rng(0)
    return MatrixCorpus(rng.standard_normal((rows * size, columns)).astype(np.float32)), rows * size


# ---------------------------------------------------------------------------------------------------------
# Models: N tokens, D distinct items, V types, k dimensions, m states

WIDTH, POWER = 70, 4  # for eigenwords: k + oversampling, and power iterations
L, COLUMNS = 64, 4096

COSTS = {
    "pcfg": Cost(
        trees,
        lambda: registry.estimators.get("pcfg")(),
        lambda m: len(m),
        43,
        0,
        lambda n, d: d,
        ("N, 2 nodes a token", "43 D, D rules and words", "D"),
    ),
    "lpcfg": Cost(
        trees,
        lambda: registry.estimators.get("lpcfg")(),
        lambda m: m.parts["head"].table().n_nodes,
        0,
        30,
        lambda n, d: n,
        ("N", "30 N: 13 bytes a node, two nodes a token", "N·(features·(k + 8)·8 + m³)"),
    ),
    "rhmm": Cost(
        lambda size: trees(size, "tagging"),
        lambda: registry.estimators.get("rhmm")(),
        lambda m: m.table().n_tokens,
        0,
        10.5,
        lambda n, d: n,
        ("N", "8 N + 24 a sentence, and V", "N·(features·(k + 8)·8 + m²)"),
    ),
    "hmm": Cost(
        lambda size: text(size, 5000),
        lambda: registry.estimators.get("hmm")(max_symbols=2000),
        lambda m: len(m.arrays()["codes"]),
        20,
        0,
        lambda n, d: d,
        ("N·n", "16 D + 16 V, D n-grams", "D·k + V·k²"),
    ),
    "eigenwords": Cost(
        lambda size: text(size, 20_000),
        lambda: registry.estimators.get("eigenwords")(spelling=False),
        lambda m: len(m.pairs),
        17,
        0,
        lambda n, d: 2 * d * WIDTH * 2 * (POWER + 1),
        ("N·w", "16 D + 24 V, D pairs", "4 D·(k + p)·(q + 1), and the rows' share, 4 V·(k + p)²·(q + 1)"),
    ),
    "topics": Cost(
        lambda size: reviews(size, 2500),
        lambda: registry.estimators.get("topics")(),
        lambda m: len(m.arrays()["words"]),
        0,
        4.5,
        lambda n, d: n,
        ("N", "4 N + 24 a document", "N·(words a document + k·iterations)"),
    ),
    "frequent-directions": Cost(
        lambda size: matrix(size, 20_000, COLUMNS),
        lambda: FrequentDirections(L),
        lambda m: (L + m.buffer_rows) * COLUMNS,
        4,
        0,
        lambda n, d: 1.0,
        ("rows·d·l", "4 (l + b)·d at most, b rows in the buffer", "l²·d"),
    ),
}


def measure(cost: Cost, size: int) -> Size:
    """Measure the costs of an estimator at one size of data, in this process."""
    corpus, tokens = cost.data(size)
    learner = cost.learner()
    of_rows = isinstance(learner, FrequentDirections)
    if of_rows:
        learner.begin(corpus)
    empty = learner.moments_ if of_rows else learner.init_kept_moments(corpus)
    started = process_time()
    moments = accumulate(empty, corpus)
    observing = process_time() - started
    bytes_ = sum(array.nbytes for array in moments.arrays().values())
    other = moments.empty_like()
    other.merge(moments)
    started = process_time()
    if not any(isinstance(part, TreeLog) for part in getattr(moments, "parts", {}).values()):
        other.merge(moments)
    merging = process_time() - started
    started = process_time()
    if of_rows:
        learner.finish()
    else:
        learner.solve(moments)
    return Size(tokens, cost.distinct(moments), observing, process_time() - started, bytes_, merging)


@dataclass(frozen=True)
class Model:
    """Cost model with measured rates.

    Attributes:
        cost: cost model of the estimator.
        sizes: measured runs, smallest first; the middle one gives the rates.
    """

    cost: Cost
    sizes: Sequence[Size]

    @property
    def middle(self) -> Size:
        return self.sizes[1]

    @property
    def growth(self) -> float:
        """Exponent β: the number of distinct items grows as the data's size to the power β."""
        small, middle = self.sizes[:2]
        return math.log(middle.distinct / small.distinct) / math.log(middle.tokens / small.tokens)

    def distinct(self, tokens: float) -> float:
        return self.middle.distinct * (tokens / self.middle.tokens) ** self.growth

    def observing(self, tokens: float) -> float:
        return self.middle.observing * tokens / self.middle.tokens

    def bytes(self, tokens: float) -> float:
        return self.cost.entry * self.distinct(tokens) + self.cost.token * tokens

    def solving(self, tokens: float) -> float:
        done = self.cost.work(self.middle.tokens, self.middle.distinct)
        return self.middle.solving * self.cost.work(tokens, self.distinct(tokens)) / done


def measured(name: str) -> Model:
    cost = COSTS[name]
    measure(cost, 1)  # compiles kernels and imports modules before timing
    return Model(cost, [measure(cost, size) for size in (1, 2, 4)])


def checks(name: str, model: Model) -> list[list[object]]:
    rows: list[list[object]] = []
    for size in model.sizes:
        rows.append(
            [
                f"`{name}`",
                f"{size.tokens:,}",
                f"{size.distinct:,}",
                f"{model.distinct(size.tokens):,.0f}",
                f"{size.size / 1e6:.2f}",
                f"{model.bytes(size.tokens) / 1e6:.2f}",
                f"{size.observing:.2f}",
                f"{model.observing(size.tokens):.2f}",
                f"{size.solving:.2f}",
                f"{model.solving(size.tokens):.2f}",
            ]
        )
    return rows


def main() -> None:
    parser = report.argument_parser(__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(COSTS)}")
    names = parser.parse_args().names or list(COSTS)
    print(report.machine(), flush=True)
    models = {name: measured(name) for name in names}
    header = ["", "observing", "moments, bytes", "solving", "β"]
    formulas = [[f"`{name}`", *m.cost.formulas, f"{m.growth:.2f}"] for name, m in models.items()]
    print(f"\n{report.table(header, formulas)}")
    header = [
        "",
        "tokens",
        "distinct",
        "model",
        "MB",
        "model",
        "observing, s",
        "model",
        "solving, s",
        "model",
    ]
    rows = [row for name, model in models.items() for row in checks(name, model)]
    print(f"\n{report.table(header, rows)}")


if __name__ == "__main__":
    main()
