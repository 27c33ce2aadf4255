"""Compare text classifiers with their peers: few and many labels, unlabelled text, long texts, speed.

- *few*: accuracy on dev with a few examples per intent, mean over seeds; *full*: with all examples. The peer
  is a linear SVM on tf-idf of words (1–2) and characters (2–5) of the labelled texts. Unlabelled texts are
  the training texts of all five corpora, without their labels.
- *small*: Model2Vec's protocol, 1,000 training texts of each corpus, compared with tf-idf and fastText.
- *featurizers*: the classifier over each registered featurizer instead of its own directions.
- *sent*: the SENT paper's table 1, a Crammer–Singer SVM on counts, eigenwords, SENT and SENT+.
- *amount*: the paper's table 2, SENT+ with 0, 50 and 100 % of the unlabelled texts.
- *imdb*: film reviews with 100, 500 and 2,000 labels, mean over five draws.
- *ablation*: the contribution of each part of the classifier, measured inside the training sets.
- *scope*: out-of-scope queries (CLINC150): the share that is refused when 90 % of the other queries are
  answered correctly and not refused.
- *speed*: texts per second on one core.

    python -m benchmarks.intents few full
    python -m benchmarks.intents sent amount
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.svm import LinearSVC
from spectralnlp_sketch import SENT, HashedNgrams, IntentClassifier, SENTPlus, with_unlabelled
from spectralnlp_sketch.hashing.ngrams import spaced_words
from spectralnlp_sketch.intent.prior import Prior

from benchmarks import intents_ablation, intents_long, intents_small
from benchmarks.labelled import (
    FEW,
    INTENTS,
    LABELS_ONLY,
    Labelled,
    corpus,
    draw_each,
    learned_prior,
    peer,
    pool,
    prior,
    read_tsv,
    standard_error,
)
from spectralnlp.estimators.eigenwords import Eigenwords
from spectralnlp.models.vectors import Vectors
from spectralnlp.runtime import InMemoryCorpus

# Kim, Stratos and Sarikaya 2015: averages of table 1, with GloVe 6B-50d for eigenwords, and table 2.
PUBLISHED_SENT = (91.99, 92.89, 93.49, 93.56)
PUBLISHED_AMOUNTS = (
    ("apps", 89.16, 91.9, 94.3),
    ("music", 87.87, 91.26, 91.33),
    ("tv", 91.42, 94.67, 95.47),
)
SHARES = (0, 50, 100)
AMOUNT_CORPORA = ("atis", "snips")
COUNTS = HashedNgrams(words=(1, 3), characters=None, n_features=2**18, weighting="counts", norm=False)


def few_table(n: int, seeds: int) -> str:
    """Return a table of mean accuracies over draws of ``n`` examples per intent.

    In brackets is the difference to the peer with its standard error.
    """
    rows: list[list[object]] = [["tf-idf, linear SVM"], ["intent"]]
    for name in FEW:
        peers, ours = np.array([scores_of_draw(name, n, seed) for seed in range(seeds)]).T
        rows[0].append(f"{peers.mean():.1f}")
        difference = f"({(ours - peers).mean():+.1f} ± {standard_error(ours - peers):.1f})"
        rows[1].append(f"{ours.mean():.1f} {difference}")
    return report.table((f"{n} examples an intent", *FEW), rows)


def scores_of_draw(name: str, n: int, seed: int) -> tuple[float, float]:
    """Return the accuracies of the peer and of the classifier, trained on a random draw of examples.

    Args:
        name: name of the corpus.
        n: number of examples per intent.
        seed: seed of the draw.
    """
    data = corpus(name)
    which = draw_each(data.labels, n, seed)
    texts, labels = [data.texts[i] for i in which], data.labels[which]
    ours = IntentClassifier(**LABELS_ONLY).fit_head(prior(), *with_unlabelled(texts, labels, pool()))
    models = peer().fit(texts, labels), ours
    of_peer, of_ours = (data.score(model.predict(data.dev_texts)) for model in models)
    print(name, seed, f"{of_peer:.1f} {of_ours:.1f}", file=sys.stderr, flush=True)
    return of_peer, of_ours


def full_table() -> str:
    """Return a table of accuracies with all examples, and of paired differences with their 95 % intervals."""
    shared = learned_prior(pool(), len(pool()))
    make: Callable[[], Any] = partial(IntentClassifier, **LABELS_ONLY)
    rows: list[list[object]] = [["tf-idf, linear SVM"], ["intent"], ["… and unlabelled texts"]]
    differences = []
    for data in map(corpus, INTENTS):
        labelled = data.texts, data.labels
        models: list[Any] = [peer().fit(*labelled), make().fit(*labelled)]
        models.append(make().fit_head(shared, *with_unlabelled(*labelled, pool())))
        right = [100.0 * (model.predict(data.dev_texts) == data.dev_labels) for model in models]
        differences.append([each - right[0] for each in right])
        for n, each in enumerate(right):
            rows[n].append(f"{each.mean():.1f} {paired([each - right[0]]) if n else ''}".strip())
    for n, row in enumerate(rows):
        row.append(paired([each[n] for each in differences]) if n else "")
    return report.table(("all examples", *INTENTS, "mean difference"), rows)


def paired(differences: Sequence[np.ndarray]) -> str:
    """Return the mean difference over corpora, with an interval from the variance over texts.

    Args:
        differences: for each corpus, the difference of two classifiers on each text.
    """
    mean = float(np.mean([each.mean() for each in differences]))
    variance = sum(each.var() / len(each) for each in differences) / len(differences) ** 2
    return f"({mean:+.1f} ± {1.96 * variance**0.5:.1f})"


def mean_eigenwords(texts: Sequence[str]) -> Callable[[Sequence[str]], sp.csr_matrix]:
    """Return the mean eigenwords of texts, scaled to length 1, as the SENT paper does with GloVe."""
    learned = Eigenwords(dimensions=50, spelling=False).fit(InMemoryCorpus(spaced_words(texts)))
    vectors = Vectors(learned.word_vectors_)

    def mean(lines: Sequence[str]) -> sp.csr_matrix:
        sums = np.stack([vectors.vectors(line.split() or [""]).sum(axis=0) for line in spaced_words(lines)])
        return sp.csr_matrix(sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9))

    return mean


FEATURIZERS = ("sent", "frequent-directions", "dcot", "tmpca")


def featurizer_table(n: int, seeds: int) -> str:
    """Return a table of accuracy with each featurizer; in brackets the difference to that without directions.

    The head is trained on ``n`` examples per intent, the directions on the unlabelled queries.
    """
    names = ("no directions", "built in", *FEATURIZERS)
    found = {name: list(scores_over(name, n, seeds)) for name in names}
    for name in names:
        print(name, [f"{each.mean():.1f}" for each in found[name]], file=sys.stderr, flush=True)
    titles = (f"{n} examples an intent, and unlabelled queries", "all, and unlabelled queries", "all, alone")
    tables = []
    for part, title in enumerate(titles):
        columns = range(part * len(FEW), (part + 1) * len(FEW))
        rows = [[name, *(cell_of(found, name, column, part) for column in columns)] for name in names]
        tables.append(report.table((title, *FEW), rows))
    return "\n\n".join(tables)


def cell_of(found: Mapping[str, Sequence[np.ndarray]], name: str, column: int, part: int) -> str:
    """Return a table cell of a featurizer: the mean accuracy, and the difference to that without directions.

    Args:
        found: scores by name of the featurizer, as `scores_over` yields them, an array for each column.
        name: name of the featurizer.
        column: index of the column of the scores.
        part: 0 for accuracies of draws; any other number for the correctness of texts.
    """
    scores, plain = found[name][column], found["no directions"][column]
    if name == "no directions":
        return f"{scores.mean():.1f}"
    if part:
        return f"{scores.mean():.1f} {paired([scores - plain])}"
    return f"{scores.mean():.1f} ({(scores - plain).mean():+.1f} ± {standard_error(scores - plain):.1f})"


def scores_over(name: str, n: int, seeds: int) -> Iterator[np.ndarray]:
    """Yield the scores of a featurizer, an array for each column of the table.

    First come accuracies for each draw of examples, then the correctness of each text, with features learned
    with and without unlabelled queries; each of the three is yielded for every corpus.

    Args:
        name: name of the featurizer, or ``no directions``.
        n: number of examples per intent.
        seeds: number of draws.
    """
    make = partial(IntentClassifier, featurizer=name if name in FEATURIZERS else None, **LABELS_ONLY)

    def learned(texts: Sequence[str], n_labelled: int = 0) -> Prior:
        found = make().learn_prior(texts, n_labelled)[0]
        return replace(found, projection=found.projection[:, :0]) if name == "no directions" else found

    few, full = learned(pool()), learned(pool(), len(pool()))
    for data in map(corpus, FEW):
        drawn = [draw_each(data.labels, n, seed) for seed in range(seeds)]
        yield np.array([score_over(few, data, which) for which in drawn])
    for data in map(corpus, FEW):
        yield 100.0 * (
            make().fit_head(full, data.texts, data.labels).predict(data.dev_texts) == data.dev_labels
        )
    for data in map(corpus, FEW):
        own = learned(data.texts, len(data.texts))
        yield 100.0 * (
            make().fit_head(own, data.texts, data.labels).predict(data.dev_texts) == data.dev_labels
        )


def score_over(prior: Prior, data: Labelled, which: np.ndarray) -> float:
    """Return the accuracy of the linear classifier (head) over given features.

    Args:
        prior: the features.
        data: the corpus.
        which: indices of the labelled training texts.
    """
    texts = [data.texts[i] for i in which]
    return data.score(
        IntentClassifier(**LABELS_ONLY).fit_head(prior, texts, data.labels[which]).predict(data.dev_texts)
    )


def sent_table(n: int, seeds: int) -> str:
    """Return the SENT paper's table 1 with ``n`` examples per intent.

    In brackets is the difference to the SVM on counts.
    """
    mean = mean_eigenwords(pool())
    sent = SENT(output="all").fit(pool())
    scores = np.zeros((len(INTENTS), seeds, 4))
    for at, name in enumerate(INTENTS):
        data = corpus(name)
        dev, dev_mean, dev_sent = (each(data.dev_texts) for each in (COUNTS.transform, mean, sent.transform))
        for seed in range(seeds):
            which = draw_each(data.labels, n, seed)
            texts, labels = [data.texts[i] for i in which], data.labels[which]
            beside = sp.hstack([COUNTS.transform(texts), mean(texts)]), sp.hstack([dev, dev_mean])
            scores[at, seed] = [
                score_of_counts(data, texts, labels),
                crammer_singer(sp.csr_matrix(beside[0]), labels, sp.csr_matrix(beside[1]), data),
                crammer_singer(sent.transform(texts), labels, dev_sent, data),
                score_of_sent_plus(data, texts, labels, pool()),
            ]
        print(name, *scores[at].mean(axis=0).round(1), file=sys.stderr, flush=True)
    rows = [[name, *nearest_first(each)] for name, each in zip(INTENTS, scores, strict=True)]
    rows.append(["mean", *nearest_first(scores.mean(axis=0))])
    first, *others = PUBLISHED_SENT
    differences = (f"{each:.1f} ({each - first:+.1f})" for each in others)
    rows.append(["paper: 22 domains, all examples", f"{first:.1f}", *differences])
    return report.table((f"{n} examples an intent", "counts", "eigenwords", "SENT", "SENT+"), rows)


def nearest_first(scores: np.ndarray) -> list[str]:
    """Return table cells of models: mean scores, and differences to the first model with standard errors.

    Args:
        scores: scores (n_draws, n_models).
    """
    first = scores[:, 0]
    cells = [f"{first.mean():.1f}"]
    for each in scores.T[1:]:
        cells.append(f"{each.mean():.1f} ({(each - first).mean():+.1f} ± {standard_error(each - first):.1f})")
    return cells


def crammer_singer(train: Any, labels: np.ndarray, dev: Any, data: Labelled) -> float:
    model = LinearSVC(multi_class="crammer_singer", max_iter=2000)
    return data.score(model.fit(train, labels).predict(dev))


def amount_table(n: int) -> str:
    """Return the SENT paper's table 2: SENT+ by the share of the unlabelled texts, with few and all labels.

    Each cell has its own first model, projection and SVM. Without unlabelled texts it is the SVM on counts.

    Args:
        n: number of examples per intent, where there are few.
    """
    order = np.random.default_rng(0).permutation(len(pool()))
    rows: list[list[object]] = []
    for name in AMOUNT_CORPORA:
        data = corpus(name)
        for title, which in (
            (f"{name}, {n} examples an intent", draw_each(data.labels, n, 0)),
            (f"{name}, all examples", np.arange(len(data.texts))),
        ):
            texts, labels = [data.texts[i] for i in which], data.labels[which]
            scores = [score_of_counts(data, texts, labels)]
            for share in SHARES[1:]:
                some = [pool()[i] for i in order[: round(share / 100 * len(order))]]
                scores.append(score_of_sent_plus(data, texts, labels, some))
            rows.append([title, *(f"{score:.1f}" for score in scores)])
            print(rows[-1], file=sys.stderr, flush=True)
    rows += [[f"paper: {name}", *cells] for name, *cells in PUBLISHED_AMOUNTS]
    return report.table(("SENT+, unlabelled texts", *(f"{share} %" for share in SHARES)), rows)


def score_of_counts(data: Labelled, texts: Sequence[str], labels: np.ndarray) -> float:
    train, dev = (sp.csr_matrix(COUNTS.transform(each)) for each in (texts, data.dev_texts))
    return crammer_singer(train, labels, dev, data)


def score_of_sent_plus(
    data: Labelled, texts: Sequence[str], labels: np.ndarray, unlabelled: Sequence[str]
) -> float:
    plus = SENTPlus(output="all")
    own = plus.fit_transform(*with_unlabelled(texts, labels, unlabelled))[: len(texts)]
    return crammer_singer(own, labels, plus.transform(data.dev_texts), data)


def scope_table() -> str:
    data = corpus("clinc150")
    outside = read_tsv(report.CORPORA / "intents/clinc150/oos_dev.tsv")[0]
    rows = []
    for n in (5, 20, None):
        which = np.arange(len(data.texts)) if n is None else draw_each(data.labels, n, 0)
        texts = [data.texts[i] for i in which]
        model = IntentClassifier().fit_head(prior(), *with_unlabelled(texts, data.labels[which], pool()))
        right = model.predict(data.dev_texts) == data.dev_labels
        inside, away = model.out_of_scope(data.dev_texts), model.out_of_scope(outside)
        confidence = model.predict_proba(data.dev_texts).max(axis=1)
        rows.append(
            [
                "all" if n is None else n,
                f"{100 * right.mean():.1f}",
                f"{100 * confidence.mean():.1f}",
                refused(inside, right, away, 0.9),
                refused(inside, right | True, away, 0.9),
                f"{auc(inside, away):.3f}",
            ]
        )
    header = (
        "examples an intent",
        "accuracy",
        "mean confidence",
        "refused, 90 % answered right",
        "refused, 90 % answered",
        "AUC",
    )
    return report.table(header, rows)


def refused(inside: np.ndarray, right: np.ndarray, outside: np.ndarray, share: float) -> str | None:
    """Return the percentage of out-of-scope queries that are refused at a given rate of correct answers.

    Args:
        inside: out-of-scope scores of in-scope queries.
        right: whether each of them is classified correctly.
        outside: out-of-scope scores of out-of-scope queries.
        share: share of in-scope queries to be answered correctly; None is returned if it cannot be reached.
    """
    thresholds = np.sort(inside)
    enough = [t for t in thresholds if (right & (inside <= t)).mean() >= share]
    return f"{100 * (outside > enough[0]).mean():.0f}" if enough else None


def auc(inside: np.ndarray, outside: np.ndarray) -> float:
    return float((outside[:, None] > inside[None]).mean() + 0.5 * (outside[:, None] == inside[None]).mean())


def speed_table() -> str:
    rows = []
    for name in ("clinc150", "banking77"):
        data = corpus(name)
        which = draw_each(data.labels, 20, 0)
        texts = [data.texts[i] for i in which]
        ours = IntentClassifier().fit_head(prior(), texts, data.labels[which])
        theirs = peer().fit(data.texts, data.labels)
        ours.predict(data.dev_texts[:2])
        seconds = [report.timed(partial(model.predict, data.texts), 3).seconds for model in (theirs, ours)]
        seconds.append(
            report.timed(
                lambda model=ours, texts=data.texts: list(model.classifier_.classify_many(texts)), 3
            ).seconds
        )
        names = ("tf-idf, linear SVM", "intent, labels", "intent, labels and confidences")
        for called, each in zip(names, seconds, strict=True):
            row = [f"{name}: {called}", f"{len(data.texts) / each:,.0f}", f"{seconds[0] / each:.1f}"]
            rows.append(row)
    return report.table(("one core", "texts/s", "times as fast"), rows)


def main() -> None:
    """Run the parts of the benchmark that the command line names, and print their tables."""
    parser = report.argument_parser(__doc__)
    known = ("few", "full", "featurizers", "small", "sent", "amount", "imdb", "ablation", "scope", "speed")
    parser.add_argument("parts", nargs="*", choices=[[], *known], help="default: all", metavar="PART")
    parser.add_argument("--examples", type=int, default=5, help="of an intent")
    parser.add_argument("--sent-examples", type=int, default=5, help="of an intent, for sent")
    parser.add_argument("--texts", type=int, default=1000, help="for small")
    parser.add_argument("--small-draws", type=int, default=1, help="for small")
    parser.add_argument("--seeds", type=int, default=10, help="draws of examples")
    parser.add_argument("--draws", type=int, default=5, help="of IMDB's labels")
    parser.add_argument("--reviews", type=int, default=50_000, help="unlabelled ones")
    arguments = parser.parse_args()
    parts = arguments.parts or list(known)
    print(report.machine(), flush=True)
    warnings.simplefilter("ignore")
    tables: dict[str, Callable[[], str]] = {
        "few": lambda: few_table(arguments.examples, arguments.seeds),
        "full": full_table,
        "featurizers": lambda: featurizer_table(arguments.examples, arguments.seeds),
        "small": lambda: intents_small.small_table(arguments.texts, arguments.small_draws),
        "sent": lambda: sent_table(arguments.sent_examples, arguments.seeds),
        "amount": lambda: amount_table(arguments.examples),
        "imdb": lambda: intents_long.imdb_table(arguments.reviews, arguments.draws),
        "ablation": intents_ablation.ablation_table,
        "scope": scope_table,
        "speed": speed_table,
    }
    for part in parts:
        print(f"\n{tables[part]()}", flush=True)


if __name__ == "__main__":
    main()
