"""Compare sequence models by perplexity, accuracy of the next symbol and training time.

The two data sets are 8,000 sentences of the Brown corpus as parts of speech (82 symbols), and as the 1,000
most frequent words with one symbol for all others. Perplexity is per symbol on dev, without an end symbol.
The peers are hmmlearn's EM, run in the same process on the same data, and n-grams; all are scored by the same
code.

    python -m benchmarks.hmm
    python -m benchmarks.hmm tags --no-peers
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from spectralnlp.estimators.hmm import HMM, HMMEM
from spectralnlp.inference.chains.filtering import Filter, run_sequences
from spectralnlp.inference.chains.forward_backward import HiddenFilter
from spectralnlp.models.sequence_model import SequenceModel
from spectralnlp.parameters import HiddenMarkov
from spectralnlp.runtime import Corpus, InMemoryCorpus
from spectralnlp.tasks.sequences import SequenceTask

BROWN = report.CORPORA / "tagging" / "brown"
MAX_SYMBOLS = {"tags": 50_000, "words": 1_000}

LADDER: Sequence[tuple[str, dict[str, str]]] = (
    ("`hmm:preset=tutorial`, as published, 20 states", {"preset": "tutorial"}),
    ("… all triples", {"preset": "tutorial", "triples": "all"}),
    ("… and CCA whitening", {"preset": "tutorial", "triples": "all", "whitening": "true"}),
    (
        "… and the stabiliser",
        {"preset": "tutorial", "triples": "all", "whitening": "true", "stabilise": "true"},
    ),
    ("`hmm`, 20 states, history 1", {"n_states": "20", "history": "1", "target": "2"}),
    ("… history 2", {"n_states": "20"}),
    ("… 60 states: `hmm`", {}),
    ("`hmm` without leaving out", {"leave_one_out": "false"}),
    ("`hmm`, history 3, target 3", {"history": "3", "target": "3"}),
    ("`hmm`, 120 states", {"n_states": "120"}),
)
EM: Sequence[tuple[str, dict[str, str]]] = (
    ("`hmm-em`, 20 states, spectral start, no EM", {"n_states": "20", "iterations": "0"}),
    ("… 10 iterations", {"n_states": "20", "iterations": "10"}),
    ("… 25 iterations", {"n_states": "20", "iterations": "25"}),
    ("`hmm-em:preset=random`, 20 states, 25 iterations", {"preset": "random", "n_states": "20"}),
    ("`hmm-em`, 100 states, no EM", {"iterations": "0"}),
    ("… 5 iterations: `hmm-em`", {}),
)


@dataclass(frozen=True)
class Data:
    """Train and dev sequences of symbols, and the number of symbols in the vocabulary."""

    train: list[list[str]]
    dev: list[list[str]]
    max_symbols: int

    @classmethod
    def read(cls, kind: str) -> Data:
        train, dev = (
            [line.split() for line in (BROWN / f"{kind}.{part}.txt").read_text(encoding="utf-8").splitlines()]
            for part in ("train", "dev")
        )
        return cls(train, dev, MAX_SYMBOLS[kind])

    def vocabulary(self) -> list[str]:
        """Symbols of the vocabulary, the most frequent first."""
        counts = Counter(symbol for sequence in self.train for symbol in sequence)
        return sorted(counts, key=lambda symbol: (-counts[symbol], symbol))[: self.max_symbols]

    def encoded(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Train and dev as symbol ids; the last id stands for all other symbols."""
        index = {symbol: number for number, symbol in enumerate(self.vocabulary())}
        return tuple(  # type: ignore[return-value]
            [np.array([index.get(symbol, len(index)) for symbol in sequence], np.int32) for sequence in part]
            for part in (self.train, self.dev)
        )


def row(name: str, seconds: float, filter_: Filter, data: Data, peer_seconds: float | None) -> list[object]:
    """Return the table row of a model, scored on dev; predictions are checked to be distributions.

    Args:
        name: name of the model.
        seconds: training time.
        filter_: filter that predicts symbols.
        data: the data.
        peer_seconds: training time of the peer; None if there is none.
    """
    model = SequenceModel(filter_)
    scores = SequenceTask().evaluate(model, InMemoryCorpus(data.dev))
    least, off = 1.0, 0.0

    def check(which, position, p, states, symbols):  # type: ignore[no-untyped-def]
        nonlocal least, off
        least, off = min(least, float(p.min())), max(off, float(np.abs(p.sum(axis=1) - 1).max()))

    run_sequences(filter_, [model.encode(sequence) for sequence in data.dev], check)
    proper = "all" if least >= 0 and off < 1e-9 else f"min {least:.1g}, sum off by {off:.1g}"
    faster = None if peer_seconds is None else f"{peer_seconds / seconds:,.1f}"
    return [name, f"{scores.perplexity:.2f}", f"{scores.accuracy:.1f}", f"{seconds:.2f}", faster, proper]


def fit_hmmlearn(data: Data) -> tuple[float, Filter]:
    """Train hmmlearn's HMM by EM, with 20 states and 25 iterations from a random start.

    Returns training seconds, and a filter that predicts symbols.
    """
    from hmmlearn.hmm import CategoricalHMM

    train, _ = data.encoded()
    symbols = (*data.vocabulary(), "<unknown>")
    model = CategoricalHMM(n_components=20, n_iter=25, tol=0, random_state=0, n_features=len(symbols))
    started = perf_counter()
    model.fit(np.concatenate(train)[:, None], [len(sequence) for sequence in train])
    seconds = perf_counter() - started
    emission = (
        model.emissionprob_.T + 1e-7
    )  # smoothing, since unseen symbols would otherwise have probability 0
    hidden = HiddenMarkov(
        symbols=symbols,
        initial=model.startprob_,
        transition=model.transmat_.T,
        emission=emission / emission.sum(axis=0),
    )
    return seconds, HiddenFilter(hidden)


def ngram_perplexity(data: Data, order: int) -> tuple[float, float, float]:
    """Return training seconds, perplexity and accuracy of interpolated n-grams (Witten and Bell 1991)."""
    train, dev = data.encoded()
    V = len(data.vocabulary()) + 1
    started = perf_counter()
    levels: list[dict[tuple[int, ...], Counter[int]]] = [{} for _ in range(order)]
    for sequence in train:
        padded = [-1] * (order - 1) + sequence.tolist()
        for position in range(order - 1, len(padded)):
            for length, level in enumerate(levels):
                history = tuple(padded[position - length : position])
                level.setdefault(history, Counter())[padded[position]] += 1
    seconds = perf_counter() - started
    known: dict[tuple[int, ...], np.ndarray] = {}

    def distribution(history: tuple[int, ...]) -> np.ndarray:
        if history not in known:
            shorter = distribution(history[1:]) if history else np.full(V, 1 / V)
            counts = levels[len(history)].get(history)
            if counts is None:
                known[history] = shorter
            else:
                total, kinds = counts.total(), len(counts)
                p = shorter * (kinds / (total + kinds))
                p[list(counts)] += np.array(list(counts.values())) / (total + kinds)
                known[history] = p
        return known[history]

    logarithm, correct, n = 0.0, 0, 0
    for sequence in dev:
        padded = [-1] * (order - 1) + sequence.tolist()
        for position in range(order - 1, len(padded)):
            p = distribution(tuple(padded[position - order + 1 : position]))
            logarithm += np.log(p[padded[position]])
            correct += int(p.argmax()) == padded[position]
            n += 1
    return seconds, float(np.exp(-logarithm / n)), 100 * correct / n


def table(kind: str, peers: bool) -> str:
    """Return the table of all models on one data set.

    Args:
        kind: name of the data set, parts of speech or words.
        peers: whether to include peers.
    """
    data = Data.read(kind)
    corpus = InMemoryCorpus(data.train)
    common = {"max_symbols": str(data.max_symbols)}
    rows: list[list[object]] = []
    peer_seconds = None
    if peers:
        peer_seconds, filter_ = fit_hmmlearn(data)
        rows.append(row("hmmlearn EM, 20 states, 25 iterations", peer_seconds, filter_, data, peer_seconds))
    for order, name in ((2, "bigrams, Witten–Bell"), (3, "trigrams, Witten–Bell")):
        seconds, perplexity, accuracy = ngram_perplexity(data, order)
        rows.append([name, f"{perplexity:.2f}", f"{accuracy:.1f}", f"{seconds:.2f}", None, "all"])
    for estimator, settings in ((HMM, LADDER), (HMMEM, EM)):
        for name, each in settings:
            learner = estimator.from_settings({**each, **common})
            seconds, filter_ = report.timed(
                lambda learner=learner: learner.fit(corpus).filter_, clock=perf_counter
            )
            rows.append(row(name, seconds, filter_, data, peer_seconds))
    header = ("model", "perplexity", "accuracy", "training s", "times as fast as hmmlearn", "distributions")
    return report.table(header, rows)


def warm_up() -> None:
    """Compile or load the kernels before any model is timed."""
    small: Corpus[Sequence[str]] = InMemoryCorpus([["a", "b", "c", "a"], ["b", "a"]] * 3)
    for learner in (HMM(n_states=2), HMMEM(n_states=2, iterations=1)):
        SequenceTask().evaluate(SequenceModel(learner.fit(small).filter_), small)


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its tables."""
    parser = report.argument_parser(__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", help="tags, words; default both")
    parser.add_argument("--no-peers", action="store_true", help="leave hmmlearn out, which takes minutes")
    arguments = parser.parse_args()
    print(report.machine())
    warm_up()
    warnings.simplefilter("ignore")
    for kind in arguments.sets or MAX_SYMBOLS:
        print(f"\n### {kind}\n\n{table(kind, not arguments.no_peers)}")


if __name__ == "__main__":
    main()
