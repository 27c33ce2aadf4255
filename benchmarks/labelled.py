"""Labelled texts for benchmarks: reading them, drawing a few, a linear classifier on any representation."""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.svm import LinearSVC

ROOT = Path(os.environ.get("SPECTRALNLP_SHARED", Path(__file__).parent.parent.parent / "shared"))
TEXTCAT = ROOT / "corpora" / "textcat"


def read_tsv(path: Path) -> tuple[list[str], np.ndarray]:
    """Texts and labels of ``label TAB text`` lines, of a file that may be compressed."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        pairs = [line.rstrip("\n").split("\t", 1) for line in lines]
    return [text for _, text in pairs], np.array([label for label, _ in pairs])


def draw(n: int, size: int, seed: int) -> np.ndarray:
    """``size`` of n rows at random; a smaller draw of the same seed is part of a larger one."""
    return np.random.default_rng(seed).permutation(n)[:size]


def accuracies(
    train: Any, dev: Any, labels: np.ndarray, gold: np.ndarray, sizes: Sequence[int], draws: int
) -> list[tuple[float, float]]:
    """Mean and standard deviation of a linear SVM's accuracy in percent, for each number of labels.

    The SVM depends on rows only through their inner products, so it is given each draw's rows in a basis of
    their own span: the same classifier, and fast for wide rows.
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
    """Inner products of rows; of sparse ones, full columns are multiplied as dense."""
    if not sp.issparse(left):
        return np.asarray(left @ right.T, np.float64)
    full = right.getnnz(axis=0) > right.shape[0] / 4
    dense = left[:, full].toarray() @ right[:, full].toarray().T
    return np.asarray((left[:, ~full] @ right[:, ~full].T).toarray() + dense, np.float64)
