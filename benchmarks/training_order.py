"""Test whether the order of training examples matters: tables 5 and 6 of Chin and Liang 2019.

    python -m benchmarks.training_order            # both
    python -m benchmarks.training_order table-6

Training uses batches of 256, Adam with a learning rate of 0.005, and a number of epochs chosen on validation
data (here a random tenth of train), the same for each order. Each seed has its own initial weights, split and
order. Table 6 is SST with five classes: sequences of 56 eigenwords of 300 numbers, from unlabelled text in
place of GloVe's. Leverage scores are those of the sequences, of 16,800 numbers, by algorithm 3: sketched and
truncated. Models are logistic regression and networks over averaged vectors (deep averaging networks), and a
small convolutional network in place of the LSTM. Table 5 uses scikit-learn's digits instead of MNIST, and
exact scores.
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
import gzip
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple, Protocol

import numpy as np
from scipy.stats import t as student
from sklearn.datasets import load_digits
from spectralnlp_sketch import LeverageScores, ordered_batches
from spectralnlp_sketch.order import POLICIES

from benchmarks.labelled import sst_trees, sst_words
from spectralnlp.estimators.eigenwords import Eigenwords
from spectralnlp.models.vectors import Vectors
from spectralnlp.runtime import InMemoryCorpus

SIZE, RATE = 256, 0.005
EPOCHS_5, EPOCHS_6 = 50, 8  # at most; 50 as in the paper
LENGTH = 56  # words of a sequence
# Rows of the sketch, and the share of the largest singular value up to which others are dropped.
SKETCH, TRUNCATE = 512, 0.2
FILTERS = 16


class Labelled(NamedTuple):
    """Rows of features and their labels, which are integers from 0."""

    rows: np.ndarray
    labels: np.ndarray


def read_sst(
    part: str, folder: Path = report.CORPORA / "textcat" / "sst"
) -> tuple[list[list[str]], np.ndarray]:
    """Return lower-cased sentences, and their labels from 0 to 4."""
    trees = sst_trees(part, folder)
    sentences = [[word.lower() for word in sst_words(tree)] for tree in trees]
    return sentences, np.array([int(tree[1]) for tree in trees])


def unlabelled(path: Path, n_sentences: int) -> Iterator[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in islice(lines, n_sentences):
            yield line.lower().split()


def sequences(sentences: Sequence[Sequence[str]], index: Mapping[str, int]) -> np.ndarray:
    """Return the first 56 words of sentences as indices, with -1 before shorter ones, int32 (n, 56)."""
    ids = np.full((len(sentences), LENGTH), -1, np.int32)
    for row, sentence in zip(ids, sentences, strict=True):
        words = sentence[:LENGTH]
        row[LENGTH - len(words) :] = [index[word] for word in words]
    return ids


def averaged(ids: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return the mean word vector of each sequence, with a constant feature appended: (n, d + 1)."""
    means = np.array([table[row[row >= 0]].mean(axis=0) for row in ids])
    means /= means.std(axis=0).mean()
    return np.hstack([means, np.ones_like(means[:, :1])])


def sketched_scores(rows: np.ndarray) -> np.ndarray:
    """Return leverage scores by algorithm 3 of Chin and Liang 2019, and print the sizes of what it used."""
    scorer = LeverageScores(sketch_size=SKETCH, method="osnap", truncate=TRUNCATE).fit(rows)
    kept = f"{scorer.rank_} singular values above {TRUNCATE:g} of the largest"
    print(f"Scores: {rows.shape[0]:,} × {rows.shape[1]:,}, OSNAP of {SKETCH:,} rows, {kept}.\n")
    return scorer.scores(rows)


class Adam:
    """Adam (Kingma and Ba 2015), which changes arrays of weights in place."""

    def __init__(self, *weights: np.ndarray) -> None:
        self.weights, self.steps = weights, 0
        self.moments = [(np.zeros_like(each), np.zeros_like(each)) for each in weights]

    def step(self, *gradients: np.ndarray) -> None:
        self.steps += 1
        for weights, (first, second), gradient in zip(self.weights, self.moments, gradients, strict=True):
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            deviation = np.sqrt(second / (1 - 0.999**self.steps)) + 1e-8
            weights -= RATE * first / (1 - 0.9**self.steps) / deviation


def softmax_gradient(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the gradient of the mean cross-entropy with respect to scores (n, classes)."""
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(len(labels)), labels] -= 1
    return p / len(labels)


class Network:
    """Network with hidden layers of rectified linear units; without any, multinomial logistic regression."""

    def __init__(self, hidden: Sequence[int], width: int, n_classes: int, seed: int) -> None:
        rng, sizes = np.random.default_rng(seed), (width, *hidden, n_classes)
        shapes = list(pairwise(sizes))
        scales = [*((2 / n) ** 0.5 for n in sizes[:-2]), 0.01]  # hidden layers: He et al. 2015
        drawn = [scale * rng.standard_normal(shape) for scale, shape in zip(scales, shapes, strict=True)]
        self.weights = [each.astype(np.float32) for each in drawn]
        self.biases = [np.zeros(m, np.float32) for _, m in shapes]
        self.adam = Adam(*self.weights, *self.biases)

    def layers(self, rows: np.ndarray) -> list[np.ndarray]:
        """Return the rows, the units of each hidden layer, and the scores of classes."""
        found = [rows]
        for weights, bias in zip(self.weights, self.biases, strict=True):
            found.append(found[-1] @ weights + bias)
            if len(found) <= len(self.weights):
                np.maximum(found[-1], 0, out=found[-1])
        return found

    def gradients(self, rows: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the gradients of weights, and after them those of biases."""
        *found, scores = self.layers(rows)
        gradient, of_weights, of_biases = softmax_gradient(scores, labels), [], []
        for number in reversed(range(len(found))):
            of_weights.append(found[number].T @ gradient)
            of_biases.append(gradient.sum(axis=0))
            if number:
                gradient = (gradient @ self.weights[number].T) * (found[number] > 0)
        return *reversed(of_weights), *reversed(of_biases)

    def partial_fit(self, rows: np.ndarray, labels: np.ndarray) -> None:
        self.adam.step(*self.gradients(rows, labels))

    def accuracy(self, rows: np.ndarray, labels: np.ndarray) -> float:
        return 100 * float((self.layers(rows)[-1].argmax(axis=1) == labels).mean())


class CNN:
    """Convolutional network (Kim 2014): filters of three words, and logistic regression on their maxima.

    Rows are indices of words, as in `sequences`, in a table of vectors that is not trained.
    """

    def __init__(self, table: np.ndarray, n_classes: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        filters = rng.standard_normal((table.shape[1], 3 * FILTERS)) / (3 * table.shape[1]) ** 0.5
        output = rng.standard_normal((FILTERS, n_classes)) / FILTERS**0.5
        self.table, self.filters, self.output = table, filters.astype(table.dtype), output.astype(table.dtype)
        self.bias, self.output_bias = np.zeros(FILTERS, table.dtype), np.zeros(n_classes, table.dtype)
        self.adam = Adam(self.filters, self.bias, self.output, self.output_bias)

    def units(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the rectified maximum of each filter in each sequence (n, F), and its window's start."""
        products = np.zeros((len(rows), rows.shape[1] + 2, 3 * FILTERS), self.table.dtype)
        products[:, 1:-1][rows >= 0] = self.table[rows[rows >= 0]] @ self.filters
        values = products[:, :-2, :FILTERS] + products[:, 1:-1, FILTERS : 2 * FILTERS]
        values += products[:, 2:, 2 * FILTERS :]
        starts = values.argmax(axis=1)
        maxima = np.take_along_axis(values, starts[:, None], axis=1)[:, 0]
        return np.maximum(maxima + self.bias, 0), starts

    def scores(self, rows: np.ndarray) -> np.ndarray:
        return self.units(rows)[0] @ self.output + self.output_bias

    def gradients(self, rows: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the gradients of filters, bias, output and its bias."""
        units, starts = self.units(rows)
        of_scores = softmax_gradient(units @ self.output + self.output_bias, labels)
        of_units = (of_scores @ self.output.T) * (units > 0)
        of_products = np.zeros((len(rows), rows.shape[1] + 2, 3, FILTERS), self.table.dtype)
        examples, filters = np.arange(len(rows))[:, None], np.arange(FILTERS)
        for offset in range(3):
            of_products[examples, starts + offset, offset, filters] = of_units
        flat = of_products[:, 1:-1][rows >= 0].reshape(-1, 3 * FILTERS)
        of_filters = self.table[rows[rows >= 0]].T @ flat
        return of_filters, of_units.sum(axis=0), units.T @ of_scores, of_scores.sum(axis=0)

    def partial_fit(self, rows: np.ndarray, labels: np.ndarray) -> None:
        self.adam.step(*self.gradients(rows, labels))

    def accuracy(self, rows: np.ndarray, labels: np.ndarray) -> float:
        return 100 * float((self.scores(rows).argmax(axis=1) == labels).mean())


class Learner(Protocol):
    """Protocol of a model that is trained batch by batch."""

    def partial_fit(self, rows: np.ndarray, labels: np.ndarray) -> None: ...
    def accuracy(self, rows: np.ndarray, labels: np.ndarray) -> float: ...


# Hidden layers of the models of rows of features.
MODELS: dict[str, tuple[int, ...]] = {"LR": (), "small": (32,), "large": (256, 256)}
# Accuracies in the paper's tables 5 and 6, in the order of POLICIES; of its networks those called small and
# large: NN in table 5, DAN in table 6.
PAPER_5: Mapping[str, Sequence[float]] = {
    "LR": (92.84, 89.09, 92.70, 92.88),
    "small": (98.50, 98.43, 98.42, 98.55),
    "large": (98.28, 98.34, 98.46, 98.57),
}
PAPER_6: Mapping[str, Sequence[float]] = {
    "LR": (42.22, 42.94, 41.22, 42.26),
    "small": (39.68, 39.86, 40.72, 39.41),
    "large": (40.27, 42.76, 40.72, 40.14),
    "CNN": (42.35, 42.35, 42.44, 41.27),  # its small LSTM
}


class Task(NamedTuple):
    """Model to train, which is made from the number of classes and a seed, and its data."""

    make: Callable[[int, int], Learner]
    train: Labelled
    dev: Labelled


def tasks(train: Labelled, dev: Labelled) -> dict[str, Task]:
    """Return the tasks of the models of rows of features, by name."""
    width = train.rows.shape[1]
    return {name: Task(partial(Network, hidden, width), train, dev) for name, hidden in MODELS.items()}


def run(task: Task, policy: str, seed: int, scores: np.ndarray, epochs: int) -> float:
    """Train a model on examples in a certain order.

    Returns accuracy on dev after the epoch with the best accuracy on validation data.

    Args:
        task: the model and its data.
        policy: order of the examples, as for `training_order`.
        seed: seed of initial weights, split and order.
        scores: leverage scores of the examples.
        epochs: maximum number of epochs.
    """
    rows, labels = task.train
    held = np.random.default_rng(seed).permutation(len(labels)) < len(labels) // 10
    learner = task.make(int(labels.max()) + 1, seed)
    kept = (rows[~held], labels[~held])
    batches = ordered_batches(kept, scores[~held], policy, size=SIZE, epochs=epochs, random_state=seed)
    a_epoch = -(-len(kept[1]) // SIZE)
    trail = []
    for number, batch in enumerate(batches, 1):
        learner.partial_fit(*batch)
        if number % a_epoch == 0:
            trail.append((learner.accuracy(rows[held], labels[held]), learner.accuracy(*task.dev)))
    return max(trail, key=lambda each: each[0])[1]


def interval(differences: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the mean of paired differences, by Student's distribution."""
    n = len(differences)
    half = float(student.ppf(0.975, n - 1)) * stdev(differences) / n**0.5
    return mean(differences) - half, mean(differences) + half


def print_table(
    paper: Mapping[str, Sequence[float]],
    tasks: Mapping[str, Task],
    scores: np.ndarray,
    seeds: int,
    epochs: int,
) -> None:
    """Print a table with a row for each model and order, the paper's accuracies beside ours.

    Args:
        paper: the paper's accuracies by model, in the order of `POLICIES`.
        tasks: models and their data.
        scores: leverage scores of the training examples.
        seeds: number of runs of each.
        epochs: maximum number of epochs.
    """
    rows, above = [], []
    for model, published in paper.items():
        shuffled: list[float] = []
        for policy, theirs in zip(POLICIES, published, strict=True):
            found = [run(tasks[model], policy, seed, scores, epochs) for seed in range(seeds)]
            shuffled = shuffled or found
            row = [f"{model}, `{policy}`", f"{theirs:.2f}", f"{mean(found):.2f} ± {stdev(found):.2f}"]
            if policy == "shuffle":
                row += ["–", "–"]
            else:
                low, high = interval([a - b for a, b in zip(found, shuffled, strict=True)])
                row += [f"{theirs - published[0]:+.2f}", f"{(low + high) / 2:+.2f} [{low:+.2f}, {high:+.2f}]"]
                above += [row[0]] * (low > 0)
            rows.append(row)
            sys.stderr.write(f"{row}\n")
    header = ("model, order", "paper", "here", "paper − its shuffle", "here − shuffle")
    print(report.table(header, rows), end="\n\n")
    gold = tasks["LR"].dev.labels
    common = 100 * np.bincount(gold).max() / len(gold)
    print(f"The commonest class: {common:.1f}. {len(scores):,} examples, {len(gold):,} scored.")
    print(f"Above shuffling by the whole interval: {', '.join(above) or 'none'}.\n")


def title(number: int, what: str, seeds: int) -> str:
    spread = f"{seeds} seeds: mean ± deviation, and 95 % interval of the paired difference"
    return f"### Table {number}: {what} over {spread}\n"


def table_5(arguments: argparse.Namespace) -> None:
    pixels, labels = load_digits(return_X_y=True)
    rows = np.hstack([pixels / pixels.max(), np.ones((len(pixels), 1))]).astype(np.float32)
    split = 4 * len(rows) // 5
    print(title(5, "digits, accuracy", arguments.seeds))
    train, dev = (Labelled(rows[part], labels[part]) for part in (slice(split), slice(split, None)))
    scores = LeverageScores().fit(train.rows).scores(train.rows)
    print_table(PAPER_5, tasks(train, dev), scores, arguments.seeds, arguments.epochs or EPOCHS_5)


def table_6(arguments: argparse.Namespace) -> None:
    folder = arguments.corpora / "textcat" / "sst"
    if not folder.is_dir():
        sys.exit(f"{folder}: no such folder; say with --corpora where the corpora are")
    (train, labels), (dev, dev_labels) = (read_sst(part, folder) for part in ("train", "dev"))
    text = unlabelled(arguments.corpora / "text" / "english_10m.txt.gz", arguments.sentences)
    learner = Eigenwords(dimensions=arguments.dimensions).fit(InMemoryCorpus([*text, *train]))
    words = list(dict.fromkeys(word for sentence in (*train, *dev) for word in sentence))
    table = Vectors(learner.word_vectors_).vectors(words).astype(np.float32)
    table = np.vstack([table, np.zeros_like(table[:1])])  # the last row, -1, is padding
    index = {word: number for number, word in enumerate(words)}
    ids, dev_ids = sequences(train, index), sequences(dev, index)
    print(title(6, "SST, 5 classes, dev accuracy", arguments.seeds))
    scores = sketched_scores(table[ids].reshape(len(ids), -1))
    models = tasks(Labelled(averaged(ids, table), labels), Labelled(averaged(dev_ids, table), dev_labels))
    models["CNN"] = Task(partial(CNN, table), Labelled(ids, labels), Labelled(dev_ids, dev_labels))
    print_table(PAPER_6, models, scores, arguments.seeds, arguments.epochs or EPOCHS_6)


PARTS: report.Parts = {"table-5": table_5, "table-6": table_6}


def main() -> None:
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--seeds", type=int, default=10, metavar="N")
        parser.add_argument("--epochs", type=int, metavar="N", help=f"at most: {EPOCHS_5}, {EPOCHS_6} of SST")
        parser.add_argument("--sentences", type=int, default=60_000, metavar="N", help="unlabelled ones")
        parser.add_argument("--dimensions", type=int, default=300, metavar="N")

    report.run_parts(__doc__, PARTS, add_arguments, corpora=True)


if __name__ == "__main__":
    main()
