"""Refinement hidden Markov models with finitely many sentences, and the probability of each of them.

Tags never come back, so a language is finite and has true moments: every sentence weighs its probability.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from spectralnlp.estimators.rhmm.moments import TagTable
from spectralnlp.runtime import Batch
from spectralnlp.text.tag_log import TagLog

Sentence = tuple[tuple[str, ...], tuple[str, ...]]

# Tags that may follow each tag; the empty one is the end.
FOLLOWERS: Mapping[str, list[str]] = {
    "D": ["N", "J"],
    "J": ["N"],
    "N": ["V", "", "P"],
    "V": ["P", ""],
    "P": [""],
}
FIRST = ["D", "N"]
WORDS: Mapping[str, list[str]] = {
    "D": ["the", "a", "that"],
    "J": ["red", "saw", "dog"],
    "N": ["cat", "dog", "saw"],
    "V": ["saw", "dog", "fed"],
    "P": ["that", "up", "on"],
}


@dataclass(frozen=True)
class TrueRHMM:
    """Random probabilities over the tags and words above.

    Args:
        n_states: refinements of every tag.
        seed: of the probabilities.
    """

    n_states: int = 2
    seed: int = 0

    def sentences(self) -> list[tuple[Sentence, float]]:
        """Every sentence with its probability; the probabilities add up to 1."""
        rng, m = np.random.default_rng(self.seed), self.n_states
        p_word = {tag: rng.dirichlet(np.full(len(words), 0.7), m) for tag, words in WORDS.items()}
        # p(next tag and its state | state), the end having one state
        p_next = {
            tag: rng.dirichlet(np.full(m * len(after), 0.7), m).reshape(m, len(after), m)
            for tag, after in FOLLOWERS.items()
        }
        start = rng.dirichlet(np.ones(len(FIRST) * m)).reshape(len(FIRST), m)

        def grow(tag: str, state: np.ndarray) -> Iterator[tuple[Sentence, float]]:
            for i, word in enumerate(WORDS[tag]):
                here = state * p_word[tag][:, i]
                for j, after in enumerate(FOLLOWERS[tag]):
                    moved = here @ p_next[tag][:, j]
                    if not after:
                        yield ((word,), (tag,)), float(moved.sum())
                        continue
                    for (words, tags), probability in grow(after, moved):
                        yield ((word, *words), (tag, *tags)), probability

        return [pair for tag, state in zip(FIRST, start, strict=True) for pair in grow(tag, state)]


def weighted_table(sentences: list[tuple[Sentence, float]]) -> TagTable:
    """A corpus in which every sentence occurs as often as it is probable."""
    log = TagLog()
    log.observe(Batch([sentence for sentence, _ in sentences], "true", 0, 0))
    table = TagTable.of(log)
    return replace(table, weight=np.array([probability for _, probability in sentences])[table.sentence])
