"""Learning to find words in text that has no blanks between them, from the words of the trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np
from typing_extensions import Doc

from spectralnlp.estimators.parser.component import Component, Context, folds_of
from spectralnlp.estimators.tagger.estimator import CRFTagger, Numbered
from spectralnlp.estimators.tagger.kernels import Examples
from spectralnlp.inference.chains.segmentation import PLACES, character_keys
from spectralnlp.inference.chains.templates import N_SLOTS, find_rows
from spectralnlp.parameters import ChainWeights, Ints
from spectralnlp.progress import fit_pass
from spectralnlp.text.conventions import Conventions

# Features that are seen less often are left out.
_FEWEST_SEEN = 2
# Known words are features: those of each fold come from the other folds, or no word would be unknown.
_FOLDS = 5


@dataclass(kw_only=True)
class Segmentation(Component):
    """Learns where words end in a language that does not write them apart."""

    name = "segmenter"
    least_trees = 500
    learned = "before"

    segmenter: Annotated[
        bool,
        Doc(
            "Learn to find the words of raw text where the treebank's language does not write them apart, as "
            "in Japanese; elsewhere nothing is learned. Off for fewer than 500 trees."
        ),
    ] = True

    @property
    def is_on(self) -> bool:
        """Whether words are to be found."""
        return self.segmenter

    def learn(self, context: Context) -> ChainWeights | None:
        """Learn from the words of the trees; None where they are written apart, and in folds."""
        table = context.trees.first
        leaves = np.flatnonzero(table.word >= 0)
        words = [table.words[word] for word in table.word[leaves].tolist()]
        conventions = Conventions.learn(words)
        if context.whole is not None or conventions.words_apart:
            return None
        first = np.searchsorted(table.tree[leaves], np.arange(table.n_trees + 1)).tolist()
        plain = [conventions.plain(word).split() for word in words]
        sentences = [[part for word in plain[a:b] for part in word] for a, b in pairwise(first)]
        with fit_pass("words"):
            return learn_segmenter(sentences, context.trees.documents, random_state=context.random_state)


def learn_segmenter(
    sentences: Sequence[Sequence[str]], documents: Ints, *, random_state: int
) -> ChainWeights:
    """Learn where words end.

    Args:
        sentences: words, none empty, without blanks in them.
        documents: int32 (n_sentences,); the document of each, ascending.
        random_state: seed of the order of sentences.
    """
    folds = folds_of(documents, _FOLDS)
    order = np.argsort(folds, kind="stable").tolist()
    keys = []
    for fold in range(_FOLDS):
        known = {w for s, its in zip(sentences, folds, strict=True) if its != fold for w in s}
        texts = ["".join(sentences[i]) for i in order if folds[i] == fold]
        keys += [character_keys(texts, known)] if texts else []
    joint = np.concatenate(keys)
    seen, n_seen = np.unique(joint, return_counts=True)
    kept = seen[n_seen >= _FEWEST_SEEN]
    starts = np.cumsum([0, *(sum(map(len, sentences[i])) for i in order)])
    examples = Examples(
        types=np.zeros(len(joint) + 4 * (len(starts) - 1), np.int32),  # no words: all features are in joint
        starts=starts,
        tags=np.array(
            [place for i in order for word in sentences[i] for place in _places(len(word))], np.int32
        ),
        row_starts=np.zeros(2 * N_SLOTS + 1, np.int64),
        rows=np.zeros(0, np.int32),
        named=np.zeros(2 * N_SLOTS, np.int64),
        joint=find_rows(joint, kept),
        words=np.zeros((2, 0), np.float32),
    )
    return CRFTagger(random_state=random_state).learn_numbered(Numbered.of(examples, kept, PLACES))


def _places(length: int) -> list[int]:
    """Places of the characters of a word, numbers in `PLACES`."""
    return [3] if length == 1 else [0, *[2] * (length - 2), 1]
