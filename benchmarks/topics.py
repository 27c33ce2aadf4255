"""Compare topic models with scikit-learn's latent Dirichlet allocation on planted topics and on Reuters.

Planted: documents are drawn from ten known topics over 1,000 words; the error is the mean L1 distance (0 to
2) of each true topic to the learned topic that it is matched with. Reuters-21578: training stories in random
order, nine tenths for training and one tenth for coherence, the mean NPMI of each topic's ten likeliest words
in documents. Both models get the same words; ours also chooses the vocabulary, which scikit-learn is given.

    python -m benchmarks.topics
    python -m benchmarks.topics planted
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import gzip
import json
import warnings
from collections.abc import Sequence
from random import Random
from time import perf_counter

import numpy as np

from spectralnlp.estimators.topics import TopicModel
from spectralnlp.inference.topics.bags import bags
from spectralnlp.runtime import InMemoryCorpus
from spectralnlp.scoring.coherence import npmi_coherence
from spectralnlp.text.content import content_words

REUTERS = report.CORPORA / "textcat" / "reuters21578.train.jsonl.gz"
EVERYTHING = {"min_documents": "1", "max_share": "1"}
SETTINGS: Sequence[dict[str, str]] = (
    {"preset": "tutorial"},
    {"em_iterations": "3"},
    {},
    {"em_iterations": "10"},
    {"scaling": "true"},
    {"alpha0": "0"},
)
SEEDS = 2
N_TOP = 10

Documents = list[list[str]]


def name_of(settings: dict[str, str]) -> str:
    return "`topics" + (":" + ",".join(f"{k}={v}" for k, v in settings.items()) if settings else "") + "`"


def fit_ours(
    documents: Documents, k: int, settings: dict[str, str], seed: int
) -> tuple[float, np.ndarray, tuple[str, ...]]:
    """Train this package's topic model.

    Args:
        documents: the documents.
        k: number of topics.
        settings: further settings.
        seed: seed of training.

    Returns:
        Training seconds, topics (k, V) and the vocabulary.
    """
    learner = TopicModel.from_settings({"n_topics": str(k), "random_state": str(seed), **settings})
    started = perf_counter()
    topics = learner.fit(InMemoryCorpus(documents)).topics_
    return perf_counter() - started, topics.topics, topics.words


def fit_sklearn(
    documents: Documents, words: Sequence[str], k: int, iterations: int, seed: int
) -> tuple[float, np.ndarray]:
    """Train scikit-learn's latent Dirichlet allocation, by batch variational Bayes.

    Args:
        documents: the documents.
        words: the vocabulary.
        k: number of topics.
        iterations: number of iterations.
        seed: seed of training.

    Returns:
        Training seconds and topics (k, V).
    """
    from sklearn.decomposition import LatentDirichletAllocation

    index = {word: number for number, word in enumerate(words)}
    started = perf_counter()
    counts = bags(documents, index, len(words))
    model = LatentDirichletAllocation(k, max_iter=iterations, random_state=seed).fit(counts)
    seconds = perf_counter() - started
    return seconds, model.components_ / model.components_.sum(axis=1, keepdims=True)


def planted(n_documents: int, k: int = 10, V: int = 1000, length: int = 100) -> tuple[Documents, np.ndarray]:
    """Return random documents and the topics (k, V) from which they are drawn.

    Mixtures of documents are drawn from a Dirichlet distribution with α0 = 1.

    Args:
        n_documents: number of documents.
        k: number of topics.
        V: number of words.
        length: number of words of a document.
    """
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(V, 0.05), size=k)
    mixtures = rng.dirichlet(np.full(k, 1 / k), size=n_documents)
    numbers = [rng.choice(V, size=length, p=mixture @ topics) for mixture in mixtures]
    return [[f"w{number}" for number in row] for row in numbers], topics


def matching_error(found: np.ndarray, words: Sequence[str], truth: np.ndarray) -> float:
    """Return the mean L1 distance of learned topics to the true ones, under the best matching.

    Args:
        found: learned topics (k, n_words).
        words: the words of their columns.
        truth: true topics (k, V).
    """
    from scipy.optimize import linear_sum_assignment

    ordered = np.zeros((len(found), truth.shape[1]))
    ordered[:, [int(word[1:]) for word in words]] = found
    distance = np.abs(ordered[:, None] - truth[None]).sum(axis=2)
    rows, columns = linear_sum_assignment(distance)
    missing = len(truth) - len(rows)
    return float((distance[rows, columns].sum() + 2 * missing) / len(truth))


def planted_table() -> str:
    rows: list[list[object]] = []
    for n in (500, 2000, 8000):
        documents, truth = planted(n)
        words = sorted({word for document in documents for word in document})
        seconds_sklearn, found = fit_sklearn(documents, words, 10, 10, 0)
        error = matching_error(found, words, truth)
        rows.append([f"{n:,} documents: scikit-learn LDA", f"{error:.3f}", f"{seconds_sklearn:.1f}", "1.0"])
        for settings in ({"preset": "tutorial"}, {}, {"em_iterations": "10"}):
            seconds, found, ours = fit_ours(documents, 10, {**settings, **EVERYTHING}, 0)
            error = matching_error(found, ours, truth)
            rows.append(
                [name_of(settings), f"{error:.3f}", f"{seconds:.1f}", f"{seconds_sklearn / seconds:.1f}"]
            )
    return report.table(("planted topics", "error", "s", "times as fast"), rows)


def reuters() -> tuple[Documents, Documents]:
    """Return training and held-out documents of Reuters; stories that were sent twice are not in both."""
    with gzip.open(REUTERS, "rt", encoding="utf-8") as lines:
        stories = [json.loads(line) for line in lines]
    documents = [content_words(f"{story['title'] or ''} {story['body'] or ''}") for story in stories]
    Random(0).shuffle(documents)
    tenth = len(documents) // 10
    held = set(map(tuple, documents[:tenth]))
    return [each for each in documents[tenth:] if tuple(each) not in held], documents[:tenth]


def reuters_table(k: int) -> str:
    train, held_out = reuters()
    rows: list[list[object]] = []
    _, _, vocabulary = fit_ours(train, k, {"em_iterations": "0"}, 0)
    runs = []
    for seed in range(SEEDS):
        seconds, topics = fit_sklearn(train, vocabulary, k, 10, seed)
        runs.append((seconds, coherence(topics, vocabulary, held_out)))
    peer_seconds = float(np.mean([seconds for seconds, _ in runs]))
    rows.append(["scikit-learn LDA, 10 iterations", *cells(runs, peer_seconds)])
    for settings in SETTINGS:
        runs = []
        for seed in range(SEEDS):
            seconds, topics, words = fit_ours(train, k, settings, seed)
            runs.append((seconds, coherence(topics, words, held_out)))
        rows.append([name_of(settings), *cells(runs, peer_seconds)])
    return report.table((f"Reuters, {k} topics", "coherence", "± seeds", "s", "times as fast"), rows)


def coherence(topics: np.ndarray, words: Sequence[str], held_out: Documents) -> float:
    counts = bags(held_out, {word: number for number, word in enumerate(words)}, len(words))
    return float(npmi_coherence(np.argsort(-topics, axis=1)[:, :N_TOP].tolist(), counts).mean())


def cells(runs: list[tuple[float, float]], peer_seconds: float) -> list[object]:
    seconds, scores = np.array(runs).T
    spread = f"{scores.std():.3f}" if len(runs) > 1 else None
    return [f"{scores.mean():.3f}", spread, f"{seconds.mean():.1f}", f"{peer_seconds / seconds.mean():.1f}"]


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its tables."""
    parser = report.argument_parser(__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="planted, reuters; default both")
    arguments = parser.parse_args()
    parts = arguments.parts or ["planted", "reuters"]
    print(report.machine())
    warnings.simplefilter("ignore")
    fit_ours(planted(30)[0], 2, EVERYTHING, 0)  # load the kernels
    if "planted" in parts:
        print(f"\n{planted_table()}")
    if "reuters" in parts:
        for k in (20, 50):
            print(f"\n{reuters_table(k)}")


if __name__ == "__main__":
    main()
