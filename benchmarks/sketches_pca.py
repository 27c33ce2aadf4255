"""Compare `StreamingPCA` with its peers: the parts ``pca-…`` of ``python -m benchmarks.sketches``."""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh
from threadpoolctl import threadpool_limits

from spectralnlp.linalg import one_blas_thread

COMPONENTS = 50


def alternating(
    repeats: int, works: dict[str, Callable[[], Any]], clock: Callable[[], float] = time.process_time
) -> dict[str, report.Timed]:
    """Run several functions in turn, so that other load affects all equally; return the fastest run of each.

    Args:
        repeats: number of runs of each function.
        works: the functions, by name.
        clock: function that returns the time.

    Returns:
        By name, the seconds of the fastest run, and its result.
    """
    best: dict[str, report.Timed] = {}
    for _ in range(repeats):
        for name, work in works.items():
            run = report.timed(work, clock=clock)
            if name not in best or run.seconds < best[name].seconds:
                best[name] = run
    return best


def decaying(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Return random rows (n, d), float64: a signal in 50 directions of decreasing strength, and noise."""
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.standard_normal((d, 50)))[0] * np.linspace(10, 1, 50)
    matrix = rng.standard_normal((n, d))
    matrix *= 0.1
    for start in range(0, n, 10_000):
        part = matrix[start : start + 10_000]
        part += rng.standard_normal((len(part), 50)) @ directions.T
    return matrix


def dense(arguments: argparse.Namespace) -> None:
    """Print time and error of PCA of a dense matrix of 200,000 × 1,000, 50 components."""
    n, d = arguments.rows or 200_000, 1000
    matrix = decaying(n, d)
    covariance = np.cov(matrix[: n // (n // 20_000)].T)
    rows = [
        row
        for dtype in (np.float64, np.float32)
        for row in _dense_rows(matrix.astype(dtype, copy=False), covariance, min(arguments.repeats, 2))
    ]
    print(f"### {n:,} × {d:,}, {COMPONENTS} components\n")
    header = ("", "CPU s, one thread", "× StreamingPCA's", "s, two threads", "× StreamingPCA's", "‖C − C_k‖₂")
    print(report.table(header, rows))
    print(f"\n\\* 20,000 of the rows, and the time of all in proportion; errors are of these. {_BUSY}\n")


def _dense_rows(matrix: np.ndarray, covariance: np.ndarray, repeats: int) -> Iterator[tuple[object, ...]]:
    from sklearn.decomposition import IncrementalPCA
    from spectralnlp_sketch import StreamingPCA

    share = len(matrix) // 20_000
    part = matrix[: len(matrix) // share]
    works: dict[str, Callable[[], Any]] = {
        "XᵀX alone": lambda: part.T @ part,
        f"`StreamingPCA({COMPONENTS})`": lambda: StreamingPCA(COMPONENTS).fit(matrix),
        "scikit-learn IncrementalPCA": lambda: IncrementalPCA(COMPONENTS).fit(part),
    }
    _, ours, theirs = works
    one = alternating(repeats, works)
    with threadpool_limits(2, user_api="blas"):
        two = alternating(repeats, works, time.perf_counter)
    errors = {ours: StreamingPCA(COMPONENTS).fit(part), theirs: one[theirs][1]}
    for name in works:
        cells = [
            cell
            for runs in (one, two)
            for seconds in [runs[name][0] * (1 if name == ours else share)]
            for cell in (f"{seconds:.1f}", f"{seconds / runs[ours][0]:.2f}")
        ]
        error = f"{_rank_k_error(covariance, errors[name]):.6f}" if name in errors else None
        yield (f"{name}, {matrix.dtype.name}{'' if name == ours else ' *'}", *cells, error)


_BUSY = "CPU seconds; other programs ran at the same time, so compare within the table."


def _rank_k_error(covariance: np.ndarray, pca: Any) -> float:
    """Return the spectral norm of the covariance minus its reconstruction from the components."""
    components = np.asarray(pca.components_, dtype=np.float64)
    found = (components.T * pca.explained_variance_) @ components
    return float(np.abs(np.linalg.eigvalsh(covariance - found)).max())


def sparse(arguments: argparse.Namespace) -> None:
    """Print time and error of PCA of a million sparse float32 rows of 65,536 columns, 20 entries each."""
    from spectralnlp_sketch import StreamingPCA

    n, d, per_row = arguments.rows or 1_000_000, 2**16, 20
    matrix = words(n, d, per_row)
    StreamingPCA(2).fit(matrix[:2000])  # compiles
    omega = np.random.default_rng(1).standard_normal((d, 100), dtype=np.float32)

    def products() -> np.ndarray:
        total = np.zeros_like(omega)
        for start in range(0, n, d):
            block = matrix[start : start + d]
            total += block.T @ (block @ omega)
        return total

    with one_blas_thread():
        runs = alternating(
            1,
            {"products": products, **{f"{k}": lambda k=k: StreamingPCA(k).fit(matrix) for k in (20, 50)}},
        )
    unit = runs["products"][0]
    rows: list[tuple[object, ...]] = [("X Ω and Xᵀ(X Ω), 100 vectors, scipy", f"{unit:.1f}", "1", None, None)]
    for k in (20, 50):
        spent, pca = runs[f"{k}"]
        first = float(pca.explained_variance_[0])
        size = max(64, k + k // 2)
        cells = (f"{spent:.1f}", f"{spent / unit:.2f}", f"{pca.bound_ / first:.3f}", f"{first:.4f}")
        rows.append((f"`StreamingPCA({k})`, l = {size}", *cells))
    print(f"### {n:,} × {d:,}, {per_row} numbers a row, float32\n")
    print(report.table(("", "CPU s", "× the products", "`bound_` / λ₁", "λ₁"), rows))
    batch = 5 * d * d * 8 / 2**30
    print(f"\nIncrementalPCA makes batches of 5d rows dense: {batch:.0f} GiB each. {_BUSY}\n")
    print(f"Most memory of this process: {report.peak_megabytes():,.0f} MB.\n")


def words(n: int, d: int, per_row: int) -> sp.csr_matrix:
    """Return random rows that resemble texts: columns follow Zipf's law within one of a hundred topics.

    Args:
        n: number of rows.
        d: number of columns.
        per_row: number of words of a row.
    """
    rng = np.random.default_rng(0)
    topics = rng.integers(0, 100, n)
    ranks = np.minimum((d ** rng.random((n, per_row), dtype=np.float32)).astype(np.int64), d) - 1
    # A topic permutes the common words by an odd step.
    indices = ((ranks + (topics[:, None] + 1) * 617 * (ranks > 20)) % d).astype(np.int32)
    data = np.ones(n * per_row, np.float32)
    matrix = sp.csr_matrix((data, indices.ravel(), np.arange(0, n * per_row + 1, per_row)), shape=(n, d))
    matrix.sum_duplicates()
    return matrix


def images(arguments: argparse.Namespace) -> None:
    """Print time and error of PCA of images of one megapixel as rows."""
    from spectralnlp_sketch import StreamingPCA

    n, d, size, batch = arguments.rows or 512, 2**20, 64, 32
    rng = np.random.default_rng(0)
    scenes = rng.standard_normal((30, d), dtype=np.float32)

    def stream() -> Iterator[np.ndarray]:
        for _ in range(0, n, batch):
            block = rng.standard_normal((batch, d), dtype=np.float32)
            block += rng.standard_normal((batch, 30), dtype=np.float32) @ scenes
            yield block

    pca, spent = StreamingPCA(10, sketch_size=size), 0.0
    for block in stream():
        spent += report.timed(lambda block=block: pca.partial_fit(block)).seconds
    spent += report.timed(lambda: pca.components_).seconds
    with one_blas_thread():
        # The Gram matrix of 2l rows, which each shrinking step computes.
        rows = rng.standard_normal((2 * size, d), dtype=np.float32)
        gram = report.timed(lambda: rows @ rows.T, 3).seconds
    rate = (2 * size) ** 2 * d / gram / 1e9  # a symmetric product, of which numpy computes half
    # Per shrinking step of 2l rows: rows times rows, rows times sketch, and the new sketch.
    work = d * (2 * size * 2 * size + 2 * 2 * size * size + 2 * size * 3 * size) / (2 * size) / 1e9
    print(f"### {n:,} images of {d:,} pixels, l = {size}, float32\n")
    cells = (f"{n / spent:.1f}", f"{work * n / spent:.1f}", f"{rate:.1f}", f"{work * n / spent / rate:.2f}")
    print(
        report.table(
            ("rows a CPU second", "Gflop/s of the shrinks", "gemm here, Gflop/s", "part of it"), [cells]
        )
    )
    print(f"\nMost memory: {report.peak_megabytes():,.0f} MB, a batch of {batch} images takes 128. {_BUSY}\n")


def dask(arguments: argparse.Namespace) -> None:
    """Print wall times of PCA with one Dask worker and with two."""
    import dask.array as da
    from distributed import Client, LocalCluster
    from spectralnlp_sketch import StreamingPCA

    n, d = arguments.rows or 200_000, 1000
    spent = {}
    for n_workers in (1, 2):
        options = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": None}
        with LocalCluster(**options) as cluster, Client(cluster) as client:
            rows = da.random.default_rng(0).standard_normal((n, d), chunks=(5000, d)).persist()
            client.rebalance(rows)
            StreamingPCA(2).fit(rows[: 5000 * n_workers])  # imports modules and waits for the rows
            rows.sum().compute()
            run = lambda rows=rows: StreamingPCA(COMPONENTS).fit(rows)  # noqa: E731
            spent[n_workers] = report.timed(run, 3, time.perf_counter).seconds
    print(f"### {n:,} × {d:,} on Dask's workers, a process each, blocks that lie there\n")
    header = ("one worker, s", "two, s", "speed-up")
    print(report.table(header, [(*(f"{each:.2f}" for each in spent.values()), f"{spent[1] / spent[2]:.2f}")]))
    print("\nBy the clock, on a machine of two cores on which other programs ran.\n")


def text(arguments: argparse.Namespace) -> None:
    """Print time and error of PCA of intent queries, and accuracy of a classifier on the result."""
    from sklearn.decomposition import IncrementalPCA, TruncatedSVD
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import LogisticRegression
    from spectralnlp_sketch import StreamingPCA

    k, width = 100, 2**12
    lines = (arguments.corpora / "intents" / "clinc150" / "train.tsv").read_text().splitlines()
    labels, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
    order = np.random.default_rng(0).permutation(len(texts))
    matrix = HashingVectorizer(n_features=width, alternate_sign=False).transform([texts[i] for i in order])
    classes, cut = np.array(labels)[order], int(0.8 * len(texts))
    learn, rest = matrix[:cut], matrix[cut:]
    covariance = covariance_of(learn)
    StreamingPCA(2, method="sketch").fit(learn[:500])  # compiles
    StreamingPCA(2, method="exact").fit(learn[:500])
    works = {
        "`StreamingPCA`, sketch": lambda: StreamingPCA(k, method="sketch").fit(learn),
        "`StreamingPCA`, exact": lambda: StreamingPCA(k, method="exact").fit(learn),
        "TruncatedSVD *": lambda: TruncatedSVD(k, random_state=0).fit(learn),
        "IncrementalPCA, dense": lambda: IncrementalPCA(k, batch_size=1000).fit(learn.toarray()),
        "gensim LsiModel *": lambda: gensim_axes(learn, k),
    }
    rows = []
    for name, work in works.items():
        tracemalloc.start()
        with one_blas_thread():
            spent, axes = report.timed(lambda work=work: axes_of(work()))
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        classifier = LogisticRegression(C=30, max_iter=300).fit(learn @ axes.T, classes[:cut])
        accuracy = classifier.score(rest @ axes.T, classes[cut:])
        error = f"{1e3 * unexplained_variance(covariance, axes):.3f}"
        rows.append((name, f"{spent:.2f}", f"{peak:,.0f}", error, f"{100 * accuracy:.1f}"))
    print(f"### {cut:,} queries hashed to {width:,} columns, {k} components\n")
    print(report.table(("", "CPU s", "arrays, MB", "1000 · ‖(I − P) C (I − P)‖₂", "accuracy"), rows))
    print(f"\n\\* not centred. Accuracy on a fifth of clinc150's train, held out. {_BUSY}\n")


def gensim_axes(matrix: Any, k: int, **options: Any) -> np.ndarray:
    """Return the directions of gensim's LSI (k, d)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from gensim.matutils import Sparse2Corpus
        from gensim.models import LsiModel

        names = dict.fromkeys(range(matrix.shape[1]), "")
        corpus = Sparse2Corpus(matrix, documents_columns=False)
        return np.asarray(LsiModel(corpus, k, id2word=names, **options).projection.u.T)


def axes_of(found: Any) -> np.ndarray:
    """Return the directions of a fitted model, (k, d); an array of directions is returned unchanged."""
    return np.asarray(getattr(found, "components_", found), dtype=np.float64)


def unexplained_variance(covariance: np.ndarray, axes: np.ndarray) -> float:
    """Return ‖(I − P) C (I − P)‖₂: the norm of the covariance C outside the span of the directions."""
    basis = np.linalg.qr(axes.T)[0]

    def times(vector: np.ndarray) -> np.ndarray:
        image = covariance @ (vector - basis @ (basis.T @ vector))
        return image - basis @ (basis.T @ image)

    operator = LinearOperator(covariance.shape, matvec=times, dtype=np.float64)
    return float(eigsh(operator, k=1, which="LM", tol=1e-6, v0=np.ones(len(covariance)))[0][0])


def covariance_of(matrix: sp.csr_matrix) -> np.ndarray:
    """Return the covariance of sparse rows (d, d)."""
    mean = np.asarray(matrix.mean(axis=0)).reshape(-1)
    n = matrix.shape[0]
    return ((matrix.T @ matrix).toarray() - n * np.outer(mean, mean)) / (n - 1)


def plot(arguments: argparse.Namespace) -> None:
    """Plot the error of PCA methods against their time, as an SVG."""
    import matplotlib
    from sklearn.decomposition import IncrementalPCA, TruncatedSVD
    from spectralnlp_sketch import StreamingPCA

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "spectralnlp", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot

    k, n, d = 20, arguments.rows or 20_000, 1000
    matrix = words(n, d, 20).astype(np.float64)
    # Common words are weighted down, as in retrieval, so that the spectrum decays slowly.
    matrix = sp.csr_matrix(matrix @ sp.diags_array(1 / np.sqrt(matrix.sum(axis=0).A1 + 1)))
    covariance = covariance_of(matrix)
    best = float(np.linalg.eigvalsh(covariance)[-k - 1])
    StreamingPCA(2, method="sketch").fit(matrix[:500])  # compiles
    StreamingPCA(2).fit(matrix[:500])
    curves: dict[str, list[Callable[[], Any]]] = {
        "StreamingPCA, exact": [lambda: StreamingPCA(k).fit(matrix)],
        "StreamingPCA, sketch of 24 to 192 rows": [
            lambda size=size: StreamingPCA(k, method="sketch", sketch_size=size).fit(matrix)
            for size in (24, 48, 96, 192)
        ],
        "TruncatedSVD, 0 to 8 iterations (not centred)": [
            lambda steps=steps: TruncatedSVD(k, n_iter=steps, random_state=0).fit(matrix)
            for steps in (0, 2, 8)
        ],
        "IncrementalPCA of dense rows": [lambda: IncrementalPCA(k).fit(matrix.toarray())],
        "gensim LsiModel, 0 to 4 iterations (not centred)": [
            lambda steps=steps: gensim_axes(matrix, k, power_iters=steps, onepass=False)
            for steps in (0, 2, 4)
        ],
    }
    figure, axis = pyplot.subplots(figsize=(6.4, 3.6))
    for (name, works), marker in zip(curves.items(), "*os^v", strict=True):
        with one_blas_thread():
            runs = [report.timed(lambda work=work: axes_of(work())) for work in works]
        spent, found = (
            [run[0] for run in runs],
            [unexplained_variance(covariance, run[1]) / best for run in runs],
        )
        axis.plot(spent, found, marker=marker, label=name)
        print(name, [f"{s:.2f} s: {e:.3f}" for s, e in zip(spent, found, strict=True)])
    axis.set(xscale="log", xlabel="CPU seconds", ylabel="error / best error of 20 directions")
    axis.legend(fontsize=7, loc="upper left", bbox_to_anchor=(0.08, 1.0))
    figure.tight_layout()
    figure.savefig(arguments.out / "pca.svg", metadata={"Date": None})


def lines(arguments: argparse.Namespace) -> None:
    """Print time and memory of PCA of hashed lines of text, which are generated while they are read."""
    from sklearn.feature_extraction.text import HashingVectorizer
    from spectralnlp_sketch import StreamingPCA

    hasher = HashingVectorizer(n_features=2**16, alternate_sign=False, dtype=np.float32, lowercase=False)
    rng, batch = np.random.default_rng(0), 20_000
    known = np.array([f"w{number}" for number in range(50_000)])
    pca, spent, hashing, rows = StreamingPCA(300), 0.0, 0.0, []
    n = arguments.rows or 1_000_000
    marks = {n // 10, n // 2, n}
    for done in range(batch, n + 1, batch):
        ranks = (len(known) ** rng.random((batch, 12))).astype(int) - 1
        texts = [" ".join(line) for line in known[ranks]]
        hashed, matrix = report.timed(lambda texts=texts: hasher.transform(texts))
        spent += report.timed(lambda matrix=matrix: pca.partial_fit(matrix)).seconds
        hashing += hashed
        if done in marks:
            rows.append((f"{done:,}", f"{hashing:.0f}", f"{spent:.0f}", f"{report.peak_megabytes():,.0f}"))
    print("### Lines of 12 words hashed to 65,536 columns, `StreamingPCA(300)`, float32\n")
    print(report.table(("lines", "hashing, CPU s", "StreamingPCA, CPU s", "most memory, MB"), rows), "\n")


TABLES: report.Parts = {
    "pca-dense": dense,
    "pca-sparse": sparse,
    "pca-images": images,
    "pca-dask": dask,
    "pca-text": text,
    "pca-lines": lines,
    "pca-plot": plot,
}
