"""Compare ways to compute leverage scores with the SVD: tables and figures of Chin and Liang 2019.

    python -m benchmarks.leverage table-1 table-2 table-3 table-4    # on one core
    python -m benchmarks.leverage figures --out DIR                  # their figures 1 to 6, as PNG
    python -m benchmarks.leverage conditioning                       # where exact methods lose accuracy

Times are CPU seconds. scikit-learn's digits replace MNIST. Figures need matplotlib, ``pip install
"spectralnlp[bench]"``.
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from spectralnlp_sketch import LeverageScores, required_rows

Scores = np.ndarray


def by_svd(matrix: np.ndarray) -> Scores:
    """Return leverage scores by algorithm 1 of Chin and Liang 2019, with numpy's SVD."""
    u = np.linalg.svd(matrix, full_matrices=False)[0]
    return np.einsum("ij,ij->i", u, u)


def ours(matrix: np.ndarray, size: int | None = None, **options: Any) -> Scores:
    scorer = LeverageScores(sketch_size=size, **options).fit(matrix)
    return scorer.scores(matrix)


# Seconds in the paper's tables by number of rows, on twelve cores: numpy's SVD, and the sketches.
PAPER_1 = {2**16: (0.7, 0.9), 2**18: (3.3, 3.3), 2**20: (13.9, 5.4)}  # SRHT
PAPER_2 = {  # CountSketch, OSNAP
    2**10: (0.001, 0.22, 0.22),
    2**14: (0.009, 0.23, 0.63),
    2**18: (0.21, 0.73, 5.12),
    2**22: (3.76, 0.11, 73.5),
}
PAPER_3 = {2**10: (0.06, 0.28, 0.29), 2**14: (0.41, 1.02, 0.98), 2**18: (10.26, 16.44, 12.15)}
PAPER_4 = (192.43, 155.53)  # OSNAP


def compare(
    matrix: np.ndarray, ways: dict[str, Callable[[], Scores]], paper: Mapping[str, float], svd: bool = True
) -> None:
    """Print time and relative error of methods for leverage scores, against the SVD or the first method.

    Args:
        matrix: the data (n, d).
        ways: the methods by name.
        paper: the paper's seconds of some methods.
        svd: whether to compare with the SVD; otherwise with the first method.
    """
    rows: list[tuple[object, ...]] = []
    if svd:
        svd_seconds, reference = report.timed(lambda: by_svd(matrix))
        rows.append(("numpy SVD", paper.get("numpy SVD"), f"{svd_seconds:.3f}", "1", "–", "–"))
    for name, work in ways.items():
        seconds, scores = report.timed(work)
        if not rows:
            svd_seconds, reference = np.nan, scores
        errors = np.abs(scores / reference - 1)
        ratio = f"{svd_seconds / seconds:.1f}" if svd else None
        shown = f"{errors.max():.0e}", f"{np.median(errors):.0e}"
        rows.append((name, paper.get(name), f"{seconds:.3f}", ratio, *shown))
        sys.stderr.write(f"{name}: {seconds:.2f} s\n")
    header = ("", "paper, s", "s", "× as fast as SVD", "largest relative error", "median")
    print(report.table(header, rows), end="\n\n", flush=True)


def table_1(arguments: argparse.Namespace) -> None:
    print("### Table 1: n × 50, SRHT with ε = 0.25\n")
    rng = np.random.default_rng(0)
    for k in (16, 18, 20):
        matrix = rng.standard_normal((2**k, 50))
        size = required_rows("srht", 50, 0.25, n_rows=2**k)
        sketch = f"SRHT, {size:,} rows"
        ways: dict[str, Callable[[], Scores]] = {
            "`auto` (gram)": partial(ours, matrix),
            sketch: partial(ours, matrix, size, method="srht"),
        }
        print(f"n = 2^{k}\n")
        compare(matrix, ways, dict(zip(("numpy SVD", sketch), PAPER_1[2**k], strict=True)))
    print("n = 2^22 and 2^24, in the paper 4.2 and 17.3 × as fast, were not run: 7 and 28 GB.\n")


def skinny_or_not(title: str, d: int, paper: Mapping[int, tuple[float, ...]]) -> None:
    print(f"### {title}: D = {d}, ε = 0.5\n")
    rng = np.random.default_rng(0)
    count, osnap = (required_rows(method, d, 0.5) for method in ("countsketch", "osnap"))
    names = "numpy SVD", f"CountSketch, {count:,} rows", f"OSNAP, {osnap:,} rows"
    for n, seconds in paper.items():
        matrix = rng.standard_normal((n, d))
        ways: dict[str, Callable[[], Scores]] = {
            "`auto` (gram)": partial(ours, matrix),
            "`qr`": partial(ours, matrix, method="qr"),
            names[2]: partial(ours, matrix, osnap, method="osnap"),
            names[1]: partial(ours, matrix, count, method="countsketch"),
            f"CountSketch, 4D = {4 * d:,} rows": partial(ours, matrix, 4 * d, method="countsketch"),
        }
        print(f"N = 2^{n.bit_length() - 1}\n")
        compare(matrix, ways, dict(zip(names, seconds, strict=True)))


def table_2(arguments: argparse.Namespace) -> None:
    skinny_or_not("Table 2", 16, PAPER_2)


def table_3(arguments: argparse.Namespace) -> None:
    skinny_or_not("Table 3", 256, PAPER_3)
    print("N = 2^22, where the paper has 257.55 s, 45.16 and 169.44, was not run: it takes 8.6 GB.\n")


def table_4(arguments: argparse.Namespace) -> None:
    n, d = arguments.wide
    print(f"### Table 4: {n:,} × {d:,}, float32\n")
    matrix = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    sketch = f"OSNAP, 4D = {4 * d:,} rows"  # the paper's bound would be more rows than there are
    ways: dict[str, Callable[[], Scores]] = {
        "`auto` (gram)": partial(ours, matrix),
        sketch: partial(ours, matrix, 4 * d, method="osnap"),
    }
    svd, osnap = PAPER_4
    compare(matrix, ways, {sketch: osnap}, svd=False)
    print(
        f"The SVD takes {svd} s in the paper, here more than 4 GB: not run. Errors are relative to `auto`.\n"
    )


def conditioning(arguments: argparse.Namespace) -> None:
    """Print the chosen method, its reported and its true error, for increasing condition numbers."""
    rng = np.random.default_rng(0)
    u, _, vt = np.linalg.svd(rng.standard_normal((2**14, 64)), full_matrices=False)
    exact = np.einsum("ij,ij->i", u, u)
    rows = []
    for decades in (0, 2, 4, 6, 8, 9, 10, 12):
        matrix = (u * np.logspace(0, -decades, 64)) @ vt
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            scorer = LeverageScores().fit(matrix)
        errors = [np.abs(way / exact - 1).max() for way in (scorer.scores(matrix), by_svd(matrix))]
        shown = [f"{error:.0e}" for error in errors]
        said = "warns" if found else None
        rows.append((f"10^{decades}", scorer.method_, scorer.rank_, f"{scorer.error_:.0e}", *shown, said))
    print("### Condition number of a 2^14 × 64 matrix\n")
    header = ("κ", "method", "rank", "`error_`", "true error", "numpy SVD's", "")
    print(report.table(header, rows), end="\n\n")


# ---------------------------------------------------------------------------------------------------------


def figures(arguments: argparse.Namespace) -> None:
    try:
        import matplotlib as mpl
    except ImportError:
        sys.exit('figures need matplotlib: pip install "spectralnlp[bench]"')
    mpl.use("Agg")
    warnings.simplefilter("ignore")
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    full = rng.standard_normal((2**13, 32)) * rng.gamma(1.0, 1.0, (2**13, 1))
    half = full[:, :16] @ rng.standard_normal((16, 32))
    noisy = half + 1e-9 * rng.standard_normal(half.shape)
    sketched(out / "figure-1.png", full, "column rank = dimension", exact=by_svd(full))
    true = by_svd(full[:, :16])
    sketched(out / "figure-2.png", noisy, "column rank half of the dimension", exact=true)
    sketched(out / "figure-3.png", noisy, "the same, truncated to the true rank", exact=true, truncate=1e-6)
    digits_spectrum(out / "figure-4.png")
    digits_scores(out / "figure-5.png")
    required(out / "figure-6.png")
    print("\n".join(str(path) for path in sorted(out.glob("figure-*.png"))))


def panels(n: int, title: str) -> tuple[Any, Any]:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, n, figsize=(4.6 * n, 4.2), layout="constrained")
    figure.suptitle(title)
    return figure, np.atleast_1d(axes)


def scatter(axis: Any, exact: Scores, approximate: Scores, title: str) -> None:
    """Plot sketched against exact scores, with the diagonal and the median error.

    Args:
        axis: axes of matplotlib.
        exact, approximate: leverage scores (n,).
        title: title of the plot.
    """
    axis.loglog(exact, approximate, ".", markersize=2, alpha=0.5)
    span = [exact.min(), exact.max()]
    axis.loglog(span, span, color="black", linewidth=1)
    error = np.median(np.abs(approximate / exact - 1))
    axis.set(title=f"{title}\nmedian relative error {error:.2g}", xlabel="leverage score")
    axis.set_ylabel("sketched")


def sketched(path: Path, matrix: np.ndarray, title: str, *, exact: Scores, truncate: float = 0.0) -> None:
    """Draw figures 1, 2 and 3 of Chin and Liang 2019: scores by CountSketch and SRHT against exact ones.

    Args:
        path: file to write.
        matrix: the data (n, d).
        title: title of the figure.
        exact: exact scores (n,).
        truncate: share of the largest singular value below which others are dropped.
    """
    d = matrix.shape[1]
    figure, axes = panels(2, title)
    for axis, method in zip(axes, ("countsketch", "srht"), strict=True):
        size = required_rows(method, d, 0.5, n_rows=len(matrix))
        scatter(axis, exact, ours(matrix, size, method=method, truncate=truncate), f"{method}, {size:,} rows")
    figure.savefig(path, dpi=110)


def digits() -> np.ndarray:
    from sklearn.datasets import load_digits

    return load_digits().data


def digits_spectrum(path: Path) -> None:
    """Draw figure 4 of Chin and Liang 2019: singular values of images of digits."""
    sigma = np.linalg.svd(digits(), compute_uv=False)
    figure, axes = panels(2, "Singular values of scikit-learn's digits, 1,797 × 64")
    axes[0].plot(sigma, ".-")
    axes[1].semilogy(np.maximum(sigma, 1e-14), ".-")
    for axis in axes:
        axis.set_xlabel("index")
    figure.savefig(path, dpi=110)


def digits_scores(path: Path) -> None:
    """Draw figure 5 of Chin and Liang 2019: leverage scores of digits, without and with truncation."""
    matrix = np.tile(digits(), (20, 1))
    # Add noise so that the matrix has full rank, as in the paper.
    matrix = matrix + 1e-9 * np.random.default_rng(0).standard_normal(matrix.shape)
    u, sigma, _ = np.linalg.svd(matrix, full_matrices=False)
    exact = np.einsum("ij,ij->i", u[:, sigma > 1e-6 * sigma[0]], u[:, sigma > 1e-6 * sigma[0]])
    figure, axes = panels(2, "Digits with noise of 1e-9, CountSketch of 16,384 rows")
    for axis, truncate in zip(axes, (0.0, 1e-6), strict=True):
        scores = ours(matrix, 16_384, method="countsketch", truncate=truncate)
        scatter(axis, exact, scores, f"truncate = {truncate:g}")
    figure.savefig(path, dpi=110)


def required(path: Path) -> None:
    """Draw figure 6 of Chin and Liang 2019: rows of data sets, and rows that CountSketch needs."""
    sets = {
        "digits": (1797, 64),
        "MNIST": (60_000, 784),
        "CIFAR-10": (50_000, 3072),
        "SST, 56 × 300": (8544, 16_800),
        "intents, hashed": (50_525, 65_536),
    }
    figure, (axis,) = panels(1, "Rows that ε = 0.5 takes, and rows there are")
    widths = np.array([16, 10**5])
    for method in ("countsketch", "srht", "osnap", "gaussian"):
        axis.loglog(widths, [required_rows(method, int(d), 0.5) for d in widths], label=method)
    for name, (n, d) in sets.items():
        axis.plot(d, n, "ko", markersize=4)
        axis.annotate(name, (d, n), textcoords="offset points", xytext=(4, 4), fontsize=8)
    axis.set(xlabel="columns", ylabel="rows", xlim=(10, 3e6))
    axis.legend(fontsize=8)
    figure.savefig(path, dpi=110)


PARTS: report.Parts = {
    "table-1": table_1,
    "table-2": table_2,
    "table-3": table_3,
    "table-4": table_4,
    "conditioning": conditioning,
    "figures": figures,
}


def main() -> None:
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--out", type=Path, default=Path("figures"), metavar="DIR")
        parser.add_argument("--wide", type=int, nargs=2, default=(2**16, 2**12), metavar=("N", "D"))

    report.run_parts(__doc__, PARTS, add_arguments)


if __name__ == "__main__":
    main()
