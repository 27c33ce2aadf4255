"""Encode the tokens of a text as numbers, from spelling and a lexicon, for sentence splitting."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from zlib import crc32

import numpy as np

from spectralnlp.inference.sentences.features import (
    CAPITAL,
    CAPITALS,
    CLOSES,
    LETTER,
    MARK,
    MIXED,
    NEVER_FIRST,
    NUMBER,
    OPENS,
    POINTS,
    SMALL,
    STOP,
    UPRIGHT,
    VERB,
    TextTokens,
)
from spectralnlp.inference.trees.labels import tag_codes
from spectralnlp.inference.trees.rule_index import RuleIndex
from spectralnlp.inference.words.lexical import are_rare, coarse_values, is_rare, look_up
from spectralnlp.parameters import LatentGrammar
from spectralnlp.text.sentence_ends import ALWAYS, NEVER, PROBABLY, UNMARKED, is_stop
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.text.tokens import Token
from spectralnlp.trees import lowest_label

_VERBS = ("V", "MD", "AUX")  # prefixes of verb tags, in capitals
_OPENERS = frozenset(("``", "“", "„", "«", "‘", "`", "(", "[", "{", "-LRB-", "-LSB-", "-LCB-"))
_CLOSERS = frozenset(("''", "”", "»", ")", "]", "}", "-RRB-", "-RSB-", "-RCB-"))
_UPRIGHT = frozenset(('"', "'"))
_DASHES = frozenset(("-", "--", "–", "—"))
_CONTINUERS = frozenset((",", ";", ":", "%"))
_CACHED_WORDS = 1 << 16

_Row = tuple[int, int, int, int, int, int]


class Describer:
    """Converts the tokens of a text to numbers (`TextTokens`), for the learned sentence splitter.

    Args:
        grammar: a grammar with one state per symbol, and its lexicon.
        unknown: words to treat as unknown; in training, those that occur once.
    """

    def __init__(self, grammar: LatentGrammar, unknown: Collection[str] = ()) -> None:
        self.grammar, self.unknown = grammar, unknown
        self._signature = signature_by_name(grammar.lexicon.scheme)
        self._prior, self._tag_codes = RuleIndex.of(grammar).prior, tag_codes(grammar)
        labels = map(lowest_label, grammar.symbols)
        self._is_verb = np.array([label.upper().startswith(_VERBS) for label in labels])
        self._rows: dict[str, _Row] = {}

    def describe(self, tokens: Sequence[Token], gaps: Sequence[int]) -> TextTokens:
        """Encode consecutive tokens of a text as arrays of numbers, `TextTokens`.

        Args:
            tokens: one or more tokens.
            gaps: for each token, what the rules say of the gap before it, such as ``NEVER``; see
                `spectralnlp.text.sentence_ends`.
        """
        rows = self._described([token.form for token in tokens])
        word, name, tag, second, case, kind = np.array(rows, np.int64).T.copy()
        blank = np.ones(len(tokens) + 1, np.int64)
        blank[1:-1] = [one.end < other.start for one, other in pairwise(tokens)]
        before, after = blank[:-1], blank[1:]
        word = np.where(kind & POINTS, word * 4 + 2 * before + after, word)
        upright = (kind & UPRIGHT) > 0
        kind[upright & (before > after)] |= OPENS
        kind[upright & (before < after)] |= CLOSES
        judged = np.array(gaps, np.int64)
        free = np.where((kind & NEVER_FIRST) | (judged == NEVER) | (judged == ALWAYS), 0, before)
        free[(free == 1) & (judged == UNMARKED)] = 2
        return TextTokens(word, name, tag, second, case, kind, (judged >= PROBABLY).astype(np.int64), free)

    def _described(self, forms: Sequence[str]) -> list[_Row]:
        new = sorted(set(forms).difference(self._rows))
        if new:
            if len(self._rows) >= _CACHED_WORDS:
                self._rows.clear()
                new = sorted(set(forms))
            self._rows.update(zip(new, self._looked_up(new), strict=True))
        return [self._rows[form] for form in forms]

    def _looked_up(self, forms: Sequence[str]) -> list[_Row]:
        lexicon = self.grammar.lexicon
        # `look_up` treats a sentence's first word differently. None here is known to be first, so "" is.
        found = look_up(lexicon, ["", *forms], self._signature)
        if self.unknown:
            taken = np.array([False, *(form in self.unknown for form in forms)])
            found = replace(found, entries=np.where(taken, found.signatures, found.entries))
        values = coarse_values(self.grammar, found, None) * self._prior
        best = values.argmax(axis=1)
        values[np.arange(len(values)), best] = 0.0
        second = values.argmax(axis=1)
        classes = (found.signatures - len(lexicon.words)).tolist()
        rare = are_rare(lexicon, found.entries).tolist()
        rows = []
        for i, form in enumerate(forms, 1):
            name = crc32(form.lower().encode("utf-8", "surrogatepass"))
            unknown = rare[i] and self._is_rare(form.lower())
            word = crc32(lexicon.signatures[classes[i]].encode(), 1) if unknown else name
            kind = (VERB if self._is_verb[best[i]] else 0) | _kind_of(form)
            tags = int(self._tag_codes[best[i]]), int(self._tag_codes[second[i]])
            rows.append((word, name, *tags, case_of(form), kind))
        return rows

    def _is_rare(self, word: str) -> bool:
        return word in self.unknown or is_rare(self.grammar.lexicon, word)


def case_of(word: str) -> int:
    """Return the case of a token: ``SMALL``, ``CAPITAL`` or another constant of `features`."""
    letters = [c for c in word if c.isalpha()]
    if not letters or (word[0] == "-" and word in _OPENERS | _CLOSERS):
        return NUMBER if any(map(str.isdigit, word)) else MARK
    if any(map(str.isdigit, word)):
        return MIXED
    if word[0].isupper():
        if len(letters) == 1:
            return LETTER
        return CAPITALS if all(map(str.isupper, letters)) else CAPITAL
    return MIXED if any(map(str.isupper, letters)) else SMALL


def _kind_of(form: str) -> int:
    if form in _OPENERS:
        return OPENS
    if form in _UPRIGHT or form in _DASHES:
        return POINTS | (UPRIGHT if form in _UPRIGHT else 0)
    stops = is_stop(form)
    closes = CLOSES if form in _CLOSERS else 0
    return closes | (STOP if stops else 0) | (NEVER_FIRST if closes or stops or form in _CONTINUERS else 0)
