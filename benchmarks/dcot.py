"""Compare text features by dCoT, tf-idf, LSI and LDA, as Xu, Chen, Weinberger and Sha 2012 do.

    python -m benchmarks.dcot labels              # R52 with 100, 300 and 1,000 labels; training time
    python -m benchmarks.dcot time                # full vocabulary, three layers
    python -m benchmarks.dcot figures --out docs  # their figures 2, 3 and 4, as SVG

Representations are learned from all training texts of R52 without labels; accuracy is that of a linear SVM
on ``dev``. Times are CPU seconds without word counting, which is the same for all.
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
import gzip
import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import LatentDirichletAllocation, TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.preprocessing import normalize
from spectralnlp_sketch import DCoT

from benchmarks.labelled import TEXTCAT, accuracies, read_tsv

SIZES, DRAWS = (100, 300, 1000), 5
FIGURE_DRAWS = 2
WORDS: dict[str, Any] = {
    "stop_words": "english",
    "token_pattern": r"(?u)\b[a-z][a-z]+\b",
    "dtype": np.float32,
}
# Table 1 of Xu et al. 2012: seconds to learn on Reuters, by the first word of the name of a representation.
# They draw accuracies (figures 3 and 4) without numbers.
PUBLISHED = {"tf-idf": 1, "LSI": 51 * 60, "LDA": 190 * 60, "`dcot": 120}
PUBLISHED_SIZES = (("Reuters", 5946, 18_933, 120), ("Dmoz", 7184, 16_498, 180))
warnings.simplefilter("ignore", ConvergenceWarning)


class Data(NamedTuple):
    """R52 corpus (Reuters stories of 52 topics), represented by tf-idf and by counts."""

    labels: np.ndarray
    gold: np.ndarray
    tfidf: tuple[Any, Any]
    counts: tuple[Any, Any]
    terms: list[str]


def r52() -> Data:
    texts, labels = read_tsv(TEXTCAT / "r52" / "train.tsv")
    dev, gold = read_tsv(TEXTCAT / "r52" / "dev.tsv")
    weights, counts = TfidfVectorizer(sublinear_tf=True, **WORDS), CountVectorizer(**WORDS)
    tfidf = weights.fit_transform(texts), weights.transform(dev)
    both = counts.fit_transform(texts), counts.transform(dev)
    return Data(labels, gold, tfidf, both, list(weights.get_feature_names_out()))


def learned(model: Any, rows: tuple[Any, Any], scaled: bool = True) -> tuple[float, Any, Any]:
    """Train a model of representations, and apply it.

    Args:
        model: an unfitted transformer.
        rows: rows of train and of dev.
        scaled: whether to scale representations to length 1.

    Returns:
        CPU seconds of training, and representations of train and of dev.
    """
    started = time.process_time()
    model.fit(rows[0])
    seconds = time.process_time() - started
    train, dev = model.transform(rows[0]), model.transform(rows[1])
    return seconds, *((normalize(train), normalize(dev)) if scaled else (train, dev))


def lda(topics: int, iterations: int) -> Any:
    return LatentDirichletAllocation(topics, max_iter=iterations, random_state=0)


def ways(data: Data) -> dict[str, Callable[[], tuple[float, Any, Any]]]:
    counts = normalize(data.counts[0]), normalize(data.counts[1])
    published = DCoT(prototypes="frequent", keep_probability=0.5, normalise=False)
    return {
        "counts": lambda: (0.0, *counts),
        "tf-idf": lambda: (0.0, *data.tfidf),
        "LSI, 100": lambda: learned(TruncatedSVD(100, random_state=0), data.tfidf),
        "LSI, 200": lambda: learned(TruncatedSVD(200, random_state=0), data.tfidf),
        "LDA, 50 topics, 10 iterations": lambda: learned(lda(50, 10), data.counts, False),
        "LDA, 100 topics, 30 iterations": lambda: learned(lda(100, 30), data.counts, False),
        "`dcot`, as published, of counts": lambda: learned(published, counts, False),
        "`dcot:prototypes=frequent`": lambda: learned(DCoT(prototypes="frequent"), data.tfidf, False),
        "`dcot`": lambda: learned(DCoT(), data.tfidf, False),
    }


def labels(arguments: argparse.Namespace) -> None:
    data = r52()
    print(
        f"### R52, {len(data.labels):,} texts, {len(data.terms):,} terms, mean of {DRAWS} draws of labels\n"
    )
    found = []
    for name, way in ways(data).items():
        seconds, train, dev = way()
        scores = accuracies(train, dev, data.labels, data.gold, SIZES, DRAWS)
        found.append((name, [f"{mean:.1f} ± {deviation:.1f}" for mean, deviation in scores], seconds))
        sys.stderr.write(f"{found[-1]}\n")
    slowest = max(seconds for _, _, seconds in found)  # the larger LDA, as in the paper
    rows = []
    for name, cells, seconds in found:
        times = [f"{seconds:.1f}", f"{slowest / seconds:.1f}"] if seconds else [None, None]
        theirs = next((each for start, each in PUBLISHED.items() if name.startswith(start)), None)
        published = [f"{theirs:,}", f"{PUBLISHED['LDA'] / theirs:,.1f}"] if theirs else [None, None]
        rows.append((name, *cells, *times, *published))
    sizes = (f"{size:,} labels" for size in SIZES)
    print(report.table(("", *sizes, "s", "× as fast as LDA", "paper: s", "paper: ×"), rows), end="\n\n")


def reuters() -> list[str]:
    """Return all training and unlabelled texts of Reuters."""
    texts = []
    for name in ("train", "unlabelled"):
        with gzip.open(TEXTCAT / f"reuters21578.{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            texts += [f"{each['title']} {each['body']}" for each in map(json.loads, lines)]
    return texts


def timing(arguments: argparse.Namespace) -> None:
    print("### dCoT, 1,000 prototypes, three layers, all terms\n")
    rows = []
    for name, texts in (("R52", read_tsv(TEXTCAT / "r52" / "train.tsv")[0]), ("Reuters", reuters())):
        for dtype in (np.float32, np.float64):
            x = TfidfVectorizer(sublinear_tf=True, dtype=dtype).fit_transform(texts)
            seconds, *_ = learned(DCoT(), (x, x[:10]), False)
            rows.append((f"{name}, {dtype.__name__}", *map("{:,}".format, x.shape), f"{seconds:.1f}"))
    for name, *sizes in PUBLISHED_SIZES:
        rows.append((f"the paper's {name}", *map("{:,}".format, sizes)))
    print(report.table(("", "documents", "terms", "s"), rows), end="\n\n")


# ---------------------------------------------------------------------------------------------------------
# Figures

TERMS = ("reagan", "nasdaq", "cocoa", "opec", "tokyo", "copper", "dividend")


def figures(arguments: argparse.Namespace) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "spectralnlp", "svg.fonttype": "none", "font.size": 9})
    data = r52()
    for name in arguments.figures:
        FIGURES[name](data, arguments.out / f"dcot-{name}.svg")


def reconstructions(data: Data, path: Path) -> None:
    """Draw figure 2 of Xu et al. 2012: prototype words reconstructed from one-word documents."""
    import matplotlib.pyplot as plt

    model = DCoT(terms=data.terms).fit(data.tfidf[0])
    figure, axis = plt.subplots(figsize=(9, 2.9))
    for column, term in enumerate((None, *TERMS)):
        style: dict[str, Any] = {"weight": "bold", "ha": "center"}
        axis.text(column, 0, "(empty)" if term is None else term, **style)
        for row, (prototype, score) in enumerate(model.reconstruct(term, 10), 1):
            shade = str(max(0.0, 0.55 - score))
            axis.text(column, -row, prototype, ha="center", color=shade)
    axis.set(xlim=(-0.6, len(TERMS) + 0.6), ylim=(-10.8, 0.8))
    axis.axis("off")
    save(figure, path)


def by_layers(data: Data, path: Path) -> None:
    """Draw figure 3 of Xu et al. 2012: accuracy at 1,000 labels by number of layers and by noise 1 − p."""
    import matplotlib.pyplot as plt

    noises = (0.1, 0.3, 0.5, 0.7, 0.9)
    figure, axis = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
    curves: dict[int, list[float]] = {1: [], 2: [], 3: []}
    for noise in noises:
        model = DCoT(keep_probability=round(1 - noise, 3), n_layers=3).fit(data.tfidf[0])
        train, dev = (model.transform(each) for each in data.tfidf)
        for layers, curve in curves.items():
            width = len(data.terms) + layers * len(model.prototypes_)
            ((mean, _),) = accuracies(
                train[:, :width], dev[:, :width], data.labels, data.gold, (1000,), FIGURE_DRAWS
            )
            curve.append(mean)
        sys.stderr.write(f"noise {noise}: {[round(curve[-1], 2) for curve in curves.values()]}\n")
    for layers, curve in curves.items():
        axis.plot(noises, curve, ".-", label=f"{layers} layer{'s' * (layers > 1)}")
    axis.set(xlabel="noise, 1 − p", ylabel="accuracy, 1,000 labels, %", title="R52 dev")
    axis.legend()
    save(figure, path)


def by_labels(data: Data, path: Path) -> None:
    """Draw figure 4 of Xu et al. 2012: accuracy by the number of labels."""
    import matplotlib.pyplot as plt

    sizes = (50, 100, 200, 300, 500, 1000, 2000)
    figure, axis = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
    chosen = ways(data)
    for name in ("tf-idf", "LSI, 200", "LDA, 50 topics, 10 iterations", "`dcot`"):
        _, train, dev = chosen[name]()
        means = [mean for mean, _ in accuracies(train, dev, data.labels, data.gold, sizes, FIGURE_DRAWS)]
        sys.stderr.write(f"{name}: {[round(mean, 1) for mean in means]}\n")
        axis.semilogx(sizes, means, ".-", label=name.split(" topics")[0].strip("`"))
    axis.set(xlabel="labels", ylabel="accuracy, %", title="R52 dev", xticks=sizes, xticklabels=sizes)
    axis.minorticks_off()
    axis.legend()
    save(figure, path)


def save(figure: Any, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None})
    sys.stderr.write(f"{path}\n")


FIGURES = {"terms": reconstructions, "layers": by_layers, "labels": by_labels}
PARTS: report.Parts = {"labels": labels, "time": timing, "figures": figures}


def main() -> None:
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--figures", nargs="+", choices=FIGURES, default=list(FIGURES))
        parser.add_argument("--out", type=Path, default=Path("docs"), metavar="DIR")

    report.run_parts(__doc__, PARTS, add_arguments)


if __name__ == "__main__":
    main()
