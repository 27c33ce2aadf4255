"""Read and sample labelled texts for benchmarks, and score a linear classifier on any representation."""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.svm import LinearSVC
from spectralnlp_sketch import IntentClassifier
from spectralnlp_sketch.intent.prior import Prior

from benchmarks import report

TEXTCAT = report.CORPORA / "textcat"
INTENTS = ("clinc150", "banking77", "hwu64", "atis", "snips")
FEW = INTENTS[:3]
# Confidences take most of the time of training, and change no label.
LABELS_ONLY: dict[str, Any] = {"calibration": False}


@dataclass(frozen=True)
class Labelled:
    """Corpus of labelled texts: texts and labels for training and for testing."""

    texts: list[str]
    labels: np.ndarray
    dev_texts: list[str]
    dev_labels: np.ndarray

    def score(self, predicted: Any) -> float:
        return 100.0 * float((np.asarray(predicted) == self.dev_labels).mean())


def read_tsv(path: Path) -> tuple[list[str], np.ndarray]:
    """Return the texts and labels of a file of ``label TAB text`` lines, which may be compressed."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        pairs = [line.rstrip("\n").split("\t", 1) for line in lines]
    return [text for _, text in pairs], np.array([label for label, _ in pairs])


@cache
def corpus(name: str) -> Labelled:
    """Return a corpus of labelled texts by the name of its folder; SST is without neutral sentences."""
    if name == "sst":
        return Labelled(*_binary(sst_trees("train")), *_binary(sst_trees("dev")))
    suffix = ".tsv.gz" if name == "imdb" else ".tsv"
    folder = report.CORPORA / "intents" / name if name in INTENTS else TEXTCAT / name
    texts, labels = read_tsv(folder / f"train{suffix}")
    if name != "trec":
        return Labelled(texts, labels, *read_tsv(folder / f"dev{suffix}"))
    # It has no dev part: every tenth question is held out. The labels are the six coarse ones.
    labels = np.array([label.partition(":")[0] for label in labels])
    held = np.arange(len(texts)) % 10 == 0
    train, dev = ([texts[i] for i in np.flatnonzero(part)] for part in (~held, held))
    return Labelled(train, labels[~held], dev, labels[held])


def sst_trees(part: str, folder: Path = TEXTCAT / "sst") -> list[str]:
    """Return the trees of a part of SST, one a line; train is without those of dev, which its file has."""
    trees = (folder / f"{part}.txt").read_text(encoding="utf-8").splitlines()
    held = set() if part == "dev" else set(sst_trees("dev", folder))
    return [tree for tree in trees if tree not in held]


def sst_words(tree: str) -> list[str]:
    """Return the words of a tree of SST."""
    return re.findall(r" ([^()]+)\)", tree)


def _binary(trees: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """Return the sentences that are not neutral: 0 and 1 are negative, 3 and 4 positive."""
    kept = [tree for tree in trees if tree[1] != "2"]
    labels = ["negative" if tree[1] < "2" else "positive" for tree in kept]
    return [" ".join(sst_words(tree)) for tree in kept], np.array(labels)


@cache
def pool() -> list[str]:
    """Return the unlabelled queries: the training texts of all five corpora."""
    return [text for name in INTENTS for text in corpus(name).texts]


@cache
def prior() -> Prior:
    """Return the text features (prior) that the classifier learns from unlabelled queries; cached."""
    return learned_prior(pool())


def learned_prior(texts: Sequence[str], n_labelled: int = 0) -> Prior:
    return IntentClassifier().learn_prior(texts, n_labelled)[0]


def draw_each(labels: np.ndarray, n: int, seed: int) -> np.ndarray:
    """Return indices of ``n`` random texts of each label."""
    rng = np.random.default_rng(seed)
    each = [rng.permutation(np.flatnonzero(labels == label))[:n] for label in sorted(set(labels.tolist()))]
    return np.concatenate(each)


def peer() -> Any:
    """Return the classifier to compare with: a linear SVM on word and character tf-idf."""
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    characters = TfidfVectorizer(ngram_range=(2, 5), analyzer="char_wb", sublinear_tf=True)
    return make_pipeline(make_union(words, characters), LinearSVC())


def standard_error(values: np.ndarray) -> float:
    return float(values.std() / max(len(values) - 1, 1) ** 0.5)


def draw(n: int, size: int, seed: int) -> np.ndarray:
    """Return ``size`` random indices below ``n``; samples with the same seed are nested."""
    return np.random.default_rng(seed).permutation(n)[:size]


def accuracies(
    train: Any, dev: Any, labels: np.ndarray, gold: np.ndarray, sizes: Sequence[int], draws: int
) -> list[tuple[float, float]]:
    """Return mean and standard deviation of a linear SVM's accuracy in percent, for each number of labels.

    The SVM depends on rows only through their inner products, so each sample's rows are given in a basis of
    their span: the classifier is the same, and training is fast for wide rows.

    Args:
        train, dev: rows of training and dev texts.
        labels, gold: their labels.
        sizes: numbers of labelled training texts.
        draws: number of random samples for each number.
    """
    results = []
    for size in sizes:
        scores = []
        for seed in range(draws):
            chosen = draw(len(labels), size, seed)
            few = train[chosen]
            inner, across = _products(few, few), _products(dev, few)
            values, vectors = np.linalg.eigh(inner)
            kept = values > 1e-6 * values[-1]
            basis = vectors[:, kept]
            svm = LinearSVC(max_iter=300).fit(basis * np.sqrt(values[kept]), labels[chosen])
            predicted = svm.predict(across @ basis / np.sqrt(values[kept]))
            scores.append(100 * np.mean(predicted == gold))
        results.append((float(np.mean(scores)), float(np.std(scores))))
    return results


def _products(left: Any, right: Any) -> np.ndarray:
    """Return inner products of rows; dense columns of sparse matrices are multiplied as dense arrays."""
    if not sp.issparse(left):
        return np.asarray(left @ right.T, np.float64)
    full = right.getnnz(axis=0) > right.shape[0] / 4
    dense = left[:, full].toarray() @ right[:, full].toarray().T
    return np.asarray((left[:, ~full] @ right[:, ~full].T).toarray() + dense, np.float64)
