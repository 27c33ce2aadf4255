"""Train a word segmenter for languages without blanks between words, on the words of the trees."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Annotated

import numpy as np
from typing_extensions import Doc

from spectralnlp.estimators.parser.component import Component, Context, folds_of
from spectralnlp.estimators.tagger.estimator import CRFTagger, Numbered
from spectralnlp.estimators.tagger.kernels import Examples
from spectralnlp.inference.chains.segmentation import character_keys, word_codes
from spectralnlp.inference.chains.templates import N_SLOTS, find_rows
from spectralnlp.parameters import ChainWeights, Ints
from spectralnlp.progress import fit_pass
from spectralnlp.runtime import offsets_of
from spectralnlp.text.conventions import Conventions
from spectralnlp.trees import lowest_label
from spectralnlp.trees.treelog import TreeTable

# Minimum count of features.
_MIN_SEEN = 2
# Number of parts of speech that are predicted along with words, the most frequent ones; all others are one
# class. Time is quadratic in their number, and more gain nothing (benchmarks/experiments/raw-text.md).
_MAX_CLASSES = 14
_OTHERS = "*"
# Known words are features; those used in a fold come from the other folds, so that some words are unknown.
_FOLDS = 5


@dataclass(kw_only=True)
class Segmentation(Component):
    """Component that learns to find word boundaries in languages without blanks between words."""

    name = "segmenter"
    least_trees = 500
    learned = "before"

    segmenter: Annotated[
        bool,
        Doc(
            "Learn to find the words of raw text if the treebank's language has no blanks between words, as "
            "Japanese; no effect for other languages. Off for fewer than 500 trees."
        ),
    ] = True

    @property
    def is_on(self) -> bool:
        """Whether the settings request a segmenter, which is learned only for languages that need one."""
        return self.segmenter

    def learn(self, context: Context) -> ChainWeights | None:
        """Train a segmenter on the words of the trees.

        Returns:
            The segmenter's weights; None if blanks separate words, or within a jackknife, which needs no
            segmenter.
        """
        sentences = None if context.whole is not None else tagged_words(context.trees.first)
        if sentences is None:
            return None
        with fit_pass("words"):
            return learn_segmenter(sentences, context.trees.documents, random_state=context.random_state)


def tagged_words(table: TreeTable) -> list[list[tuple[str, str]]] | None:
    """Return each sentence's (word, tag) pairs, spelled as in raw text; None if blanks separate words."""
    leaves = np.flatnonzero(table.word >= 0)
    words = [table.words[word] for word in table.word[leaves].tolist()]
    conventions = Conventions.learn(words)
    if conventions.words_apart:
        return None
    labels = list(map(lowest_label, table.symbols))
    tags = [labels[symbol] for symbol in table.symbol[leaves].tolist()]
    plain = [conventions.plain(word).split() for word in words]
    first = np.searchsorted(table.tree[leaves], np.arange(table.n_trees + 1)).tolist()
    return [
        [(part, tag) for word, tag in zip(plain[a:b], tags[a:b], strict=True) for part in word]
        for a, b in pairwise(first)
    ]


def learn_segmenter(
    sentences: Sequence[Sequence[tuple[str, str]]], documents: Ints, *, random_state: int
) -> ChainWeights:
    """Train a character tagger that finds word boundaries.

    Args:
        sentences: words of each sentence with their tags; words are not empty and contain no blanks.
        documents: int32 (n_sentences,); index of each sentence's document, ascending.
        random_state: seed of the order of sentences.
    """
    folds = folds_of(documents, _FOLDS)
    order = np.argsort(folds, kind="stable").tolist()
    texts_of_all = ["".join(word for word, _ in sentence) for sentence in sentences]
    keys = []
    for fold in range(_FOLDS):
        known = known_words(s for s, its in zip(sentences, folds, strict=True) if its != fold)
        texts = [texts_of_all[i] for i in order if folds[i] == fold]
        keys += [character_keys(texts, word_codes(known))] if texts else []
    joint = np.concatenate(keys)
    seen, n_seen = np.unique(joint, return_counts=True)
    kept = seen[n_seen >= _MIN_SEEN]
    starts = offsets_of([len(texts_of_all[i]) for i in order])
    counts = Counter(tag for sentence in sentences for _, tag in sentence)
    classes = {tag: tag for tag, _ in counts.most_common(_MAX_CLASSES)}
    tags = [
        tag
        for i in order
        for word, part_of_speech in sentences[i]
        for tag in _tags(len(word), classes.get(part_of_speech, _OTHERS))
    ]
    names = sorted(set(tags))
    number = {name: i for i, name in enumerate(names)}
    examples = Examples(
        types=np.zeros(len(joint) + 4 * (len(starts) - 1), np.int32),  # unused: all features are in joint
        starts=starts,
        tags=np.array([number[tag] for tag in tags], np.int32),
        row_starts=np.zeros(2 * N_SLOTS + 1, np.int64),
        rows=np.zeros(0, np.int32),
        named=np.zeros(2 * N_SLOTS, np.int64),
        joint=find_rows(joint, kept),
        words=np.zeros((2, 0), np.float32),
    )
    return CRFTagger(random_state=random_state).learn_numbered(Numbered.of(examples, kept, names))


def known_words(sentences: Iterable[Sequence[tuple[str, str]]]) -> dict[str, set[str]]:
    """Return the words of tagged sentences, each with the set of all its tags."""
    known = defaultdict[str, set[str]](set)
    for word, tag in chain.from_iterable(sentences):
        known[word].add(tag)
    return known


def _tags(length: int, name: str) -> list[str]:
    """Return the tags of a word's characters: ``B-name``, ``I-name``, …, ``E-name``, or just ``S-name``."""
    places = "S" if length == 1 else "B" + "I" * (length - 2) + "E"
    return [f"{place}-{name}" for place in places]
