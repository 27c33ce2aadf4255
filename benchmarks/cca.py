"""Evaluate CCA on titles and bodies of Reuters-21578 and on planted views, beside other packages.

The data of Reuters are the training stories with a title and a body of five words or more, in random order;
a tenth is held out. The two views are log(1 + count) of the most frequent content words of title and body.

    python -m benchmarks.cca pairs        # words with the largest weights in the leading pairs
    python -m benchmarks.cca retrieval    # retrieval of the body of a title
    python -m benchmarks.cca regression   # planted views: regression on CCA, on PCA, and on all columns
    python -m benchmarks.cca packages     # planted rows beside numpy, scikit-learn and cca-zoo
    python -m benchmarks.cca speed        # Reuters beside them; each in its own process
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
import gzip
import json
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp
from spectralnlp_sketch import CCA

from spectralnlp.text.content import content_words

REUTERS = "textcat/reuters21578.train.jsonl.gz"
Words = list[str]
Stories = list[tuple[Words, Words]]
COLUMNS = 2000  # words per view
PAIRS = 200


def stories(corpora: Path) -> tuple[Stories, Stories]:
    """Return titles and bodies of stories: nine tenths for training, one tenth held out.

    The held-out tenth is not the one on which settings were chosen. Stories that were sent twice are not in
    both parts.
    """
    with gzip.open(corpora / REUTERS, "rt", encoding="utf-8") as lines:
        told = [json.loads(line) for line in lines]
    found = [(content_words(each["title"] or ""), content_words(each["body"] or "")) for each in told]
    found = [(title, body) for title, body in found if title and len(body) >= 5]
    Random(0).shuffle(found)
    tenth = len(found) // 10
    test = found[tenth : 2 * tenth]
    held = {tuple(body) for _, body in test}
    return [each for each in found[:tenth] + found[2 * tenth :] if tuple(each[1]) not in held], test


class Bags:
    """Bag-of-words transformer over the most frequent words of some documents.

    Args:
        documents: documents that provide the words.
        size: maximum number of words.
    """

    def __init__(self, documents: Sequence[Words], size: int) -> None:
        counts = Counter(word for document in documents for word in set(document))
        self.words = [word for word, _ in counts.most_common(size)]
        self.place = {word: number for number, word in enumerate(self.words)}
        self.idf = np.log((1 + len(documents)) / (1 + np.array([counts[word] for word in self.words]))) + 1

    def __call__(self, documents: Sequence[Words]) -> Any:
        """Return documents as rows of log(1 + count) of the words, CSR (n, words)."""
        seen = [(i, self.place[w]) for i, each in enumerate(documents) for w in each if w in self.place]
        rows, columns = np.array(seen, int).reshape(-1, 2).T
        shape = (len(documents), len(self.words))
        matrix = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
        matrix.sum_duplicates()
        return matrix.log1p()


def views(train: Stories, size: int = COLUMNS) -> tuple[Bags, Bags]:
    return Bags([title for title, _ in train], size), Bags([body for _, body in train], size)


def fitted(train: Stories, bags: tuple[Bags, Bags], k: int, regularisation: float) -> CCA:
    titles, bodies = zip(*train, strict=True)
    return CCA(k, regularisation=regularisation).fit(bags[0](titles), bags[1](bodies))


def pairs(arguments: argparse.Namespace) -> None:
    """Print the leading pairs of canonical directions of titles and bodies.

    For each, the words are shown whose weight, times the word's deviation, is largest.
    """
    train, _ = stories(arguments.corpora)
    bags = views(train)
    model = fitted(train, bags, 10, 1.0)
    deviations = [np.sqrt(view.variances) for view in model.moments_.views()[:2]]
    rows = []
    for number, correlation in enumerate(model.canonical_correlations_):
        ours = []
        for bag, weights, deviation in zip(
            bags, (model.x_weights_, model.y_weights_), deviations, strict=True
        ):
            column = weights[:, number] * deviation
            ours.append(", ".join(bag.words[at] for at in np.argsort(-column)[:7]))
        rows.append([str(number + 1), *ours, f"{correlation:.3f}"])
    print("### Leading pairs, regularisation 1\n")
    print(report.table(("", "title", "body", "correlation"), rows), end="\n\n")


def retrieval(arguments: argparse.Namespace) -> None:
    """Print how often a held-out title retrieves its body among all held-out bodies."""
    train, test = stories(arguments.corpora)
    hidden = [(title, [word for word in body if word not in set(title)]) for title, body in test]
    lexical, latent = tf_idf(train), lsa(train)
    ways: dict[str, Callable[[Stories], np.ndarray]] = {
        "tf-idf of words": lexical,
        f"LSA of title and body, {PAIRS}": latent,
    }
    for regularisation in (0.0, 0.1, 1.0, 10.0):
        ways[f"CCA, {PAIRS} pairs, `regularisation={regularisation:g}`"] = by_cca(train, regularisation)
    together = by_cca(train, 1.0)
    ways["tf-idf + CCA, `regularisation=1`"] = lambda held: lexical(held) + together(held)
    rows = [[name, *found(way(test)), *found(way(hidden))] for name, way in ways.items()]
    print(f"### The body of a title among {len(test):,}; {len(train):,} stories to learn from\n")
    header = ("", "first", "in ten", "MRR", "first, no shared word", "in ten", "MRR")
    print(report.table(header, rows), end="\n\n")


def found(scores: np.ndarray) -> list[str]:
    """Measure how well titles retrieve their bodies: recall at 1 and at 10, and mean reciprocal rank.

    Recall is in percent, and ties are split.

    Args:
        scores: similarity of each title (row) and body (column); right pairs are on the diagonal.

    Returns:
        The three measures as text.
    """
    own = np.diag(scores)[:, None]
    rank = (scores > own).sum(axis=1) + (scores == own).sum(axis=1) / 2 - 0.5
    return [
        f"{100 * (rank < 1).mean():.1f}",
        f"{100 * (rank < 10).mean():.1f}",
        f"{(1 / (rank + 1)).mean():.3f}",
    ]


def by_cca(train: Stories, regularisation: float) -> Callable[[Stories], np.ndarray]:
    bags = views(train)
    model = fitted(train, bags, PAIRS, regularisation)

    def scores(held: Stories) -> np.ndarray:
        projected = model.transform(
            *(bag(side) for bag, side in zip(bags, zip(*held, strict=True), strict=True))
        )
        x, y = (unit(each) for each in projected)
        return x @ y.T

    return scores


def tf_idf(train: Stories) -> Callable[[Stories], np.ndarray]:
    bag = Bags([title + body for title, body in train], 50_000)

    def scores(held: Stories) -> np.ndarray:
        x, y = (unit((bag(side) * bag.idf).tocsr()) for side in zip(*held, strict=True))
        return (x @ y.T).toarray()

    return scores


def lsa(train: Stories) -> Callable[[Stories], np.ndarray]:
    bag = Bags([title + body for title, body in train], 20_000)
    whole = unit((bag([title + body for title, body in train]) * bag.idf).tocsr())
    basis = sp.linalg.svds(whole, PAIRS, v0=np.ones(whole.shape[0]))[2].T

    def scores(held: Stories) -> np.ndarray:
        x, y = (unit((bag(side) * bag.idf) @ basis) for side in zip(*held, strict=True))
        return x @ y.T

    return scores


def unit(rows: Any) -> Any:
    """Return rows scaled to Euclidean length 1."""
    if sp.issparse(rows):
        return sp.diags_array(1 / np.maximum(sp.linalg.norm(rows, axis=1), 1e-12)) @ rows
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


HIDDEN, WIDTH, NUISANCE = (
    2,
    20,
    5,
)  # numbers of hidden dimensions, of columns of a view, of nuisance directions
N_PAIRS, N_HELD, SEEDS, LABELLED = 20_000, 5_000, 20, (20_000, 300, 100, 30)


def regression(arguments: argparse.Namespace) -> None:
    """Print R² of regressions on one view, on its CCA with another view and on its principal components.

    This is the statement of the tutorial's part on CCA (Foster and Kakade 2006; Kakade and Foster 2007). The
    views are independent given a hidden state of two dimensions, of which the label is a linear function with
    noise; most variance of each view is along directions of its own. CCA and PCA see pairs without labels.
    """
    scores = np.array([[_fits(seed, n) for n in LABELLED] for seed in range(SEEDS)])
    rows = [
        [f"{n:,}", *(f"{mean:.3f} ± {deviation:.3f}" for mean, deviation in zip(*each, strict=True))]
        for n, each in zip(LABELLED, zip(scores.mean(axis=0), scores.std(axis=0), strict=True), strict=True)
    ]
    print(f"### R² on {N_HELD:,} held-out rows, {N_PAIRS:,} pairs without labels, {SEEDS} seeds\n")
    header = ("labels", f"all {WIDTH} columns", f"CCA, {HIDDEN}", f"PCA, {HIDDEN}")
    print(report.table(header, rows), end="\n\n")


def _fits(seed: int, n_labels: int) -> list[float]:
    """Return R² on held-out rows of regressions on all columns, on CCA and on PCA."""
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal((N_PAIRS + N_HELD, HIDDEN))
    label = hidden @ rng.standard_normal(HIDDEN)
    label = label / label.std() + 0.25 * rng.standard_normal(len(label))
    x, y = (_view(hidden, rng) for _ in range(2))
    pairs, held = slice(0, N_PAIRS), slice(N_PAIRS, None)
    centred = x - x[pairs].mean(axis=0)
    components = np.linalg.svd(centred[pairs], full_matrices=False)[2][:HIDDEN]
    projected = CCA(HIDDEN).fit(x[pairs], y[pairs]).transform(x)
    scores = []
    for features in (x, projected, centred @ components.T):
        columns = np.column_stack([features, np.ones(len(features))])
        weights = np.linalg.lstsq(columns[:n_labels], label[:n_labels], rcond=None)[0]
        errors = label[held] - columns[held] @ weights
        scores.append(1 - float(errors @ errors) / float(((label[held] - label[held].mean()) ** 2).sum()))
    return scores


def _view(hidden: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a view of a hidden state with noise, and strong nuisance directions of its own."""
    n = len(hidden)
    signal = hidden @ np.linalg.qr(rng.standard_normal((WIDTH, HIDDEN)))[0].T
    nuisance = (
        30 * rng.standard_normal((n, NUISANCE)) @ np.linalg.qr(rng.standard_normal((WIDTH, NUISANCE)))[0].T
    )
    return signal + nuisance + 0.1 * rng.standard_normal((n, WIDTH))


def planted(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return two random views, (n, 50) and (n, 40), that share ten directions of decreasing correlation."""
    directions = np.random.default_rng(0)
    loadings = [directions.standard_normal((10, d)) for d in (50, 40)]
    rng = np.random.default_rng((1, seed))
    signal = rng.standard_normal((n, 10)) * np.linspace(1, 0.1, 10)
    x, y = (signal @ each + rng.standard_normal((n, each.shape[1])) for each in loadings)
    return x, y


def reuters_views(corpora: Path, size: int, dense: bool) -> tuple[Any, Any]:
    train, _ = stories(corpora)
    titles, bodies = zip(*train, strict=True)
    bags = views(train, size)
    matrices = (bag(side) for bag, side in zip(bags, (titles, bodies), strict=True))
    x, y = (each.toarray() if dense else each for each in matrices)
    return x, y


def measured(way: str, data: str, k: int, corpora: Path) -> tuple[float, float, np.ndarray]:
    """Fit CCA by one method, and measure time and memory.

    Args:
        way: name of the method, a library or this package.
        data: name of the data.
        k: number of pairs of directions.
        corpora: folder of the corpora.

    Returns:
        CPU seconds, megabytes in addition to the data, and correlations of the projections.
    """
    CCA(1).fit(*(sp.random_array((50, 3), density=0.5, rng=np.random.default_rng(s)) for s in (0, 1)))
    if way == "streamed":
        before, started = _resident(), process_time()
        model = CCA(k)
        for part in range(100):
            model.partial_fit(*planted(int(data) // 100, seed=part))
        return _result(started, before, model.canonical_correlations_)
    kind, _, size = data.partition(" ")
    if kind in ("planted", "far"):
        x, y = planted(int(size))
        if kind == "far":
            x[:, 1] += 1e7 * x[:, 1].std()
    else:
        x, y = reuters_views(corpora, int(size), dense=way != "ours")
    before, started = _resident(), process_time()
    return _result(started, before, WAYS[way](x, y, k))


def _resident() -> float:
    """Return the resident memory in megabytes, and reset the peak (Linux, proc(5))."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return report.peak_megabytes()


def _result(started: float, before: float, correlations: np.ndarray) -> tuple[float, float, np.ndarray]:
    return process_time() - started, report.peak_megabytes() - before, correlations


def by_ours(x: Any, y: Any, k: int) -> np.ndarray:
    return CCA(k, regularisation=1.0 if x.shape[1] > 4000 else 0.0).fit(x, y).canonical_correlations_


def by_numpy(x: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    """Return canonical correlations by numpy, as in Björck and Golub 1973.

    An SVD replaces the QR decomposition, so that columns may be linearly dependent.
    """
    bases = []
    for each in (x, y):
        u, sigma, _ = np.linalg.svd(each - each.mean(axis=0), full_matrices=False)
        bases.append(u[:, sigma > 1e-8 * sigma[0]])
    return np.linalg.svd(bases[0].T @ bases[1], compute_uv=False)[:k]


def by_sklearn(x: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    from sklearn import cross_decomposition

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence warnings
        a, b = cross_decomposition.CCA(k).fit(x, y).transform(x, y)
    return np.array([np.corrcoef(a[:, i], b[:, i])[0, 1] for i in range(k)])


def by_cca_zoo(x: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    from cca_zoo.linear import CCA as ZooCCA  # noqa: N811

    a, b = ZooCCA(k).fit([x, y]).transform([x, y])
    return np.array([np.corrcoef(a[:, i], b[:, i])[0, 1] for i in range(k)])


WAYS: dict[str, Callable[[Any, Any, int], np.ndarray]] = {
    "ours": by_ours,
    "numpy": by_numpy,
    "scikit-learn": by_sklearn,
    "cca-zoo": by_cca_zoo,
}
Cases = Sequence[tuple[str, int, Sequence[str]]]
PLANTED: Cases = (
    ("planted 100000", 5, ("ours", "numpy", "scikit-learn", "cca-zoo")),
    ("far 100000", 5, ("ours", "numpy", "scikit-learn", "cca-zoo")),
    ("1000000", 5, ("streamed",)),
)
REUTERS_CASES: Cases = (
    ("reuters 300", 5, ("ours", "numpy", "scikit-learn", "cca-zoo")),
    ("reuters 1000", 50, ("ours", "numpy", "cca-zoo")),
    ("reuters 2000", 50, ("ours", "numpy")),
    ("reuters 6000", 50, ("ours",)),
)


def packages(arguments: argparse.Namespace) -> None:
    """Print the time, memory and error of CCA of planted rows, beside those of other packages.

    ``far`` are the same rows, to one column of which 10⁷ times its deviation is added.
    """
    print_costs("### Planted rows, beside numpy, scikit-learn and cca-zoo\n", PLANTED, arguments.corpora)


def speed(arguments: argparse.Namespace) -> None:
    """Print the time, memory and error of CCA of Reuters, beside those of other packages."""
    print_costs("### Reuters, beside numpy, scikit-learn and cca-zoo\n", REUTERS_CASES, arguments.corpora)


def print_costs(title: str, cases: Cases, corpora: Path) -> None:
    rows = []
    for data, k, ways in cases:
        results = {way: report.apart(measured, way, data, k, corpora) for way in ways}
        exact = results["numpy"][2] if "numpy" in results else None
        for way, (seconds, megabytes, correlations) in results.items():
            error = None if exact is None else f"{np.abs(correlations - exact).max():.0e}"
            cost = (f"{seconds:.2f}", f"{megabytes:,.0f}")
            rows.append([data, way, k, *cost, f"{correlations[0]:.4f}", f"{correlations[-1]:.4f}", error])
            print(*rows[-1], file=sys.stderr, flush=True)
    print(title)
    header = ("rows or words", "", "k", "CPU s", "MB more", "first correlation", "last", "from numpy's")
    print(report.table(header, rows), end="\n\n")


def main() -> None:
    """Run the parts of the benchmark that the command line names."""
    report.run_parts(
        __doc__,
        {
            "pairs": pairs,
            "retrieval": retrieval,
            "regression": regression,
            "packages": packages,
            "speed": speed,
        },
        lambda parser: None,
        corpora=True,
    )


if __name__ == "__main__":
    main()
