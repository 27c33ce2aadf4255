"""Evaluate classifiers of long texts (film reviews): the part ``imdb`` of `benchmarks.intents`."""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import sys
from itertools import islice

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from spectralnlp_sketch import IntentClassifier, with_unlabelled

from benchmarks.labelled import LABELS_ONLY, corpus, draw_each, learned_prior, peer, standard_error
from spectralnlp.runtime import open_text

IMDB_LABELS = (100, 500, 2000)


def imdb_table(n_unlabelled: int, draws: int) -> str:
    """Return a table of mean accuracies over draws; in brackets the difference to the better peer.

    Args:
        n_unlabelled: number of unlabelled reviews.
        draws: number of random draws of labelled reviews.
    """
    data = corpus("imdb")
    with open_text(report.CORPORA / "text/imdb_unsup.txt.gz") as lines:
        plain = list(islice(lines, n_unlabelled))
    shared = learned_prior(plain)
    rows: list[list[object]] = [["tf-idf of words, linear SVM"], ["tf-idf, linear SVM"], ["intent"]]
    for n in IMDB_LABELS:
        scores = []
        for seed in range(draws):
            which = draw_each(data.labels, n // 2, seed)
            texts, labels = [data.texts[i] for i in which], data.labels[which]
            words = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), LinearSVC())
            models = [words.fit(texts, labels), peer().fit(texts, labels)]
            classifier = IntentClassifier(**LABELS_ONLY)
            models.append(classifier.fit_head(shared, *with_unlabelled(texts, labels, plain)))
            scores.append([data.score(model.predict(data.dev_texts)) for model in models])
            print("imdb", n, seed, *(f"{score:.1f}" for score in scores[-1]), file=sys.stderr, flush=True)
        peers, ours = np.array(scores)[:, :2], np.array(scores)[:, 2]
        rows[0].append(f"{peers[:, 0].mean():.1f}")
        rows[1].append(f"{peers[:, 1].mean():.1f}")
        ahead = ours - peers[:, peers.mean(axis=0).argmax()]
        rows[2].append(f"{ours.mean():.1f} ({ahead.mean():+.1f} ± {standard_error(ahead):.1f})")
    return report.table(("IMDB, labels", *(f"{n:,}" for n in IMDB_LABELS)), rows)
