"""A learned sentence splitter for `spectralnlp.text.sentences.split_sentences`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from spectralnlp.inference.sentences.describe import Describer
from spectralnlp.inference.sentences.features import (
    AHEAD,
    N_FEATURES,
    OUTSIDE,
    begin,
    code_of_last,
    extend,
    gap_score,
)
from spectralnlp.jit import kernel
from spectralnlp.parameters import LatentGrammar, SentenceEndModel
from spectralnlp.text.sentence_ends import MAX_TOKENS, NEVER, OpenText

# Log-odds above which a sentence ends without a mark in a text with line ends: 150 to 1. Models learn from
# texts without line ends, in which headings stand before sentences; there "See | John" scores up to 1.8.
_UNMARKED = 5.0


class LearnedSentenceEnds:
    """Learned sentence splitter: a model decides at whitespace between tokens, rules decide elsewhere.

    Args:
        model: the weights and the threshold.
        grammar: a grammar with one state per symbol, for the most probable tags of words.
    """

    ahead, batch = AHEAD, 50

    def __init__(self, model: SentenceEndModel, grammar: LatentGrammar) -> None:
        self.model, self.grammar = model, grammar

    def __reduce__(self) -> tuple[object, ...]:
        return LearnedSentenceEnds, (self.model, self.grammar)  # without the cached describer

    @cached_property
    def _describer(self) -> Describer:
        return Describer(self.grammar)

    def find(self, text: OpenText, stop: int) -> Sequence[int]:
        """Return the indices of the tokens before ``stop`` that begin sentences; see `SentenceEnds.find`."""
        if not text.tokens:
            return []
        # One more token of context, so that the result does not depend on where the text was cut.
        before = [] if text.previous is None else [text.previous]
        tokens = self._describer.describe([*before, *text.tokens], [NEVER] * len(before) + text.gaps)
        first = len(before)
        previous = code_of_last(tokens.name[0], tokens.case[0]) if before else OUTSIDE
        gaps = first + text.decided, first + stop
        found = find_ends(tokens, first, int(previous), gaps, self.model.weights, self.model.threshold)
        return [index - first for index in found.tolist()]


@kernel
def find_ends(text, first, previous, gaps, weights, threshold):
    """Return the indices of the tokens that begin sentences, int64.

    Sentence ends are chosen greedily, from left to right; a choice is never revised.

    Args:
        text: `TextTokens`.
        first: index of the first token of a sentence.
        previous: `code_of_last` of the token before that sentence, or OUTSIDE if there is none.
        gaps: range of the gaps between tokens to decide on, the end exclusive; no sentence ends in earlier
            gaps.
        weights: float32 (2^n,); weights of hashed features.
        threshold: a sentence ends where its log-odds are greater than this; where no mark shows an end, they
            must also be greater than 5.
    """
    found, codes = [first for _ in range(0)], np.empty(N_FEATURES, np.uint32)
    n = len(text.word)
    prefix = extend(begin(first, previous), text.case[first], text.kind[first])
    for gap in range(first + 1, gaps[1]):
        if gap >= gaps[0]:
            ends = text.rule[gap] == 1
            if text.free[gap] > 0:
                least = threshold if text.free[gap] == 1 else max(threshold, _UNMARKED)
                ends = gap_score(text, prefix, gap, n, weights, codes) > least
            if ends or gap - prefix.start >= MAX_TOKENS:
                found.append(gap)
                prefix = begin(gap, code_of_last(text.name[gap - 1], text.case[gap - 1]))
        prefix = extend(prefix, text.case[gap], text.kind[gap])
    return np.array(found, np.int64)
