"""Split sentences that are too long to be parsed whole, and join the trees of their pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree
from spectralnlp.trees.parse import Alternative, Constituent, Parse

IN_PIECES = "longer than max_length: parsed in pieces"
_BREAKS = frozenset([";", ":", ".", "!", "?", ",", "--", "–", "—", ")", "。", "、", "，", "；", "！", "？"])


def cut(sentence: Sentence, longest: int) -> list[Sentence]:
    """Split a sentence after punctuation, or at ``longest`` if a piece has none in its second half.

    Args:
        sentence: a sentence without constraints, which might not hold for its pieces.
        longest: largest number of tokens of a piece.
    """
    tokens, tags = sentence.tokens, sentence.tags
    pieces, start = [], 0
    while start < len(tokens):
        end = min(start + longest, len(tokens))
        if end < len(tokens):
            second_half = range(end, start + longest // 2, -1)
            end = next((each for each in second_half if tokens[each - 1].text in _BREAKS), end)
        pieces.append(Sentence(tokens[start:end], None if tags is None else tags[start:end]))
        start = end
    return pieces


def join(sentence: Sentence, parses: Sequence[Parse], k: int) -> Parse:
    """Join the parses of a sentence's pieces; log-probabilities add up.

    Args:
        sentence: the whole sentence.
        parses: parses of the pieces; a single parse is returned as it is.
        k: number of alternatives to return; none if 1.
    """
    if len(parses) == 1:
        return parses[0]
    constituents: list[Constituent] = []
    start = 0
    for parse in parses:
        constituents += (replace(c, start=c.start + start, end=c.end + start) for c in parse.constituents)
        start += len(parse.sentence)
    known = [each.log_probability for each in parses if each.log_probability is not None]
    return Parse(
        _under_one_root([parse.tree for parse in parses]),
        sentence,
        sum(known) if len(known) == len(parses) else None,
        tuple(constituents),
        IN_PIECES,
        () if k == 1 else _k_best(parses, k),
    )


def _under_one_root(trees: Sequence[Tree]) -> Tree:
    return Tree("TOP", [child for tree in trees for child in tree.children])


def _k_best(parses: Sequence[Parse], k: int) -> tuple[Alternative, ...]:
    """Return the k best combinations of one tree per piece; scores add up."""
    best: list[tuple[float, list[Tree]]] = [(0.0, [])]
    for parse in parses:
        # A piece that no grammar derives has one tree and no gain.
        choices = parse.alternatives or (Alternative(parse.tree, 0.0),)
        longer = [(gain + each.score, [*trees, each.tree]) for gain, trees in best for each in choices]
        best = sorted(longer, key=lambda each: -each[0])[:k]
    return tuple(Alternative(_under_one_root(trees), gain) for gain, trees in best)
