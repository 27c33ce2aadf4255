"""Does the order of training matter? SST in five classes, logistic regression over averaged word vectors.

    python -m benchmarks.training_order

Chin and Liang 2019, table 6, first column: batches of 256, Adam with a learning rate of 0.005, the number of
epochs chosen on a validation set (here a tenth of train, another for each seed), the same for each order.
Word vectors come from an SVD of co-occurrences in unlabelled text. Each seed has its own start, split, order.
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
import gzip
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import scipy.sparse as sp
from spectralnlp_sketch import LeverageScores, ordered_batches
from spectralnlp_sketch.order import POLICIES

from spectralnlp.linalg import randomized_svd

CLASSES, WINDOW, CONTEXTS, MINIMUM = 5, 2, 5000, 5


def read_sst(path: Path) -> tuple[list[list[str]], np.ndarray]:
    """Sentences in lower case, and their labels from 0 to 4."""
    if not path.exists():
        sys.exit(f"{path}: no such file; say with --corpora where the corpora are")
    trees = path.read_text(encoding="utf-8").splitlines()
    sentences = [[word.lower() for word in re.findall(r" ([^()]+)\)", tree)] for tree in trees]
    return sentences, np.array([int(tree[1]) for tree in trees])


def unlabelled(path: Path, n_sentences: int) -> Iterator[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in islice(lines, n_sentences):
            yield line.lower().split()


def word_vectors(sentences: list[list[str]], dimensions: int) -> dict[str, np.ndarray]:
    """Left singular vectors of scaled co-occurrence counts, their rows of length one (eigenwords)."""
    counts = Counter(word for sentence in sentences for word in sentence)
    words = [word for word, count in counts.most_common() if count >= MINIMUM]
    index = {word: i for i, word in enumerate(words)}
    gap = [-1] * WINDOW  # between sentences
    ids = np.array([index.get(word, -1) for sentence in sentences for word in (*sentence, *gap)])
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
    """The mean vector of the words that have one, and a constant."""
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
    """Multinomial logistic regression by Adam (Kingma and Ba 2015)."""

    def __init__(self, width: int, seed: int, rate: float = 0.005) -> None:
        self.weights = 0.01 * np.random.default_rng(seed).standard_normal((width, CLASSES))
        self.first, self.second = np.zeros_like(self.weights), np.zeros_like(self.weights)
        self.steps, self.rate = 0, rate

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
        self.weights -= self.rate * first / (np.sqrt(second) + 1e-8)

    def accuracy(self, rows: np.ndarray, labels: np.ndarray) -> float:
        return 100 * float(((rows @ self.weights).argmax(axis=1) == labels).mean())


def run(
    policy: str, seed: int, train: Any, dev: Any, scores: np.ndarray, epochs: int
) -> tuple[float, float, int]:
    """Dev accuracy after the epoch that is best on validation, after the first, and which it was."""
    rows, labels = train
    held = np.random.default_rng(seed).permutation(len(labels)) < len(labels) // 10
    model = Softmax(rows.shape[1], seed)
    kept = (rows[~held], labels[~held])
    batches = ordered_batches(kept, scores[~held], policy, size=256, epochs=epochs, random_state=seed)
    a_epoch = -(-len(kept[1]) // 256)
    trail = []
    for number, batch in enumerate(batches, 1):
        model.partial_fit(*batch)
        if number % a_epoch == 0:
            trail.append((model.accuracy(rows[held], labels[held]), model.accuracy(*dev)))
    best = int(np.argmax([validation for validation, _ in trail]))
    return trail[best][1], trail[0][1], best + 1


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"), metavar="DIR")
    parser.add_argument("--seeds", type=int, default=10, metavar="N")
    parser.add_argument("--epochs", type=int, default=25, metavar="N", help="at most")
    parser.add_argument("--sentences", type=int, default=60_000, metavar="N", help="unlabelled ones")
    parser.add_argument("--dimensions", type=int, default=100, metavar="N")
    arguments = parser.parse_args()
    (train_text, labels), (dev_text, dev_labels) = (
        read_sst(arguments.corpora / "textcat" / "sst" / f"{part}.txt") for part in ("train", "dev")
    )
    text = unlabelled(arguments.corpora / "text" / "english_10m.txt.gz", arguments.sentences)
    vectors = word_vectors([*text, *train_text], arguments.dimensions)
    train, dev = (averaged(train_text, vectors), labels), (averaged(dev_text, vectors), dev_labels)
    scores = LeverageScores().fit(train[0]).scores(train[0])
    print(f"{report.machine()} One thread.\n")
    print(f"### SST, 5 classes, dev accuracy over {arguments.seeds} seeds: mean ± deviation\n")
    rows: list[tuple[object, ...]] = []
    shuffled: list[float] = []
    for policy in POLICIES:
        runs = [run(policy, seed, train, dev, scores, arguments.epochs) for seed in range(arguments.seeds)]
        best = [accuracy for accuracy, _, _ in runs]
        shuffled = shuffled or best
        gains = [ours - theirs for ours, theirs in zip(best, shuffled, strict=True)]
        spread = f"{mean(gains):+.2f} ± {stdev(gains):.2f}" if policy != "shuffle" else None
        first = [accuracy for _, accuracy, _ in runs]
        shown = [f"{mean(each):.2f} ± {stdev(each):.2f}" for each in (best, first)]
        rows.append((f"`{policy}`", shown[0], spread, shown[1], f"{mean(run[2] for run in runs):.0f}"))
    header = ("order", "accuracy", "− shuffle, same seed", "after one epoch", "epochs")
    print(report.table(header, rows), end="\n\n")
    common = 100 * np.bincount(dev_labels).max() / len(dev_labels)
    print(
        f"The commonest class: {common:.1f}. {len(labels):,} sentences; leverage from {scores.min():.1e} to ",
        end="",
    )
    print(f"{scores.max():.1e}, mean {scores.mean():.1e}.\n")


if __name__ == "__main__":
    main()
