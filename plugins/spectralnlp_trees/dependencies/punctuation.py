"""Attach punctuation marks as Universal Dependencies ask for.

Source: https://universaldependencies.org/u/dep/punct.html. A mark belongs to the unit that it sets off, at
the highest word whose subtree it does not split: commas to the unit behind them if that depends on something
before them, and else to the unit in front; quotation marks and brackets to what they enclose.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from spectralnlp_trees.dependencies.arcs import Arcs

_CLOSED_BY = {
    **{"(": ")", "[": "]", "{": "}", "-lrb-": "-rrb-", "-lsb-": "-rsb-", "-lcb-": "-rcb-"},
    **{"“": "”", "‘": "’", "«": "»", "``": "''", "`": "'", '"': '"', "'": "'"},
}


def attach_punctuation(arcs: Arcs) -> None:
    """Give each word with the relation ``punct`` its head, in place."""
    marks = {place for place, relation in enumerate(arcs.relations) if relation == "punct"}
    if len(marks) < len(arcs.words):
        sentence = _Sentence(arcs.heads, marks, *_spans(arcs.heads, marks))
        pairs = _pairs([word.word for word in arcs.words], marks)
        found = {mark: _head(sentence, mark, pairs.get(mark)) for mark in marks}
        for mark, head in found.items():
            arcs.heads[mark] = head


@dataclass(frozen=True)
class _Sentence:
    """Arcs of a sentence, and the places of the first and last word below each word, leaving marks out."""

    heads: Sequence[int]
    marks: Collection[int]
    first: Sequence[int]
    last: Sequence[int]

    def word_beside(self, mark: int, step: int) -> int | None:
        """Return the next word to the left (step -1) or right (1) that is no mark; None if there is none."""
        place = mark + step
        while place in self.marks:
            place += step
        return place if 0 <= place < len(self.heads) else None

    def unit_before(self, mark: int) -> int | None:
        """Return the highest word, of those over the word to the left, whose subtree is before a mark."""
        word = self.word_beside(mark, -1)
        if word is None or self.last[word] > mark:
            return None
        while self.heads[word] >= 0 and self.last[self.heads[word]] < mark:
            word = self.heads[word]
        return word

    def unit_behind(self, mark: int) -> int | None:
        """Return the highest word, of those over the word to the right, whose subtree is behind a mark."""
        word = self.word_beside(mark, 1)
        if word is None or self.first[word] < mark:
            return None
        while self.heads[word] >= 0 and self.first[self.heads[word]] > mark:
            word = self.heads[word]
        return word


def _head(sentence: _Sentence, mark: int, pair: tuple[int, int] | None) -> int:
    """Return the head of a mark.

    Args:
        sentence: the arcs.
        mark: place of the mark.
        pair: places of an opening mark and its closing one, of which this is one; None if it has no partner.
    """
    if pair is not None:
        for place in range(pair[0] + 1, pair[1]):
            if place not in sentence.marks and not pair[0] < sentence.heads[place] < pair[1]:
                return place
    before, behind = sentence.unit_before(mark), sentence.unit_behind(mark)
    if before is not None and behind is not None:
        depends_backwards = sentence.heads[behind] < mark  # a root, too
        return behind if depends_backwards else before
    if before is not None:
        return before
    if behind is not None:
        is_unit = sentence.heads[behind] < mark or sentence.word_beside(mark, -1) is None
        return behind if is_unit else sentence.heads[behind]
    left = sentence.word_beside(mark, -1)
    return sentence.heads.index(-1) if left is None else left


def _spans(heads: Sequence[int], marks: Collection[int]) -> tuple[list[int], list[int]]:
    """Return the first and the last word of each word's subtree, from which marks are left out."""
    first, last = list(range(len(heads))), list(range(len(heads)))
    for word in reversed(_from_the_root(heads)):
        head = heads[word]
        if head >= 0 and word not in marks:
            first[head], last[head] = min(first[head], first[word]), max(last[head], last[word])
    return first, last


def _from_the_root(heads: Sequence[int]) -> list[int]:
    """Return the words, heads before their dependents."""
    dependents: list[list[int]] = [[] for _ in heads]
    found: list[int] = []
    for word, head in enumerate(heads):
        (found if head < 0 else dependents[head]).append(word)
    for word in found:  # grows
        found.extend(dependents[word])
    return found


def _pairs(forms: Sequence[str], marks: Collection[int]) -> dict[int, tuple[int, int]]:
    """Return the places of both marks of a pair, for each mark that has a partner."""
    opened: list[int] = []
    pairs = {}
    for mark in sorted(marks):
        if opened and forms[mark] == _CLOSED_BY[forms[opened[-1]]]:
            pair = opened.pop(), mark
            pairs[pair[0]] = pairs[pair[1]] = pair
        elif forms[mark] in _CLOSED_BY:
            opened.append(mark)
    return pairs
