"""Compare TMPCA with PCA, mean vectors and fastText: tables 4–9, figures 4–5 of Su, Lin and Kuo 2019.

    python -m benchmarks.tmpca accuracy             # tables 8 and 9, energy; one table per corpus
    python -m benchmarks.tmpca models               # tables 4 to 6, on other corpora
    python -m benchmarks.tmpca time                 # table 7
    python -m benchmarks.tmpca figures --out docs   # figures 4 and 5, as SVG

Word vectors have ten dimensions: fastText's, trained on the labels of ``train`` as in the paper (package
``fasttext-wheel``, ``pip install "spectralnlp[bench]"``), or eigenwords of the same texts, without labels.
Accuracy is on ``dev``. The dense network has one layer as in the paper: logistic regression. Times are CPU
seconds of training on sequences of vectors.
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from spectralnlp_sketch import TMPCA, prepare
from spectralnlp_sketch.tmpca.information import mutual_information
from spectralnlp_sketch.tmpca.moments import centred

from benchmarks.labelled import corpus
from spectralnlp.estimators.eigenwords import Eigenwords
from spectralnlp.models.vectors import Vectors
from spectralnlp.runtime import InMemoryCorpus

SIZE, LENGTHS = 10, (2, 4, 8, 16, 32)
CORPORA = ("sms_spam", "sentence_polarity", "sst")
MODEL_CORPORA = ("sst", "trec", "r52", "imdb")
# Su, Lin and Kuo 2019. Their *imdb* is sentence_polarity. Tables 8 and 9, ratios for N = 2 to 32.
PUBLISHED_RATIOS = {
    "sms_spam": (("1.32e+02", "7.48e+05", "2.60e+12", "5.05e+14", "9.93e+12"), (None, 1.04, 1.0, 1.0, 1.49)),
    "sst": (("8.48e+03", "1.22e+10", "1.28e+15", "8.89e+15", "9.17e+13"), (None, 1.0, 1.0, 1.0, 1.36)),
    "sentence_polarity": (
        ("1.34e+04", "3.49e+09", "1.89e+14", "8.73e+14", "1.05e+13"),
        (None, 1.02, 1.0, 1.0, 1.29),
    ),
}
# Table 7: seconds of TMPCA and of PCA, on their imdb and spam.
PUBLISHED_TIMES = {
    4: ((0.006, 0.019), (0.007, 0.023)),
    8: ((0.008, 0.114), (0.006, 0.090)),
    16: ((0.009, 0.781), (0.007, 0.525)),
    32: ((0.009, 6.562), (0.011, 7.389)),
}
# Tables 4 to 6: accuracy of BoW, LSTM and char-CNN, accuracy / F1 of fastText and TMPCA, seconds, parameters.
PUBLISHED_MODELS = (
    ("agnews", 88.8, 86.1, 87.2, "91.5 / 0.921", "92.1 / 0.930", 1, 0.025, "1.9e+06", 600),
    ("sogou", 92.9, 95.2, 95.1, "93.9 / 0.970", "97.0 / 0.982", 7, 0.081, "8e+06", 600),
    ("dbpedia", 96.6, 98.6, 98.3, "98.1 / 0.986", "98.6 / 0.981", 2, 0.101, "1.2e+07", 600),
    ("yelpp", 92.2, 94.7, 94.7, "93.8 / 0.950", "95.1 / 0.958", 3, 0.106, "1.4e+07", 600),
    ("yelpf", "58.0", 58.2, "62.0", "60.4 / 0.578", "64.1 / 0.594", 4, 0.116, "1.6e+07", 600),
    ("yahoo", 68.9, 70.8, 71.2, "72.0 / 0.695", "72.0 / 0.688", 5, 0.229, "4.7e+07", 600),
    ("amzp", 90.4, 93.9, 94.5, "91.2 / 0.934", "94.2 / 0.962", 10, 0.633, "5e+07", 600),
    ("amzf", 54.6, 59.4, 59.5, "55.8 / 0.533", "59.0 / 0.587", 9, 0.481, "4.4e+07", 600),
)


class Texts(NamedTuple):
    """Training and dev texts, tokenised as in Su, Lin and Kuo 2019: without stop words, and stemmed."""

    train: list[str]
    labels: np.ndarray
    dev: list[str]
    gold: np.ndarray

    def tokens(self, texts: Sequence[str], published: bool = True) -> list[list[str]]:
        return [prepare(text) if published else prepare(text, None, False) for text in texts]


def read(name: str) -> Texts:
    data = corpus(name)
    return Texts(data.texts, data.labels, data.dev_texts, data.dev_labels)


def fasttext_model(tokens: Sequence[Sequence[str]], labels: np.ndarray) -> Any:
    """Train fastText as in Su, Lin and Kuo 2019: ten dimensions, five epochs, rate 0.5."""
    import fasttext

    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        for words, label in zip(tokens, labels, strict=True):
            file.write(f"__label__{label} {' '.join(words)}\n")
        file.flush()
        return fasttext.train_supervised(file.name, dim=SIZE, epoch=5, lr=0.5, thread=1, verbose=0)


def fasttext_labels(model: Any, tokens: Sequence[Sequence[str]]) -> np.ndarray:
    # fastText's own predict does not support numpy 2.
    lines = (" ".join(words) + "\n" for words in tokens)
    found = [(model.f.predict(line, 1, 0.0, "strict") or [(0, "")])[0][1] for line in lines]
    return np.array([label.removeprefix("__label__") for label in found])


def fasttext_accuracy(model: Any, tokens: Sequence[Sequence[str]], gold: np.ndarray) -> float:
    return 100 * float(np.mean(fasttext_labels(model, tokens) == gold))


def fasttext_vectors(model: Any) -> Mapping[str, np.ndarray]:
    return {word: model.get_word_vector(word) for word in model.words}


def eigenwords(tokens: Sequence[Sequence[str]], size: int = SIZE) -> Vectors:
    model = Eigenwords(dimensions=size, min_count=2).fit(InMemoryCorpus([list(each) for each in tokens]))
    return Vectors(model.word_vectors_)


# ---------------------------------------------------------------------------------------------------------
# Three ways to map a sequence to one vector: TMPCA, PCA, the mean


class Ways:
    """Three linear maps of the same centred sequences of vectors to one vector: TMPCA, PCA and the mean."""

    def __init__(self, model: TMPCA, train: Any, dev: Any) -> None:
        self.model = model.fit(train)
        self.train, self.dev = self._rows(train), self._rows(dev)
        size, length = model.size_, model.length
        self.maps = {
            "TMPCA": model.system_matrix_,
            "PCA": pca(self.train, size),
            "mean": np.hstack([np.eye(size)] * length) / length,
        }

    def _rows(self, data: Any) -> np.ndarray:
        batches: Iterable[Any] = self.model.as_corpus(data).batches(4096)
        rows = [centred(batch.examples, self.model.means_) for batch in batches]
        return np.concatenate(rows).reshape(-1, self.model.length * self.model.size_)

    def accuracy(self, name: str, labels: np.ndarray, gold: np.ndarray) -> float:
        dense = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        dense.fit(self.train @ self.maps[name].T, labels)
        return 100 * float(dense.score(self.dev @ self.maps[name].T, gold))

    def information(self, name: str) -> float:
        output = self.train @ self.maps[name].T.astype(np.float64)
        return mutual_information(output.T @ output / len(output), rows=self.maps[name])

    def energy(self, name: str) -> float:
        return float(((self.train @ self.maps[name].T) ** 2).sum() / (self.train**2).sum())


def pca(rows: np.ndarray, size: int) -> np.ndarray:
    """Return the leading principal components of centred rows, from their scatter matrix."""
    _, vectors = np.linalg.eigh((rows.T @ rows).astype(np.float64))
    return vectors[:, ::-1][:, :size].T


def table_of(texts: Texts, vectors: Any, published: bool, **settings: Any) -> list[tuple[object, ...]]:
    """Return a table row for each sequence length: accuracies, ratios of |V| and energies."""
    rows = []
    train, dev = texts.tokens(texts.train, published), texts.tokens(texts.dev, published)
    for length in LENGTHS:
        ways = Ways(TMPCA(vectors=vectors, length=length, **settings), train, dev)
        scores = [f"{ways.accuracy(name, texts.labels, texts.gold):.1f}" for name in ways.maps]
        nats = {name: ways.information(name) for name in ways.maps}
        ratios = [np.exp(2 * (nats[a] - nats[b])) for a, b in (("TMPCA", "mean"), ("PCA", "TMPCA"))]
        energy = [f"{100 * ways.energy(name):.2f}" for name in ("TMPCA", "PCA")]
        rows.append((length, *scores, f"{ratios[0]:.2g}", f"{ratios[1]:.2f}", *energy))
    return rows


HEADER = ("N", "TMPCA %", "PCA %", "mean %", "|V|: TMPCA/mean", "PCA/TMPCA", "energy: TMPCA %", "PCA %")
OF_PAPER = ("paper: TMPCA/mean", "paper: PCA/TMPCA")


def accuracy(arguments: argparse.Namespace) -> None:
    for name in arguments.corpora or CORPORA:
        texts = read(name)
        tokens, every = texts.tokens(texts.train), texts.tokens(texts.train, False)
        supervised = fasttext_model(tokens, texts.labels)
        peer = fasttext_accuracy(supervised, texts.tokens(texts.dev), texts.gold)
        svm = make_pipeline(TfidfVectorizer(sublinear_tf=True), LinearSVC()).fit(texts.train, texts.labels)
        bag = 100 * svm.score(texts.dev, texts.gold)
        print(f"### {name}: fastText {peer:.1f} %, tf-idf with a linear SVM on the raw text {bag:.1f} %\n")
        vectors = fasttext_vectors(supervised)
        unlabelled = eigenwords(every)
        published = table_of(texts, vectors, True, mask_padding=False)
        beside = zip(published, *PUBLISHED_RATIOS[name], strict=True)
        title = "As published (padding is zero), fastText's vectors"
        print(f"{title}\n\n{report.table((*HEADER, *OF_PAPER), [(*row, *each) for row, *each in beside])}\n")
        cases: list[tuple[str, list[tuple[object, ...]]]] = [
            ("Padding masked, fastText's vectors", table_of(texts, vectors, True)),
            ("The same with bigrams", table_of(texts, vectors, True, bigrams=True)),
            ("Padding masked, eigenwords, all words", table_of(texts, unlabelled, False)),
        ]
        for title, rows in cases:
            print(f"{title}\n\n{report.table(HEADER, rows)}\n", flush=True)


def models(arguments: argparse.Namespace) -> None:
    """Print accuracy and macro F1, training seconds and number of parameters of models, and the paper's."""
    rows = [row_of_models(name) for name in arguments.corpora or MODEL_CORPORA]
    rows += [(f"paper: {name}", *cells) for name, *cells in PUBLISHED_MODELS]
    names = ("bag of words", "LSTM", "char-CNN", "fastText", "TMPCA + dense")
    header = ("% / F1", *names, "fastText: s", "TMPCA: s", "fastText: parameters", "TMPCA: parameters")
    print(f"### Tables 4 to 6: bigrams, N = 8, dev\n\n{report.table(header, rows)}\n", flush=True)


def row_of_models(name: str) -> tuple[object, ...]:
    texts = read(name)
    train, dev = texts.tokens(texts.train), texts.tokens(texts.dev)
    classes = len(set(texts.labels))

    def cell(predicted: np.ndarray) -> str:
        right = 100 * float(np.mean(predicted == texts.gold))
        return f"{right:.1f} / {f1_score(texts.gold, predicted, average='macro', zero_division=0.0):.3f}"

    lines, held_out = ([" ".join(words) for words in part] for part in (train, dev))
    bag = make_pipeline(
        CountVectorizer(tokenizer=str.split, token_pattern=None, lowercase=False, max_features=50_000),
        LogisticRegression(max_iter=1000),
    )
    of_bag = cell(bag.fit(lines, texts.labels).predict(held_out))

    started = time.process_time()
    supervised = fasttext_model(train, texts.labels)
    of_peer = time.process_time() - started
    words = SIZE * (len(supervised.words) + classes)

    model = TMPCA(vectors=fasttext_vectors(supervised), length=8, bigrams=True).fit(train)
    elements = model._to_elements(train, 0).values
    seconds = report.timed(lambda: TMPCA(length=8).fit(elements)).seconds
    dense = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    vectors = model.transform(train)
    of_dense = report.timed(lambda: dense.fit(vectors, texts.labels)).seconds
    size = sum(stage.size for stage in model.stages_)
    scores = (cell(fasttext_labels(supervised, dev)), cell(dense.predict(model.transform(dev))))
    times = (f"{of_peer:.3f}", f"{seconds:.3f} + {of_dense:.3f}")
    return (name, of_bag, None, None, *scores, *times, f"{words:,}", f"{size:,} + {(SIZE + 1) * classes:,}")


def timing(arguments: argparse.Namespace) -> None:
    print("### Table 7: seconds to learn, float32\n")
    texts = read("sentence_polarity")
    tokens = texts.tokens(texts.train)
    rows = []
    for size, lengths in ((10, (4, 8, 16, 32, 128, 256)), (50, (8, 16, 32, 64))):
        vectors = eigenwords(tokens, size)
        for length in lengths:
            model = TMPCA(vectors=vectors, length=length, mask_padding=False)
            model.fit(tokens[:10])
            data = model._to_elements(tokens, 0).values
            ours = report.timed(lambda length=length, data=data: TMPCA(length=length).fit(data), 3).seconds
            theirs = report.timed(
                lambda data=data, size=size: centred_pca(data, size), 1 if length > 32 else 3
            ).seconds
            ratio = f"{theirs / ours:.1f}"
            published: list[str | None] = [
                f"{pca / tmpca:.0f} ({tmpca} / {pca})"
                for tmpca, pca in (PUBLISHED_TIMES.get(length, ()) if size == 10 else ())
            ] or [None, None]
            cells = (size * length, f"{ours:.3f}", f"{theirs:.3f}", ratio)
            rows.append((f"D = {size}, N = {length}", *cells, *published))
            sys.stderr.write(f"{rows[-1]}\n")
    print(f"{len(tokens):,} sequences.\n")
    header = ("", "N·D", "TMPCA", "PCA by Gram matrix", "×", "paper, the same sentences: ×", "paper, spam: ×")
    print(report.table(header, rows), end="\n\n")


def centred_pca(data: np.ndarray, size: int) -> np.ndarray:
    rows = data.reshape(len(data), -1)
    return pca(rows - rows.mean(axis=0), size)


def figures(arguments: argparse.Namespace) -> None:
    """Draw figures 4 (accuracy by N) and 5 (energy by stage, N = 32) of Su, Lin and Kuo 2019."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "spectralnlp", "svg.fonttype": "none", "font.size": 9})
    import matplotlib.pyplot as plt

    above, scores = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
    below, energies = plt.subplots(1, 3, figsize=(10, 3.0), layout="constrained")
    for name, axis, energy in zip(CORPORA, scores, energies, strict=True):
        texts = read(name)
        train, dev = texts.tokens(texts.train), texts.tokens(texts.dev)
        supervised = fasttext_model(train, texts.labels)
        vectors = fasttext_vectors(supervised)
        ways = [Ways(TMPCA(vectors=vectors, length=length), train, dev) for length in LENGTHS]
        for kind, style in (("TMPCA", "o-"), ("PCA", "s--"), ("mean", "^:")):
            accuracies = [each.accuracy(kind, texts.labels, texts.gold) for each in ways]
            axis.semilogx(LENGTHS, accuracies, style, base=2, markersize=4, label=kind)
        axis.axhline(fasttext_accuracy(supervised, dev, texts.gold), color="grey", label="fastText")
        axis.set(title=name, xlabel="N", xticks=LENGTHS, xticklabels=LENGTHS)
        stages = [100 * each.energy for each in ways[-1].model.report_]
        energy.plot(range(1, len(stages) + 1), stages, "o-", markersize=4, label="TMPCA")
        energy.axhline(100 * ways[-1].energy("PCA"), linestyle="--", color="tab:orange", label="PCA")
        energy.set(title=name, xlabel="stage", ylim=(0, 100))
    scores[0].set_ylabel("accuracy on dev, %")
    energies[0].set_ylabel("energy, %")
    scores[0].legend()
    energies[0].legend()
    above.savefig(arguments.out / "tmpca-lengths.svg", metadata={"Date": None})
    below.savefig(arguments.out / "tmpca-energy.svg", metadata={"Date": None})


PARTS: report.Parts = {"accuracy": accuracy, "models": models, "time": timing, "figures": figures}


def main() -> None:
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--corpora", nargs="+", choices={*CORPORA, *MODEL_CORPORA}, metavar="NAME")
        parser.add_argument("--out", type=Path, default=Path("docs"), metavar="DIR")

    report.run_parts(__doc__, PARTS, add_arguments)


if __name__ == "__main__":
    main()
