"""Fallback for sentences without a parse: report contradictory constraints, or return a flat tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spectralnlp.inference.trees.forest_grammars import ForestGrammars
from spectralnlp.inference.trees.open_cells import WINDOW
from spectralnlp.inference.trees.parsing import ForestParser
from spectralnlp.inference.trees.sentence import SentenceInput, merge_tags
from spectralnlp.inference.words.lexical import coarse_values, look_up
from spectralnlp.text.constraints import Constraints, NoTreeError
from spectralnlp.trees import Tree, labels_of
from spectralnlp.trees.parse import Constituent

Part = tuple[str, Constraints]

# How often it is asked whether a tree meets some of the constraints, and how many are named.
_MAX_QUESTIONS = 40
_MAX_NAMES = 10


def last_resort(parser: ForestParser, sentence: SentenceInput) -> tuple[Tree, tuple[Constituent, ...]]:
    """Return a flat tree of a sentence without a parse, and the constituents that constraints require.

    Args:
        parser: the parser that found no tree.
        sentence: the sentence.

    Raises:
        NoTreeError: the sentence has no parse because of its constraints.
    """
    check_possible(parser, sentence)
    return flat_tree(parser.grammars[0], sentence)


def check_possible(parser: ForestParser, sentence: SentenceInput) -> None:
    """Raise an error if a sentence has no parse because no tree of the grammars meets its constraints.

    No error is raised if some tree meets the constraints, or if the grammars derive no tree of the words even
    without constraints. Sentences of more than ``WINDOW`` tokens are not checked, because that would take too
    long.

    Args:
        parser: the parser that found no tree.
        sentence: the sentence, with or without constraints.

    Raises:
        NoTreeError: no tree meets the constraints; the message names a few that exclude one another.
    """
    constraints = sentence.constraints
    if constraints is None:
        return

    def derives(parts: Sequence[Part]) -> bool:
        chosen = Constraints.union(each for _, each in parts)
        pooled = len(sentence.lookups) > 1
        looked_up = parser.look_up(sentence.words, sentence.tags, chosen, pooled=pooled)
        return any(parser.derives(looked_up, number).with_any_tag for number in range(len(looked_up.lookups)))

    parts = constraints.parts()
    if len(sentence.words) > WINDOW or derives(parts) or not derives(()):
        return
    needed = _to_blame(parts, derives, [_MAX_QUESTIONS])
    first, *rest = [name for name, _ in needed[:_MAX_NAMES]]
    if more := len(needed) - 1 - len(rest):
        rest.append(f"{more:,} more")
    together = f" together with {' and '.join(rest)}" if rest else ""
    hint = f"leave {'one of them' if rest else 'it'} out"
    raise NoTreeError(f"no tree of the model meets {first}{together}", hint=hint)


def _to_blame(
    parts: Sequence[Part],
    derives: Callable[[Sequence[Part]], bool],
    left: list[int],
    met: Sequence[Part] = (),
) -> list[Part]:
    """Return a few constraints of ``parts`` that no tree meets together with those in ``met``.

    Finds a minimal conflict by halving (QuickXplain, Junker 2004): k of n constraints take about
    2 k log₂(n / k) calls of ``derives``.

    Args:
        parts: one or more constraints that no tree meets together with ``met``.
        derives: function that tells whether some tree meets all of the constraints that it is given.
        left: list of one item, the number of calls of ``derives`` still allowed; decremented at each call.
            When it reaches 0, the remaining constraints are returned without being tested.
        met: constraints that some tree meets.
    """
    if len(parts) == 1:
        return list(parts)

    def of_half(half: Sequence[Part], others: Sequence[Part]) -> list[Part]:
        """Return constraints of ``half`` that conflict with ``others``; [] if ``others`` alone conflict."""
        if left[0] <= 0:
            return list(half)
        left[0] -= 1
        return _to_blame(half, derives, left, others) if derives(others) else []

    first, second = parts[: len(parts) // 2], parts[len(parts) // 2 :]
    of_second = of_half(second, [*met, *first])
    others = [*met, *of_second]
    of_first = of_half(first, others) if of_second else _to_blame(first, derives, left, met)
    return [*of_first, *of_second]


def likeliest_tags(grammars: ForestGrammars, words: Sequence[str]) -> list[str]:
    """Return the most probable tag of each word, regardless of context."""
    lookup = look_up(grammars.coarse.lexicon, words, grammars.signature)
    values = coarse_values(grammars.coarse, lookup, None, any_tag=True) * grammars.rules.prior
    return [labels_of(grammars.coarse.symbols[tag])[-1] for tag in values.argmax(axis=1).tolist()]


def flat_tree(grammars: ForestGrammars, sentence: SentenceInput) -> tuple[Tree, tuple[Constituent, ...]]:
    """Return the flat tree of a sentence that no grammar derives: words and required brackets under TOP.

    Args:
        grammars: grammars that give the most frequent tag of a word and the most frequent phrase label.
        sentence: the sentence; its tags, and tags and brackets of its constraints, are kept.

    Returns:
        The tree, and the required brackets as constituents.
    """
    words, constraints = sentence.words, sentence.constraints
    guessed = likeliest_tags(grammars, words)
    fixed = merge_tags(sentence.tags, constraints, len(words)) or [None] * len(words)
    leaves = [Tree(tag or guess, word=word) for tag, guess, word in zip(fixed, guessed, words, strict=True)]
    if constraints is None or not constraints.brackets:
        return Tree("TOP", leaves), ()
    labelled = _labelled(grammars, constraints)
    trees = [(token, leaf) for token, leaf in enumerate(leaves)]  # the first token of each tree, and the tree
    for label, start, end in sorted(labelled, key=lambda each: each[2] - each[1]):
        inside = [each for each in trees if start <= each[0] < end]
        place = trees.index(inside[0])
        trees[place : place + len(inside)] = [(start, Tree(label, [tree for _, tree in inside]))]
    return Tree("TOP", [tree for _, tree in trees]), tuple(Constituent(*each, 1.0) for each in labelled)


def _labelled(grammars: ForestGrammars, constraints: Constraints) -> list[tuple[str, int, int]]:
    """Return the brackets that constraints require, as (label, start, end).

    A bracket without a label gets the most frequent label that is not forbidden over its span.
    """
    prior, table = grammars.rules.prior, grammars.label_table
    by_frequency = sorted(table.rows, key=lambda label: -float(prior @ table.of_bottom[table.rows[label]]))
    forbidden = {(each.label, *each.span) for each in constraints.forbidden}
    labels: dict[tuple[int, int], list[str]] = {}
    for each in constraints.brackets:
        of_span = labels.setdefault(each.span, [])
        if each.label is not None:
            of_span.append(each.label)
    return [
        (label, *span)
        for span, known in labels.items()
        for label in known or [next(each for each in by_frequency if (each, *span) not in forbidden)]
    ]
