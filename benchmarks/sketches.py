"""Compare sketches B of rows X with those of other programs: speed and error ‖XᵀX − BᵀB‖₂.

    python -m benchmarks.sketches tall        # 1,000,000 × 100, l = 100: a Gram matrix is enough
    python -m benchmarks.sketches wide        # 100,000 × 1,000, l = 100
    python -m benchmarks.sketches text        # pooled intent queries, hashed to 2¹⁶ columns, l = 256
    python -m benchmarks.sketches parts       # 1 to 50 parts sketched separately and merged
    python -m benchmarks.sketches processes   # one process and two
    python -m benchmarks.sketches pca-dense   # StreamingPCA; and pca-sparse, -images, -dask, -text, -lines
    python -m benchmarks.sketches pca-plot --out docs/how-to    # error against time

Times are CPU seconds (wall seconds for two processes) of the fastest of ``--repeats`` runs, because other
load can only slow a run down. ``text`` needs gensim (``pip install "spectralnlp[bench]"``).
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip
import argparse
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from spectralnlp_sketch import FileRows, MatrixCorpus, RowFormat
from spectralnlp_sketch.frequent_directions.error import covariance_error
from spectralnlp_sketch.frequent_directions.moments import FrequentDirectionsMoments
from spectralnlp_sketch.frequent_directions.randomised import Stack, orthonormal

from benchmarks import sketches_pca
from benchmarks.sketches_pca import decaying
from spectralnlp.runtime import accumulate, use_engine

INTENTS = ("atis", "banking77", "clinc150", "hwu64", "snips")


def eigenvalues(matrix: np.ndarray) -> np.ndarray:
    """Return the eigenvalues of XᵀX, descending."""
    return np.linalg.eigvalsh(matrix.T @ matrix)[::-1]


def k_bound(values: np.ndarray, size: int) -> float:
    """Return the minimum of ‖X − X_k‖²_F/(l − k) over k, the error bound of frequent directions."""
    tails = np.append(np.cumsum(values[::-1])[::-1], 0.0)
    return float(min(tails[k] / (size - k) for k in range(min(size, len(values)))))


# ---------------------------------------------------------------------------------------------------------


def tall(arguments: argparse.Namespace) -> None:
    """Print speed and error of sketches of a million short rows, for which computing XᵀX is fastest."""
    n, d, size = arguments.rows or 1_000_000, 100, 100
    matrix = np.random.default_rng(0).standard_normal((n, d))
    gram = report.timed(lambda: matrix.T @ matrix, arguments.repeats)
    rows: list[tuple[object, ...]] = [("one Gram product, XᵀX", f"{gram.seconds:.2f}", "1.0", "0")]

    def measure(name: str, share: int, work: Callable[[np.ndarray], np.ndarray]) -> None:
        part = matrix[: n // share]
        run = report.timed(partial(work, part), arguments.repeats if share == 1 else 1)
        squares = part.T @ part
        error = np.abs(np.linalg.eigvalsh(squares - run.result.T @ run.result)).max()
        relative = error / np.linalg.eigvalsh(squares)[-1]
        shown = "0" if relative < 1e-12 else f"{relative:.4f}"
        rows.append((name, f"{share * run.seconds:.2f}", f"{share * run.seconds / gram.seconds:.2f}", shown))

    measure("`FrequentDirections(sketch_size=100)` (gram)", 1, lambda part: fitted(part, size))
    measure("… `method=figure-1`, as printed *", 10, lambda part: fitted(part, size, method="figure-1"))
    measure("scikit-learn IncrementalPCA *", 10, lambda part: incremental_pca(part, size))
    print(f"### {n:,} × {d} normal numbers, l = {size}\n")
    print(report.table(("", "s", "× one Gram product", "error / λ₁"), rows))
    print("\n\\* a tenth of the rows, times ten: the time of each grows with the rows.\n")


def wide(arguments: argparse.Namespace) -> None:
    """Print speed, error and bound of every method on 100,000 rows of 1,000 columns."""
    n, d, size = arguments.rows or 100_000, 1000, 100
    matrix = decaying(n, d)
    gram = matrix.T @ matrix
    values = np.linalg.eigvalsh(gram)[::-1]
    promised, unit = k_bound(values, size), values[size]
    rows: list[tuple[Any, ...]] = []

    def measure(name: str, work: Callable[[], Any]) -> None:
        run = report.timed(work)
        sketch, bound = run.result if isinstance(run.result, tuple) else (run.result, None)
        error = np.abs(np.linalg.eigvalsh(gram - sketch.T @ sketch)).max()
        said = None if bound is None else f"{bound / unit:.2f}"
        rows.append((name, f"{n / run.seconds:,.0f}", f"{error / unit:.2f}", said))

    measure("`FrequentDirections(sketch_size=100)` (gram)", lambda: with_bound(matrix, size))
    measure("… as for wider matrices (randomised)", lambda: randomised(matrix, size))
    measure("… `method=figure-1`", lambda: with_bound(matrix, size, method="figure-1"))
    measure("scikit-learn IncrementalPCA", lambda: incremental_pca(matrix, size))
    print(f"### {n:,} × {d:,}, 50 directions and noise, l = {size}\n")
    print(f"Errors in units of the best rank-{size} error, λ₁₀₁; the k-bound is {promised / unit:.2f}.\n")
    print(report.table(("", "rows/s", "error", "`bound_`"), rows), end="\n\n")


def fitted(matrix: Any, size: int, **options: Any) -> np.ndarray:
    return with_bound(matrix, size, **options)[0]


def with_bound(matrix: Any, size: int, **options: Any) -> tuple[np.ndarray, float]:
    from spectralnlp_sketch import (
        FrequentDirections,
    )  # imported here, because worker processes do not need scikit-learn

    sketch = FrequentDirections(sketch_size=size, **options).fit(matrix)
    return sketch.sketch_, sketch.bound_


def randomised(matrix: np.ndarray, size: int) -> tuple[np.ndarray, float]:
    found = added_up("randomised", size, MatrixCorpus(matrix)).sketch
    return found.rows, found.bound


def incremental_pca(matrix: np.ndarray, size: int) -> np.ndarray:
    from sklearn.decomposition import IncrementalPCA

    # This method centres; with the mean as an additional row its sketch approximates XᵀX like the others.
    pca = IncrementalPCA(size).fit(matrix)
    rows = pca.singular_values_[:, None] * pca.components_
    return np.vstack([rows, np.sqrt(len(matrix)) * pca.mean_])


# ---------------------------------------------------------------------------------------------------------


def intent_queries(corpora: Path) -> list[str]:
    """Return the training queries of five intent corpora, without labels."""
    queries = []
    for name in INTENTS:
        path = corpora / "intents" / name / "train.tsv"
        if not path.exists():
            sys.exit(f"{path}: no such file; say with --corpora where the corpora are")
        lines = path.read_text(encoding="utf-8").splitlines()
        queries += [line.split("\t", 1)[1] for line in lines]
    return queries


def text(arguments: argparse.Namespace) -> None:
    """Print speed and error of sketches of hashed n-grams of queries, compared with gensim's one-pass LSI."""
    size = 256
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "queries.txt")
        path.write_text("".join(f"{query}\n" for query in intent_queries(arguments.corpora)))
        corpus = FileRows([path], RowFormat("text", 2**16, (1, 3)))
        started = time.process_time()
        batches: Iterable[Any] = corpus.batches(8192)
        blocks = [batch.examples.matrix for batch in batches]
        hashing = time.process_time() - started
    matrix = sp.csr_matrix(sp.vstack(blocks))
    matrix.sort_indices()
    n = matrix.shape[0]
    fitted(matrix[:2000], size)  # compiles
    best = best_values(matrix, size)[size]
    rows: list[tuple[Any, ...]] = []

    def measure(name: str, repeats: int, work: Callable[[], Any]) -> float:
        run = report.timed(work, repeats)
        sketch, bound = run.result if isinstance(run.result, tuple) else (run.result, None)
        error = covariance_error(matrix, sketch, 30)
        cells = (
            f"{n / run.seconds:,.0f}",
            f"{error:.0f}",
            f"{error / best:.2f}",
            f"{(error / best) ** 0.5:.2f}",
        )
        said = None if bound is None else f"{bound:.0f}"
        rows.append((name, *cells, said, run.seconds))
        return run.seconds

    name = f"`FrequentDirections(sketch_size={size})` (randomised)"
    measure(name, arguments.repeats, lambda: with_bound(matrix, size))
    reference = measure("gensim LsiModel, chunk 20,000", 1, lambda: gensim_sketch(matrix, size, 20_000))
    print(f"### {n:,} × 2¹⁶ counts of 1–3-grams, {matrix.nnz / n:.1f} a row, float32, l = {size}\n")
    rate = f"{n / hashing:,.0f} rows/s"
    print(f"The best rank-{size} error is λ₂₅₇ = {best:.0f}. Hashing the text alone: {rate}.\n")
    header = ("", "rows/s", "error", "/ best", "√(/ best)", "`bound_`", "× gensim's rows/s")
    shown = [(*cells, f"{reference / seconds:.1f}") for *cells, seconds in rows]
    print(report.table(header, shown), end="\n\n")


def best_values(matrix: Any, size: int) -> np.ndarray:
    """Return the leading eigenvalues of XᵀX, by many more iterations than a sketch takes."""
    stack = Stack(np.zeros((0, matrix.shape[1]), dtype=matrix.dtype), matrix)
    basis = np.random.default_rng(1).standard_normal((matrix.shape[1], size + 64), dtype=matrix.dtype)
    for _ in range(6):
        basis = orthonormal(stack.gram_times(basis))
    small = basis.T @ stack.gram_times(basis)
    return np.linalg.eigvalsh(small.astype(np.float64))[::-1]


def gensim_sketch(matrix: Any, size: int, chunk: int) -> np.ndarray:
    """Return the sketch of gensim's LSI model, with rows σ_i v_iᵀ."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from gensim.matutils import Sparse2Corpus
        from gensim.models import LsiModel

        corpus = Sparse2Corpus(matrix, documents_columns=False)
        names = dict.fromkeys(range(matrix.shape[1]), "")
        model = LsiModel(
            corpus, num_topics=size, id2word=names, chunksize=chunk, onepass=True, dtype=np.float32
        )
    return (model.projection.u * model.projection.s).T


# ---------------------------------------------------------------------------------------------------------


# Table 3 of Kim, Stratos and Sarikaya 2015: parts, seconds, and norm of the error.
PUBLISHED_PARTS = (
    (1, 100.21, 1019779.69),
    (2, 50.31, 1019758.22),
    (4, 26.50, 1019714.19),
    (5, 21.67, 1019713.43),
    (8, 14.53, 1019679.67),
    (10, 12.13, 1019692.67),
    (16, 8.53, 1019686.35),
    (20, 7.35, 1019709.03),
    (25, 6.40, 1019650.51),
    (40, 4.97, 1019703.24),
    (50, 4.48, 1019689.33),
)


def parts(arguments: argparse.Namespace) -> None:
    """Print errors of merged sketches of parts (Kim, Stratos and Sarikaya 2015: table 3, by figure 1)."""
    n, d, size = arguments.rows or 20_000, 400, 100
    matrix = decaying(n, d)
    values = eigenvalues(matrix)
    unit = values[size]
    bound = 2 * values.sum() / size / unit
    print(f"### {n:,} × {d} in parts, sketched apart and merged, l = {size}\n")
    print(f"`method=figure-1`. Errors in units of λ₁₀₁; the bound 2‖X‖²/l is {bound:.1f},")
    print(f"the error of a sketch of zeros {values[0] / unit:.1f}.\n")
    rows = []
    for n_parts, *published in PUBLISHED_PARTS:
        run = report.timed(partial(added_up, "figure-1", size, MatrixCorpus(matrix, n_parts)))
        sketch = run.result.sketch
        error = covariance_error(matrix, sketch.rows)
        rows.append(
            (n_parts, f"{run.seconds:.1f}", f"{error / unit:.2f}", f"{sketch.bound / unit:.2f}", *published)
        )
    header = ("parts", "s", "error", "`bound_`", "paper: s", "paper: ‖XᵀX − YᵀY‖₂")
    print(report.table(header, rows), end="\n\n")
    print("The paper's matrix is 1,000,000 × 100, its sketch has 100 rows: nothing need be lost,")
    print("yet its error is the largest eigenvalue of XᵀX, that of a sketch of zeros.\n")


def processes(arguments: argparse.Namespace) -> None:
    """Print times of sketching by one process and by two, which read a file and exchange only sketches."""
    n, d, size = arguments.rows or 200_000, 400, 100
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "matrix.npy")
        np.save(path, decaying(n, d))
        speeds = [speed_row(path, n_parts, size) for n_parts in (2, 8)]
    print(f"### {n:,} × {d}, l = {size}, figure 1: two processes, by the clock, their start included\n")
    print(report.table(("parts", "one process: s", "two: s", "speed-up"), speeds), end="\n\n")


def added_up(method: str, size: int, corpus: Any) -> FrequentDirectionsMoments:
    moments = FrequentDirectionsMoments(size, corpus.n_columns, method)
    return accumulate(moments, corpus, batch_size=8192)


def speed_row(path: Path, n_parts: int, size: int) -> tuple[str, ...]:
    corpus = FileRows([path], n_partitions=n_parts)
    runs = []
    for engine, options in (("serial", {}), ("processes", {"jobs": 2})):
        with use_engine(engine, **options):
            runs.append(report.timed(partial(added_up, "figure-1", size, corpus), clock=time.perf_counter))
    one, two = runs
    assert one.result.sketch.rows.tobytes() == two.result.sketch.rows.tobytes(), "engines must agree"
    cells = (f"{one.seconds:.1f}", f"{two.seconds:.1f}", f"{one.seconds / two.seconds:.2f}")
    return (f"{n_parts}", *cells)


TABLES: report.Parts = {
    **{"tall": tall, "wide": wide, "text": text, "parts": parts, "processes": processes},
    **sketches_pca.TABLES,
}


def main() -> None:
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--repeats", type=int, default=3, metavar="N")
        parser.add_argument("--out", type=Path, default=Path("docs/how-to"), metavar="DIR", help="of pca.svg")
        parser.add_argument("--rows", type=int, metavar="N", help="fewer rows, to try it out")

    report.run_parts(__doc__, TABLES, add_arguments, corpora=True)


if __name__ == "__main__":
    main()
