"""Test whether the order of training examples matters: tables 5 and 6 of Chin and Liang 2019.

    python -m benchmarks.training_order            # both
    python -m benchmarks.training_order table-6

Training uses batches of 256, Adam with a learning rate of 0.005, and a number of epochs chosen on validation
data (here a random tenth of train), the same for each order. Each seed has its own initial weights, split and
order. Table 6 is SST with five classes, represented by averaged word vectors from an SVD of co-occurrences in
unlabelled text; the models are logistic regression and scikit-learn's networks (deep averaging networks).
Table 5 uses scikit-learn's digits instead of MNIST.
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
import gzip
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier
from spectralnlp_sketch import LeverageScores, ordered_batches
from spectralnlp_sketch.order import POLICIES

from spectralnlp.linalg import randomized_svd

WINDOW, CONTEXTS, MINIMUM = 2, 5000, 5
SIZE, RATE = 256, 0.005


class Labelled(NamedTuple):
    """Rows of features and their labels, which are integers from 0."""

    rows: np.ndarray
    labels: np.ndarray


def read_sst(path: Path) -> tuple[list[list[str]], np.ndarray]:
    """Return lower-cased sentences, and their labels from 0 to 4."""
    trees = path.read_text(encoding="utf-8").splitlines()
    if path.name == "train.txt":  # it also contains the sentences of dev.txt
        dev = set(path.with_name("dev.txt").read_text(encoding="utf-8").splitlines())
        trees = [tree for tree in trees if tree not in dev]
    sentences = [[word.lower() for word in re.findall(r" ([^()]+)\)", tree)] for tree in trees]
    return sentences, np.array([int(tree[1]) for tree in trees])


def unlabelled(path: Path, n_sentences: int) -> Iterator[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in islice(lines, n_sentences):
            yield line.lower().split()


def word_vectors(sentences: list[list[str]], dimensions: int) -> dict[str, np.ndarray]:
    """Return eigenwords: left singular vectors of scaled co-occurrence counts, with rows of length one."""
    counts = Counter(word for sentence in sentences for word in sentence)
    words = [word for word, count in counts.most_common() if count >= MINIMUM]
    index = {word: i for i, word in enumerate(words)}
    gap = [-1] * WINDOW  # between sentences
    ids = np.array([i for sentence in sentences for i in (*(index.get(word, -1) for word in sentence), *gap)])
    pairs = []
    for offset in range(1, WINDOW + 1):
        left, right = ids[:-offset], ids[offset:]
        for position, (word, context) in enumerate(((left, right), (right, left))):
            known = (word >= 0) & (context >= 0) & (context < CONTEXTS)
            column = context[known] + CONTEXTS * (2 * (offset - 1) + position)
            shape = (len(words), 2 * WINDOW * CONTEXTS)
            pairs.append(sp.csr_matrix((np.ones(known.sum()), (word[known], column)), shape))
    table = sum(pairs[1:], pairs[0]).sqrt()
    scales = [1 / np.sqrt(np.maximum(np.asarray(table.sum(axis=axis)).reshape(-1), 1e-9)) for axis in (1, 0)]
    table = sp.csr_matrix(sp.diags_array(scales[0]) @ table @ sp.diags_array(scales[1]))
    u, _, _ = randomized_svd(lambda x: table @ x, lambda x: table.T @ x, table.shape, dimensions)
    lengths = np.linalg.norm(u, axis=1, keepdims=True)
    return dict(zip(words, u / np.where(lengths > 0, lengths, 1), strict=True))


def averaged(sentences: list[list[str]], vectors: dict[str, np.ndarray]) -> np.ndarray:
    """Return the mean word vector of each sentence, with a constant feature appended."""
    width = len(next(iter(vectors.values())))
    rows = np.zeros((len(sentences), width + 1))
    for row, sentence in zip(rows, sentences, strict=True):
        known = [vectors[word] for word in sentence if word in vectors]
        row[:-1] = np.mean(known, axis=0) if known else 0.0
    deviations = rows[:, :-1].std(axis=0)
    rows[:, :-1] /= deviations.mean()
    rows[:, -1] = 1.0
    return rows


class Softmax:
    """Multinomial logistic regression, trained by Adam (Kingma and Ba 2015)."""

    def __init__(self, width: int, n_classes: int, seed: int) -> None:
        self.weights = 0.01 * np.random.default_rng(seed).standard_normal((width, n_classes))
        self.first, self.second = np.zeros_like(self.weights), np.zeros_like(self.weights)
        self.steps = 0

    def partial_fit(self, rows: np.ndarray, labels: np.ndarray) -> None:
        scores = rows @ self.weights
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        p[np.arange(len(labels)), labels] -= 1
        gradient = rows.T @ p / len(labels)
        self.steps += 1
        self.first += 0.1 * (gradient - self.first)
        self.second += 0.001 * (gradient**2 - self.second)
        first, second = self.first / (1 - 0.9**self.steps), self.second / (1 - 0.999**self.steps)
        self.weights -= RATE * first / (np.sqrt(second) + 1e-8)

    def accuracy(self, rows: np.ndarray, labels: np.ndarray) -> float:
        return 100 * float(((rows @ self.weights).argmax(axis=1) == labels).mean())


class Network:
    """Network of scikit-learn with hidden layers of rectified linear units, trained by Adam."""

    def __init__(self, hidden: tuple[int, ...], n_classes: int, seed: int) -> None:
        self.classes = np.arange(n_classes)
        self.network = MLPClassifier(hidden, batch_size=SIZE, learning_rate_init=RATE, random_state=seed)

    def partial_fit(self, rows: np.ndarray, labels: np.ndarray) -> None:
        self.network.batch_size = len(rows)  # the last batch of an epoch is smaller
        self.network.partial_fit(rows, labels, classes=self.classes)

    def accuracy(self, rows: np.ndarray, labels: np.ndarray) -> float:
        return 100 * float(self.network.score(rows, labels))


class Learner(Protocol):
    """Protocol of a model that is trained batch by batch."""

    def partial_fit(self, rows: np.ndarray, labels: np.ndarray) -> None: ...
    def accuracy(self, rows: np.ndarray, labels: np.ndarray) -> float: ...


# Arguments are the number of features, the number of classes and the seed.
MODELS: dict[str, Callable[[int, int, int], Learner]] = {
    "LR": Softmax,
    "small": lambda _, n_classes, seed: Network((32,), n_classes, seed),
    "large": lambda _, n_classes, seed: Network((256, 256), n_classes, seed),
}


def run(model: str, policy: str, seed: int, train: Labelled, dev: Labelled, epochs: int) -> float:
    """Train a model on examples in a certain order.

    Returns accuracy on dev after the epoch with the best accuracy on validation data.

    Args:
        model: name of the model.
        policy: order of the examples, as for `training_order`.
        seed: seed of initial weights, split and order.
        train, dev: the data.
        epochs: maximum number of epochs.
    """
    rows, labels = train
    scores = LeverageScores().fit(rows).scores(rows)
    held = np.random.default_rng(seed).permutation(len(labels)) < len(labels) // 10
    learner = MODELS[model](rows.shape[1], int(labels.max()) + 1, seed)
    kept = (rows[~held], labels[~held])
    batches = ordered_batches(kept, scores[~held], policy, size=SIZE, epochs=epochs, random_state=seed)
    a_epoch = -(-len(kept[1]) // SIZE)
    trail = []
    for number, batch in enumerate(batches, 1):
        learner.partial_fit(*batch)
        if number % a_epoch == 0:
            trail.append((learner.accuracy(rows[held], labels[held]), learner.accuracy(*dev)))
    return max(trail, key=lambda each: each[0])[1]


def print_table(train: Labelled, dev: Labelled, seeds: int, epochs: int) -> None:
    """Print a table with a row for each order and two columns for each model."""
    columns: list[list[str]] = []
    for model in MODELS:
        shuffled: list[float] = []
        column = []
        for policy in POLICIES:
            best = [run(model, policy, seed, train, dev, epochs) for seed in range(seeds)]
            shuffled = shuffled or best
            gains = [ours - theirs for ours, theirs in zip(best, shuffled, strict=True)]
            gain = "–" if policy == "shuffle" else f"{mean(gains):+.2f} ± {stdev(gains):.2f}"
            column.append([f"{mean(best):.2f} ± {stdev(best):.2f}", gain])
            sys.stderr.write(f"{model} {policy} {column[-1]}\n")
        columns += map(list, zip(*column, strict=True))
    header = ["order", *(name for model in MODELS for name in (model, "− shuffle"))]
    rows = [[f"`{policy}`", *cells] for policy, *cells in zip(POLICIES, *columns, strict=True)]
    print(report.table(header, rows), end="\n\n")
    common = 100 * np.bincount(dev.labels).max() / len(dev.labels)
    print(f"The commonest class: {common:.1f}. {len(train.labels):,} examples, {len(dev.labels):,} scored.\n")


def table_5(arguments: argparse.Namespace) -> None:
    pixels, labels = load_digits(return_X_y=True)
    rows = np.hstack([pixels / pixels.max(), np.ones((len(pixels), 1))])
    split = 4 * len(rows) // 5
    print(f"### Table 5: digits, accuracy over {arguments.seeds} seeds: mean ± deviation\n")
    train, dev = (Labelled(rows[part], labels[part]) for part in (slice(split), slice(split, None)))
    print_table(train, dev, arguments.seeds, 2 * arguments.epochs)  # as in the paper, 50


def table_6(arguments: argparse.Namespace) -> None:
    folder = arguments.corpora / "textcat" / "sst"
    if not folder.is_dir():
        sys.exit(f"{folder}: no such folder; say with --corpora where the corpora are")
    (train, labels), (dev, dev_labels) = (read_sst(folder / f"{part}.txt") for part in ("train", "dev"))
    text = unlabelled(arguments.corpora / "text" / "english_10m.txt.gz", arguments.sentences)
    vectors = word_vectors([*text, *train], arguments.dimensions)
    print(f"### Table 6: SST, 5 classes, dev accuracy over {arguments.seeds} seeds: mean ± deviation\n")
    parts = Labelled(averaged(train, vectors), labels), Labelled(averaged(dev, vectors), dev_labels)
    print_table(*parts, arguments.seeds, arguments.epochs)


PARTS: report.Parts = {"table-5": table_5, "table-6": table_6}


def main() -> None:
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--seeds", type=int, default=10, metavar="N")
        parser.add_argument("--epochs", type=int, default=25, metavar="N", help="at most; table 5: twice")
        parser.add_argument("--sentences", type=int, default=60_000, metavar="N", help="unlabelled ones")
        parser.add_argument("--dimensions", type=int, default=100, metavar="N")

    report.run_parts(__doc__, PARTS, add_arguments, corpora=True)


if __name__ == "__main__":
    main()
