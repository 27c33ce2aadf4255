"""EVALB: bracketing recall and precision as the parsing literature counts them.

Each sentence is reduced to a few integers (:class:`SentenceCounts`), which are summed over sentences to an
:class:`EvalbScore` with percentages. So scores can be resampled, split by length or merged without the trees.

Source: the behaviour of EVALB (S. Sekine and M. Collins, 1997–2013); tests compare with its output.
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

# Whose tags decide which predicted words are punctuation: the gold tree's, or the prediction's (plain EVALB).
TagSource = Literal["gold", "predicted"]

Bracket = tuple[str, int, int]

# Tag of a trace.
_TRACE = "-NONE-"
# Words with tags that parsers confuse; see `EvalbParameters.quote_labels`.
_QUOTES = frozenset({"'", '"', "/"})


class Status(IntEnum):
    """Outcome of scoring a sentence; only sentences with status OK count towards recall and precision.

    Examples:
        >>> from spectralnlp.scoring import Status, count_sentence
        >>> from spectralnlp.trees import read_brackets
        >>> brackets = ["(S (NP (NNS Gulls)) (VP (VBP fly)))", "(S (NNS Gulls) (VP (VBP fly)))"]
        >>> gold, tree = read_brackets(brackets)
        >>> count_sentence(gold, None).status is Status.OK
        False
    """

    OK = 0
    ERROR = 1  # the words of the two trees differ
    SKIP = 2  # the prediction is missing, or all its words are deleted


@dataclass(frozen=True, slots=True)
class SentenceCounts:
    """Counts of one sentence, as in a line of EVALB's output; only ``length`` is set unless status is OK.

    Args:
        length: number of tokens of the gold tree, without the tags in ``delete_labels_for_length`` (traces).
        status: whether the sentence could be scored.
        matched: number of brackets that gold and prediction share, as multisets.
        gold: number of brackets of the gold tree.
        test: number of brackets of the prediction.
        crossing: number of predicted brackets that cross a gold bracket.
        words: number of words that are not deleted; tagging accuracy is computed over them.
        correct_tags: number of these words whose predicted tag is the gold tag.

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
        """Whether the predicted brackets are exactly the gold brackets."""
        return self.status is Status.OK and self.matched == self.gold == self.test


def count_sentence(
    gold: Tree,
    predicted: Tree | None,
    parameters: EvalbParameters = COLLINS,
    *,
    tags: TagSource = "gold",
) -> SentenceCounts:
    """Compare one predicted tree with the gold tree.

    Both trees may contain traces and function tags. An outermost label ``""`` or ``ROOT`` is treated as
    ``TOP``. If the words of the trees differ, the status of the result is ERROR; no exception is raised.

    Args:
        gold: gold tree.
        predicted: predicted tree; None if there is none, which gives the status SKIP.
        parameters: which labels are deleted, and which labels and words are equivalent.
        tags: "gold" to find punctuation in the prediction by the gold tags, so that the same words are
            deleted from both trees; "predicted" to find it by the predicted tags, as plain EVALB does. With
            either, tagging accuracy is that of the predicted tags.

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

    # Token boundaries are renumbered by the number of kept words before them.
    gold_brackets = counted_brackets(gold, [0, *accumulate(kept_gold)], parameters)
    test_brackets = counted_brackets(retagged, [0, *accumulate(kept_test)], parameters)
    gold_tags, predicted_tags = _select(gold.tags(), kept_gold), _select(predicted.tags(), kept_test)
    return SentenceCounts(
        length=length,
        matched=count_matched(gold_brackets, test_brackets, parameters),
        gold=len(gold_brackets),
        test=len(test_brackets),
        crossing=_count_crossing(gold_brackets, test_brackets),
        words=len(gold_words),
        correct_tags=sum(map(parameters.same_label, gold_tags, predicted_tags)),
    )


def with_gold_tags(gold: Tree, predicted: Tree) -> Tree:
    """Return the predicted tree with its tags replaced by the gold tags; traces are ignored in both trees.

    If the trees differ in their numbers of words, the prediction is returned unchanged.

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
    """Keep a quote, apostrophe or slash in both trees if only one tree has a tag that deletes it.

    EVALB has this rule because parsers often confuse the tags of these words.

    Args:
        gold: preterminals of the gold tree.
        kept_gold: whether each gold word is kept; changed in place.
        test: preterminals of the predicted tree.
        kept_test: whether each predicted word is kept; changed in place.
        parameters: the tags of such words (``quote_labels``), and the labels of traces.
    """
    silent = parameters.delete_labels_for_length
    gold_positions = [i for i, node in enumerate(gold) if node.label not in silent]
    test_positions = [j for j, node in enumerate(test) if node.label not in silent]
    for i, j in zip(gold_positions, test_positions, strict=False):
        if all(node.label in parameters.quote_labels and node.word in _QUOTES for node in (gold[i], test[j])):
            kept_gold[i] = kept_test[j] = kept_gold[i] or kept_test[j]


def _select(tokens: Sequence[str], kept: Sequence[bool]) -> list[str]:
    return [token for token, keep in zip(tokens, kept, strict=True) if keep]


def counted_brackets(tree: Tree, position: Sequence[int], parameters: EvalbParameters) -> list[Bracket]:
    """Return the brackets of a tree that are scored, parents first.

    A bracket is left out if its label is deleted, or if it has no words or characters that are scored.

    Args:
        tree: gold or predicted tree, with n tokens.
        position: for each of the n + 1 token boundaries, the number of scored words (or characters) before
            it. Brackets in the result start and end at these numbers.
        parameters: which labels are deleted.
    """
    brackets = []
    for index, (full_label, start, end) in enumerate(tree.spans()):
        label = "TOP" if index == 0 and full_label in ROOT_LABELS else _strip_functions(full_label)
        if position[start] < position[end] and label not in parameters.delete_brackets:
            brackets.append((label, position[start], position[end]))
    return brackets


def _strip_functions(label: str) -> str:
    # Like EVALB, drop everything from the first "-" or "=" on: NP-SBJ-1 and NP=2 become NP.
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
    """Count the predicted brackets that cross a gold bracket, in linear time except for sorting.

    Two brackets cross if they overlap and neither contains the other. The gold bracket then strictly contains
    a boundary of the predicted bracket, and has a boundary of its own inside the predicted bracket. As gold
    brackets are nested, it is enough to check the innermost gold bracket around each boundary.
    """
    around = _innermost(gold, 1 + max((end for _, _, end in [*gold, *test]), default=0))
    return sum(around[start][1] < end or around[end][0] > start for _, start, end in test)


def _innermost(brackets: list[Bracket], n_boundaries: int) -> list[tuple[float, float]]:
    """Return, for each token boundary, the span of the innermost bracket that strictly contains it.

    The span is (-inf, inf) for a boundary inside no bracket.

    Args:
        brackets: brackets of a tree, parents first.
        n_boundaries: number of boundaries, the number of words plus one.
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


# Fields of `SentenceCounts` that `EvalbScore` sums.
_SUMMED = ("matched", "gold", "test", "crossing", "words", "correct_tags")


@dataclass(frozen=True, slots=True)
class EvalbScore:
    """Sums of counts over sentences, and percentages computed from them.

    A percentage is 0.0 if its denominator is 0.

    Args:
        sentences: number of all sentences, scored or not.
        errors: number of sentences with status ERROR: the words of the two trees differ.
        skipped: number of sentences with status SKIP: no prediction, or all its words are deleted.
        matched: number of brackets that gold and prediction share.
        gold: number of brackets of the gold trees.
        test: number of brackets of the predictions.
        crossing: number of predicted brackets that cross a gold bracket.
        words: number of words that are not deleted.
        correct_tags: number of these words whose predicted tag is the gold tag.
        complete: number of sentences without a wrong or missing bracket.
        uncrossed: number of sentences without a crossing bracket.
        crossed_twice_at_most: number of sentences with at most two crossing brackets.

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
        """Sum the counts of sentences, optionally only of those with at most ``max_length`` tokens."""
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
        """Number of sentences that were scored."""
        return self.sentences - self.errors - self.skipped

    @property
    def recall(self) -> float:
        """Percentage of gold brackets that were predicted."""
        return percent(self.matched, self.gold)

    @property
    def precision(self) -> float:
        """Percentage of predicted brackets that are correct."""
        return percent(self.matched, self.test)

    @property
    def f1(self) -> float:
        """Harmonic mean of recall and precision, in percent."""
        return percent(2 * self.matched, self.gold + self.test)

    @property
    def complete_match(self) -> float:
        """Percentage of sentences with exactly the gold brackets."""
        return percent(self.complete, self.valid)

    @property
    def average_crossing(self) -> float:
        """Mean number of crossing brackets per sentence (not a percentage)."""
        return self.crossing / self.valid if self.valid else 0.0

    @property
    def no_crossing(self) -> float:
        """Percentage of sentences without crossing brackets."""
        return percent(self.uncrossed, self.valid)

    @property
    def two_or_less_crossing(self) -> float:
        """Percentage of sentences with at most two crossing brackets."""
        return percent(self.crossed_twice_at_most, self.valid)

    @property
    def tagging_accuracy(self) -> float:
        """Percentage of words with the gold tag; deleted words (punctuation) are ignored."""
        return percent(self.correct_tags, self.words)


def percent(part: int, whole: int) -> float:
    """Return ``part`` as a percentage of ``whole``; 0.0 if ``whole`` is 0."""
    return 100.0 * part / whole if whole else 0.0
