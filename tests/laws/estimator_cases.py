"""Data that every estimator of a task must be able to fit: add a corpus for each new task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from spectralnlp.runtime import Corpus, InMemoryCorpus
from spectralnlp.trees.tree import Tree


def _sentence(noun: str, verb: str, thing: str) -> Tree:
    def phrase(word: str) -> Tree:
        return Tree("NP", [Tree("DT", word="the"), Tree("NN", word=word)])

    return Tree("TOP", [Tree("S", [phrase(noun), Tree("VP", [Tree("VBD", word=verb), phrase(thing)])])])


def treebank() -> Corpus[Tree]:
    nouns, verbs = ["cat", "dog", "bird"], ["saw", "chased"]
    return InMemoryCorpus([_sentence(a, v, b) for a in nouns for v in verbs for b in nouns], n_partitions=3)


def sequences() -> Corpus[list[str]]:
    """Symbols with more directions than any default asks for, and few enough occurrences to be quick."""
    rng = np.random.default_rng(0)
    steps = rng.integers(1, 4, size=(60, 40)).cumsum(axis=1) % 70
    return InMemoryCorpus([[f"s{step}" for step in row] for row in steps], n_partitions=3)


def text() -> Corpus[Any]:
    return InMemoryCorpus(sequences(), n_partitions=3)


def documents() -> Corpus[list[str]]:
    """More subjects than any default asks for, with four words each."""
    rng = np.random.default_rng(0)
    words = rng.integers(0, 4, size=(400, 8)) + 4 * rng.integers(0, 30, size=(400, 1))
    return InMemoryCorpus([[f"w{word}" for word in row] for row in words], n_partitions=3)


def tagged_sentences() -> Corpus[Any]:
    """Words that tell their tags, and a few that do not."""
    rng = np.random.default_rng(0)
    tags = rng.integers(0, 5, size=(80, 6))
    words = np.where(rng.random(tags.shape) < 0.8, 3 * tags + rng.integers(0, 3, tags.shape), 99)
    return InMemoryCorpus(
        [
            (tuple(f"w{word}" for word in row), tuple(f"T{tag}" for tag in own))
            for row, own in zip(words, tags, strict=True)
        ],
        n_partitions=3,
    )


def intents() -> Corpus[tuple[str, str | None]]:
    """Texts of two labels, and as many without, in turn."""
    texts = [
        (f"{verb} the {thing} {when}", label)
        for thing in ("door", "lid")
        for when in ("now", "later", "soon")
        for verb in ("open", "close")
        for label in (verb, None)
    ]
    return InMemoryCorpus(texts, n_partitions=3)


def texts() -> Corpus[str]:
    """Texts with as many words and directions as featurizers ask for."""
    letters = str.maketrans("0123456789", "abcdefghij")
    return InMemoryCorpus([" ".join(line).translate(letters) for line in documents()], n_partitions=3)


def views() -> Corpus[Any]:
    """Rows of small integers, whose sums are exact, in two views with two directions in common."""
    rng = np.random.default_rng(0)
    hidden = rng.integers(-3, 4, size=(60, 2))
    x, y = (hidden @ rng.integers(-2, 3, size=(2, d)) + rng.integers(-2, 3, size=(60, d)) for d in (4, 3))
    return InMemoryCorpus(list(zip(x.astype(float), y.astype(float), strict=True)), n_partitions=3)


TRAINING: Mapping[str, Callable[[], Corpus[Any]]] = {
    "features": texts,
    "intents": intents,
    "labelled-features": intents,
    "parsing": treebank,
    "sequences": sequences,
    "tagging": tagged_sentences,
    "topics": documents,
    "vectors": text,
    "views": views,
}
