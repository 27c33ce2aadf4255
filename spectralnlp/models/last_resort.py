"""Why a sentence is refused under its constraints, and the tree of last resort where none is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spectralnlp.inference.trees.forest_grammars import ForestGrammars
from spectralnlp.inference.trees.opening import WINDOW
from spectralnlp.inference.trees.parsing import ForestParser, SentenceInput, merge_tags
from spectralnlp.inference.words.lexical import coarse_values, look_up
from spectralnlp.text.constraints import Constraints, NoTreeError
from spectralnlp.trees import Tree, labels_of
from spectralnlp.trees.parse import Constituent

Part = tuple[str, Constraints]

# How often it is asked whether a tree meets some of the constraints, and how many are named.
_MOST_QUESTIONS = 40
_MOST_NAMES = 10


def last_resort(parser: ForestParser, sentence: SentenceInput) -> tuple[Tree, tuple[Constituent, ...]]:
    """The tree of a sentence for which no other was found, and its constituents; see `flat_tree`.

    Raises:
        NoTreeError: that is because of the constraints.
    """
    check_possible(parser, sentence)
    return flat_tree(parser.grammars[0], sentence)


def check_possible(parser: ForestParser, sentence: SentenceInput) -> None:
    """Do nothing if trees may meet the constraints.

    That is so if one does, and if the grammars have no tree for the words anyway. Of sentences that are too
    long to look at all trees it is not known, and they pass.

    Args:
        parser: that found no tree.
        sentence: perhaps with constraints.

    Raises:
        NoTreeError: no tree meets all; it names few that no tree meets together, if possible one.
    """
    constraints = sentence.constraints
    if constraints is None:
        return

    def derives(parts: Sequence[Part]) -> bool:
        chosen = Constraints.union(each for _, each in parts)
        pooled = len(sentence.lookups) > 1
        given = parser.look_up(sentence.words, sentence.tags, chosen, pooled=pooled)
        return any(parser.derives(given, number)[True] for number in range(len(given.lookups)))

    parts = constraints.parts()
    if len(sentence.words) > WINDOW or derives(parts) or not derives(()):
        return
    needed = _to_blame(parts, derives, [_MOST_QUESTIONS])
    first, *rest = [name for name, _ in needed[:_MOST_NAMES]]
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
    """Few of some constraints that no tree meets together, beside others that it has to meet.

    By halves (Junker 2004, QuickXplain): of n constraints k are found by about 2 k log₂(n / k) questions.

    Args:
        parts: constraints that no tree meets together with ``met``; one or more.
        derives: whether a tree meets constraints.
        left: how often that may still be asked, in a list of one; then all that remain are to blame.
        met: constraints that a tree meets.
    """
    if len(parts) == 1:
        return list(parts)

    def of_half(half: Sequence[Part], others: Sequence[Part]) -> list[Part]:
        """What of a half is to blame beside others: nothing, where these are impossible without it."""
        if left[0] <= 0:
            return list(half)
        left[0] -= 1
        return _to_blame(half, derives, left, others) if derives(others) else []

    first, second = parts[: len(parts) // 2], parts[len(parts) // 2 :]
    of_second = of_half(second, [*met, *first])
    beside = [*met, *of_second]
    of_first = of_half(first, beside) if of_second else _to_blame(first, derives, left, met)
    return [*of_first, *of_second]


def likeliest_tags(grammars: ForestGrammars, words: Sequence[str]) -> list[str]:
    """The commonest tag of each word, for trees that no grammar stands behind."""
    found = look_up(grammars.coarse.lexicon, words, grammars.signature)
    values = coarse_values(grammars.coarse, found, None, any_tag=True) * grammars.rules.prior
    return [labels_of(grammars.coarse.symbols[tag])[-1] for tag in values.argmax(axis=1).tolist()]


def flat_tree(grammars: ForestGrammars, sentence: SentenceInput) -> tuple[Tree, tuple[Constituent, ...]]:
    """The tree of a sentence that no grammar derives: its words under TOP, and the required brackets.

    Args:
        grammars: know the commonest tag of each word, and the commonest label of a phrase.
        sentence: with tags, or the tags and brackets of constraints, that the tree is to have.

    Returns:
        The tree, and its brackets as constituents.
    """
    words, constraints = sentence.words, sentence.constraints
    guessed = likeliest_tags(grammars, words)
    given = merge_tags(sentence.tags, constraints, len(words)) or [None] * len(words)
    leaves = [Tree(tag or guess, word=word) for tag, guess, word in zip(given, guessed, words, strict=True)]
    if constraints is None or not constraints.brackets:
        return Tree("TOP", leaves), ()
    labelled = _labelled(grammars, constraints)
    trees = [(token, leaf) for token, leaf in enumerate(leaves)]  # where each begins
    for label, start, end in sorted(labelled, key=lambda each: each[2] - each[1]):
        inside = [each for each in trees if start <= each[0] < end]
        place = trees.index(inside[0])
        trees[place : place + len(inside)] = [(start, Tree(label, [tree for _, tree in inside]))]
    return Tree("TOP", [tree for _, tree in trees]), tuple(Constituent(*each, 1.0) for each in labelled)


def _labelled(grammars: ForestGrammars, constraints: Constraints) -> list[tuple[str, int, int]]:
    """The required brackets, parents first; without a label one has the commonest that is not forbidden."""
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
