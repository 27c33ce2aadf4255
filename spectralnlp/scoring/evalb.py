"""EVALB: bracketing recall and precision as the parsing literature counts them.

A sentence becomes a few integers (:class:`SentenceCounts`), integers of many sentences add up
to an :class:`EvalbScore`, and only that knows percentages. So a score can be resampled, split
by length or merged without looking at a tree again.

Source: the behaviour of EVALB (S. Sekine and M. Collins, 1997–2013), held against its own output
in the tests.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate
from math import inf
from typing import Literal

from spectralnlp.display import one_line
from spectralnlp.scoring.prm import COLLINS, EvalbParameters
from spectralnlp.trees.transforms import ROOT_LABELS
from spectralnlp.trees.tree import Tree

# Whose tags decide what is punctuation in the prediction: the gold tree's, or its own (plain EVALB).
TagSource = Literal["gold", "own"]

Bracket = tuple[str, int, int]

# Label of a trace.
_TRACE = "-NONE-"
# Words that parsers confuse.
_QUOTES = frozenset({"'", '"', "/"})


class Status(IntEnum):
    """Outcome of scoring a sentence; only OK sentences count towards recall and precision.

    Examples:
        >>> from spectralnlp.scoring import Status, count_sentence
        >>> from spectralnlp.trees import read_brackets
        >>> brackets = ["(S (NP (NNS Gulls)) (VP (VBP fly)))", "(S (NNS Gulls) (VP (VBP fly)))"]
        >>> gold, tree = read_brackets(brackets)
        >>> count_sentence(gold, None).status is Status.OK
        False
    """

    OK = 0
    ERROR = 1  # the two trees are not over the same words
    SKIP = 2  # there is no prediction, or all its words are deleted


@dataclass(frozen=True, slots=True)
class SentenceCounts:
    """One line of EVALB's output, as integers; all but the first two are 0 unless status is OK.

    Args:
        length: tokens of the gold tree without traces (strictly, ``delete_labels_for_length``).
        status: whether the sentence could be scored.
        matched: brackets that gold and prediction share, as multisets.
        gold: brackets of the gold tree.
        test: brackets of the prediction.
        crossing: predicted brackets that cross a gold bracket.
        words: words left after deletion, over which tags are counted.
        correct_tags: words whose predicted tag is the gold tag.

    Examples:
        >>> from spectralnlp.scoring import count_sentence
        >>> from spectralnlp.trees import read_brackets
        >>> brackets = ["(S (NP (NNS Gulls)) (VP (VBP fly)))", "(S (NNS Gulls) (VP (VBP fly)))"]
        >>> gold, tree = read_brackets(brackets)
        >>> count_sentence(gold, tree).status.name
        'OK'
    """

    length: int
    status: Status = Status.OK
    matched: int = 0
    gold: int = 0
    test: int = 0
    crossing: int = 0
    words: int = 0
    correct_tags: int = 0

    __repr__ = one_line

    @property
    def complete(self) -> bool:
        """Whether every bracket was found and no other."""
        return self.status is Status.OK and self.matched == self.gold == self.test


def count_sentence(
    gold: Tree,
    predicted: Tree | None,
    parameters: EvalbParameters = COLLINS,
    *,
    tags: TagSource = "gold",
) -> SentenceCounts:
    """Compare one predicted tree with the gold tree.

    Traces and function tags may be present in either; an outermost label ``""`` or ``ROOT``
    is ``TOP``. Words have to agree, and a sentence in which they do not is an ERROR, not an exception.

    Args:
        gold: the tree of the treebank.
        predicted: the tree of the parser; None where it gave none, which counts as SKIP.
        parameters: what is deleted and what is equivalent.
        tags: "gold" puts the gold tags into the prediction first, so that both trees delete the
            same punctuation; "own" is plain EVALB. Tagging accuracy is of the predicted tags either way.

    Examples:
        >>> from spectralnlp.scoring import count_sentence
        >>> from spectralnlp.trees import read_brackets
        >>> brackets = ["(S (NP (NNS Gulls)) (VP (VBP fly)))", "(S (NNS Gulls) (VP (VBP fly)))"]
        >>> gold, tree = read_brackets(brackets)
        >>> counts = count_sentence(gold, tree)
        >>> counts.matched, counts.gold, counts.test
        (2, 3, 2)
    """
    length = sum(tag not in parameters.delete_labels_for_length for tag in gold.tags())
    if predicted is None:
        return SentenceCounts(length, Status.SKIP)

    retagged = with_gold_tags(gold, predicted) if tags == "gold" else predicted
    kept_gold, kept_test = _kept_words(gold, retagged, parameters)
    gold_words, test_words = _select(gold.words(), kept_gold), _select(retagged.words(), kept_test)
    if not test_words:
        return SentenceCounts(length, Status.SKIP)
    if len(gold_words) != len(test_words) or not all(map(parameters.same_word, gold_words, test_words)):
        return SentenceCounts(length, Status.ERROR)

    # Positions of token boundaries among the kept words.
    gold_brackets = counted_brackets(gold, [0, *accumulate(kept_gold)], parameters)
    test_brackets = counted_brackets(retagged, [0, *accumulate(kept_test)], parameters)
    gold_tags, own_tags = _select(gold.tags(), kept_gold), _select(predicted.tags(), kept_test)
    return SentenceCounts(
        length=length,
        matched=count_matched(gold_brackets, test_brackets, parameters),
        gold=len(gold_brackets),
        test=len(test_brackets),
        crossing=_count_crossing(gold_brackets, test_brackets),
        words=len(gold_words),
        correct_tags=sum(map(parameters.same_label, gold_tags, own_tags)),
    )


def with_gold_tags(gold: Tree, predicted: Tree) -> Tree:
    """Return the predicted tree with the gold tree's tags, word by word; traces are passed over in both.

    Where the trees are not over equally many words the prediction comes back as it is.

    Examples:
        >>> from spectralnlp.scoring import with_gold_tags
        >>> from spectralnlp.trees import read_brackets
        >>> gold, tree = read_brackets(["(S (NNS Gulls) (VBP fly))", "(S (NNP Gulls) (NN fly))"])
        >>> with_gold_tags(gold, tree).tags()
        ['NNS', 'VBP']
    """
    gold_tags = [tag for tag in gold.tags() if tag != _TRACE]
    if len(gold_tags) != sum(tag != _TRACE for tag in predicted.tags()):
        return predicted
    next_tag = iter(gold_tags)

    def retag(node: Tree, children: list[Tree]) -> Tree:
        if node.word is None:
            return Tree(node.label, children)
        return node if node.label == _TRACE else Tree(next(next_tag), word=node.word)

    return predicted.fold(retag)


def _kept_words(gold: Tree, test: Tree, parameters: EvalbParameters) -> tuple[list[bool], list[bool]]:
    kept_gold = [tag not in parameters.delete_labels for tag in gold.tags()]
    kept_test = [tag not in parameters.delete_labels for tag in test.tags()]
    if parameters.quote_labels and sum(kept_gold) != sum(kept_test):
        _keep_misquoted(gold.preterminals(), kept_gold, test.preterminals(), kept_test, parameters)
    return kept_gold, kept_test


def _keep_misquoted(
    gold: list[Tree],
    kept_gold: list[bool],
    test: list[Tree],
    kept_test: list[bool],
    parameters: EvalbParameters,
) -> None:
    """Keep a quote or possessive in both trees where only one of them would delete it (in place)."""
    silent = parameters.delete_labels_for_length
    gold_positions = [i for i, node in enumerate(gold) if node.label not in silent]
    test_positions = [j for j, node in enumerate(test) if node.label not in silent]
    for i, j in zip(gold_positions, test_positions, strict=False):
        if all(node.label in parameters.quote_labels and node.word in _QUOTES for node in (gold[i], test[j])):
            kept_gold[i] = kept_test[j] = kept_gold[i] or kept_test[j]


def _select(tokens: Sequence[str], kept: Sequence[bool]) -> list[str]:
    return [token for token, keep in zip(tokens, kept, strict=True) if keep]


def counted_brackets(tree: Tree, position: Sequence[int], parameters: EvalbParameters) -> list[Bracket]:
    """Return the constituents that count, over what counts of the text, parents first.

    Args:
        tree: gold or predicted.
        position: how much that counts (words, or characters) precedes each boundary of tokens; one more than
            there are tokens. A constituent over nothing that counts is left out.
        parameters: which labels do not count.
    """
    brackets = []
    for index, (full_label, start, end) in enumerate(tree.spans()):
        label = "TOP" if index == 0 and full_label in ROOT_LABELS else _strip_functions(full_label)
        if position[start] < position[end] and label not in parameters.delete_brackets:
            brackets.append((label, position[start], position[end]))
    return brackets


def _strip_functions(label: str) -> str:
    # Everything from the first mark on, as EVALB does it: NP-SBJ-1 and NP=2 are NP.
    return label.partition("-")[0].partition("=")[0]


def count_matched(gold: Iterable[Bracket], test: Iterable[Bracket], parameters: EvalbParameters) -> int:
    """Count the brackets that gold and prediction share, as multisets."""
    unmatched: dict[tuple[int, int], list[str]] = defaultdict(list)
    for label, start, end in test:
        unmatched[start, end].append(label)
    n_matched = 0
    for label, start, end in gold:
        candidates = unmatched.get((start, end), [])
        for index, candidate in enumerate(candidates):
            if not parameters.labelled or parameters.same_label(label, candidate):
                del candidates[index]
                n_matched += 1
                break
    return n_matched


def _count_crossing(gold: list[Bracket], test: list[Bracket]) -> int:
    """Count the predicted brackets that cross a gold one, in time linear in brackets and words.

    A gold bracket that crosses has one end within the predicted one and holds the boundary at the other. Gold
    brackets are nested, so of all that hold a boundary the innermost one reaches least far on either side.
    """
    around = _innermost(gold, 1 + max((end for _, _, end in [*gold, *test]), default=0))
    return sum(around[start][1] < end or around[end][0] > start for _, start, end in test)


def _innermost(brackets: list[Bracket], n_boundaries: int) -> list[tuple[float, float]]:
    """Of each boundary between words, the span of the innermost bracket that holds it.

    Args:
        brackets: of a tree, parents first.
        n_boundaries: one more than there are words.
    """
    around: list[tuple[float, float]] = [(-inf, inf)] * n_boundaries
    spans = sorted({(start, -end) for _, start, end in brackets}, reverse=True)
    held: list[tuple[int, int]] = []
    for boundary in range(n_boundaries):
        while spans and spans[-1][0] < boundary:
            start, end = spans.pop()
            held.append((start, -end))
        while held and held[-1][1] <= boundary:
            held.pop()
        if held:
            around[boundary] = held[-1]
    return around


# Counts of sentences that a score adds up.
_SUMMED = ("matched", "gold", "test", "crossing", "words", "correct_tags")


@dataclass(frozen=True, slots=True)
class EvalbScore:
    """Sums over sentences, and the percentages that follow from them; 0.0 where nothing was counted.

    Args:
        sentences: all sentences, scored or not.
        errors: sentences whose words did not agree.
        skipped: sentences without a prediction.
        matched: brackets shared; likewise ``gold``, ``test``, ``crossing``, ``words`` and ``correct_tags``
            are the sums of :class:`SentenceCounts`.
        complete: sentences without a wrong or missing bracket.
        uncrossed: sentences without a crossing bracket.
        crossed_twice_at_most: sentences with at most two of them.

    Examples:
        >>> from spectralnlp.scoring import EvalbScore, count_sentence
        >>> from spectralnlp.trees import read_brackets
        >>> brackets = ["(S (NP (NNS Gulls)) (VP (VBP fly)))", "(S (NNS Gulls) (VP (VBP fly)))"]
        >>> gold, tree = read_brackets(brackets)
        >>> score = EvalbScore.total([count_sentence(gold, gold), count_sentence(gold, tree)])
        >>> round(score.recall, 2), score.precision
        (83.33, 100.0)
    """

    sentences: int = 0
    errors: int = 0
    skipped: int = 0
    matched: int = 0
    gold: int = 0
    test: int = 0
    crossing: int = 0
    words: int = 0
    correct_tags: int = 0
    complete: int = 0
    uncrossed: int = 0
    crossed_twice_at_most: int = 0

    __repr__ = one_line

    @classmethod
    def total(cls, counts: Iterable[SentenceCounts], *, max_length: int | None = None) -> EvalbScore:
        """Add up sentences, only those of at most ``max_length`` tokens if given."""
        chosen = [c for c in counts if max_length is None or c.length <= max_length]
        valid = [c for c in chosen if c.status is Status.OK]
        return cls(
            sentences=len(chosen),
            errors=sum(c.status is Status.ERROR for c in chosen),
            skipped=sum(c.status is Status.SKIP for c in chosen),
            **{name: sum(getattr(c, name) for c in valid) for name in _SUMMED},
            complete=sum(c.complete for c in valid),
            uncrossed=sum(c.crossing == 0 for c in valid),
            crossed_twice_at_most=sum(c.crossing <= 2 for c in valid),
        )

    @property
    def valid(self) -> int:
        """Sentences that were scored."""
        return self.sentences - self.errors - self.skipped

    @property
    def recall(self) -> float:
        """Gold brackets found, in percent."""
        return percent(self.matched, self.gold)

    @property
    def precision(self) -> float:
        """Predicted brackets that are right, in percent."""
        return percent(self.matched, self.test)

    @property
    def f1(self) -> float:
        """Harmonic mean of recall and precision, in percent."""
        return percent(2 * self.matched, self.gold + self.test)

    @property
    def complete_match(self) -> float:
        """Sentences with all brackets right, in percent."""
        return percent(self.complete, self.valid)

    @property
    def average_crossing(self) -> float:
        """Crossing brackets per sentence (a number, not a percentage)."""
        return self.crossing / self.valid if self.valid else 0.0

    @property
    def no_crossing(self) -> float:
        """Sentences without crossing brackets, in percent."""
        return percent(self.uncrossed, self.valid)

    @property
    def two_or_less_crossing(self) -> float:
        """Sentences with at most two crossing brackets, in percent."""
        return percent(self.crossed_twice_at_most, self.valid)

    @property
    def tagging_accuracy(self) -> float:
        """Words with the gold tag, in percent; deleted words (punctuation) do not count."""
        return percent(self.correct_tags, self.words)


def percent(part: int, whole: int) -> float:
    """Return ``part`` of ``whole`` in percent, 0.0 of nothing."""
    return 100.0 * part / whole if whole else 0.0
