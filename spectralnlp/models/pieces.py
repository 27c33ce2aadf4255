"""Split sentences that are too long to be parsed whole, and join the trees of their pieces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from spectralnlp.runtime import deferred_interrupts
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree
from spectralnlp.trees.parse import IN_PIECES, Alternative, Constituent, Parse

MAX_KNOWN = 32
_BREAKS = frozenset([";", ":", ".", "!", "?", ",", "--", "–", "—", ")", "。", "、", "，", "；", "！", "？"])


def cut(sentence: Sentence, longest: int) -> list[Sentence]:
    """Split a long sentence into pieces: after punctuation, or after ``longest`` tokens if there is none.

    Only punctuation in the second half of a piece is considered.

    Args:
        sentence: a sentence without constraints, which might not hold for its pieces.
        longest: largest number of tokens of a piece.
    """
    tokens, tags, annotations = sentence.tokens, sentence.tags, sentence.annotations
    pieces, start = [], 0
    while start < len(tokens):
        end = min(start + longest, len(tokens))
        if end < len(tokens):
            second_half = range(end, start + longest // 2, -1)
            end = next((each for each in second_half if tokens[each - 1].text in _BREAKS), end)
        pieces.append(
            Sentence(
                tokens[start:end],
                None if tags is None else tags[start:end],
                annotations=None if annotations is None else annotations.part(start, end),
            )
        )
        start = end
    return pieces


@dataclass(frozen=True)
class KnownPieces:
    """A parse function for sentences, with a cache of the parses of pieces of long sentences.

    A long line often repeats a word or a punctuation mark many thousand times, so many of its pieces are
    equal.

    Attributes:
        parse: function that parses a sentence or a piece.
        known: the cached parses, by words, tags and annotations of the piece; at most `MAX_KNOWN`.
    """

    parse: Callable[[Sentence], Parse]
    known: dict[object, Parse] = field(default_factory=dict)

    def piece(self, piece: Sentence) -> Parse:
        """Return the parse of a piece, from the cache if it has one for the same input."""
        tokens = tuple(piece.forms), piece.tags, piece.annotations
        parse = self.known.get(tokens)
        if parse is None:
            if len(self.known) >= MAX_KNOWN:
                self.known.clear()
            with deferred_interrupts:  # once per piece, not in each of fifty kernels
                parse = self.known[tokens] = self.parse(piece)
        return parse


def join(sentence: Sentence, parses: Sequence[Parse], k: int) -> Parse:
    """Return the parse of a long sentence, joined from the parses of its pieces.

    The log-probability is the sum over the pieces, or None if a piece has no log-probability.

    Args:
        sentence: the whole sentence.
        parses: parses of the pieces.
        k: number of alternative trees; if it is 1, the parse has no list of alternatives.
    """
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
    """Return the k best trees of a whole sentence, each joined from one tree of every piece.

    The score of a joined tree is the sum of the scores of its pieces' trees.
    """
    best: list[tuple[float, list[Tree]]] = [(0.0, [])]
    for parse in parses:
        # A piece that no grammar derives has one tree and no gain.
        choices = parse.alternatives or (Alternative(parse.tree, 0.0),)
        longer = [(gain + each.score, [*trees, each.tree]) for gain, trees in best for each in choices]
        best = sorted(longer, key=lambda each: -each[0])[:k]
    return tuple(Alternative(_under_one_root(trees), gain) for gain, trees in best)
