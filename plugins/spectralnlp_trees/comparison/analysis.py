"""Aggregate a parser's errors over sentences: by type, label, length, and group, such as the genre."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from spectralnlp.display import one_line
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.scoring import EvalbScore, SentenceCounts, compare, count_sentence
from spectralnlp.scoring.evalb import percent
from spectralnlp.scoring.significance import Comparison
from spectralnlp.trees import Tree
from spectralnlp_trees.comparison.errors import TreeErrors, find_errors
from spectralnlp_trees.comparison.kinds import ErrorType

# Upper bounds of the length classes, in tokens; a last class holds all longer sentences.
LENGTHS = (10, 20, 30, 40)


@dataclass(frozen=True)
class AnalysedSentence:
    """Sentence with its gold tree, a parser's tree, and the errors in the parser's tree.

    Attributes:
        number: number of the sentence, from 1.
        group: name of its group, such as its genre; empty for none.
        gold, tree: gold tree and tree of the parser; ``tree`` is None if the parser returned none.
        counts: EVALB's counts for the sentence.
        found: errors in the parser's tree; None if EVALB, the usual bracket scorer, skips the sentence.

    Examples:
        >>> from spectralnlp_trees import AnalysedSentence, analyse
        >>> from spectralnlp.trees import read_brackets
        >>> brackets = ["(S (NP (NNS Gulls)) (VP (VBP fly)))", "(S (NP (NNS Gulls)) (NP (VBP fly)))"]
        >>> gold, tree = read_brackets(brackets)
        >>> sentence: AnalysedSentence = analyse([gold], [tree]).sentences[0]
        >>> sentence.number, sentence.counts.matched, sentence.n_wrong
        (1, 2, 2)
    """

    number: int
    group: str
    gold: Tree
    tree: Tree | None
    counts: SentenceCounts
    found: TreeErrors | None

    __repr__ = one_line

    @property
    def n_wrong(self) -> int:
        """Number of brackets that the parser missed or added."""
        return self.counts.gold + self.counts.test - 2 * self.counts.matched


@dataclass(frozen=True)
class TypeCount:
    """Frequency of one type of error.

    Attributes:
        type: type of the errors, such as a wrong attachment of a phrase.
        errors: number of errors.
        brackets: number of brackets that the repairs of these errors correct.
        share: share of these brackets among all wrong brackets, in percent.

    Examples:
        >>> from spectralnlp_trees import TypeCount, analyse
        >>> from spectralnlp.trees import read_brackets
        >>> brackets = ["(S (NP (NNS Gulls)) (VP (VBP fly)))", "(S (NP (NNS Gulls)) (NP (VBP fly)))"]
        >>> gold, tree = read_brackets(brackets)
        >>> rows: list[TypeCount] = analyse([gold], [tree]).by_type()
        >>> [(str(each.type), each.brackets, each.share) for each in rows if each.errors]
        [('different label', 2, 100.0)]
    """

    type: str
    errors: int
    brackets: int
    share: float

    __repr__ = one_line


@dataclass(frozen=True)
class Analysis:
    """Errors of a parser over the sentences of a treebank.

    Attributes:
        sentences: the sentences in order.

    Examples:
        >>> from spectralnlp_trees import Analysis, analyse
        >>> from spectralnlp.trees import read_brackets
        >>> brackets = ["(S (NP (NNS Gulls)) (VP (VBP fly)))", "(S (NP (NNS Gulls)) (NP (VBP fly)))"]
        >>> gold, tree = read_brackets(brackets)
        >>> analysis: Analysis = analyse([gold, gold], [gold, tree])
        >>> analysis.n_errors, analysis.n_wrong, analysis.confusion()[0]
        (1, 2, (('VP', 'NP'), 1))
    """

    sentences: tuple[AnalysedSentence, ...]

    __repr__ = one_line

    @property
    def score(self) -> EvalbScore:
        """EVALB score (precision, recall and F1 of brackets) over all sentences."""
        return EvalbScore.total(each.counts for each in self.sentences)

    @property
    def n_wrong(self) -> int:
        """Number of brackets that the parser missed or added, over all sentences."""
        return sum(each.n_wrong for each in self.sentences)

    @property
    def n_errors(self) -> int:
        """Number of errors of all types."""
        return sum(each.errors for each in self.by_type())

    def by_type(self) -> list[TypeCount]:
        """Return the counts of all error types, those with the most wrong brackets first."""
        errors, brackets = Counter[str](), Counter[str]()
        for error in (error for each in self._tree_errors() for error in each.errors):
            errors[error.type] += 1
            brackets[error.type] += error.fixed
        rows = [
            TypeCount(kind, errors[kind], brackets[kind], percent(brackets[kind], brackets.total()))
            for kind in dict.fromkeys([*ErrorType, *errors])
        ]
        return sorted(rows, key=lambda each: -each.brackets)

    def confusion(self) -> list[tuple[tuple[str, str], int]]:
        """Return pairs ((gold label, parser's label), count) of confused labels, most frequent first."""
        pairs = Counter(pair for each in self._tree_errors() for pair in confused_labels(each))
        return sorted(pairs.items(), key=lambda each: (-each[1], each[0]))

    def by_label(self) -> list[tuple[str, int, int]]:
        """Return triples (label, missing brackets, extra brackets), those with most wrong brackets first."""
        missing = Counter(label for each in self._tree_errors() for label, _, _ in each.missing)
        extra = Counter(label for each in self._tree_errors() for label, _, _ in each.extra)
        labels = sorted(missing + extra, key=lambda label: (-missing[label] - extra[label], label))
        return [(label, missing[label], extra[label]) for label in labels]

    def by_length(self) -> list[tuple[str, Analysis]]:
        """Return pairs (name, analysis), one for each class of sentence lengths in tokens."""
        return self._split(lambda each: _length_row(each.counts.length))

    def by_group(self) -> list[tuple[str, Analysis]]:
        """Return pairs (name, analysis), one for each group of sentences, such as a genre."""
        return self._split(lambda each: (each.group, each.group))

    def worst(self, number: int) -> list[AnalysedSentence]:
        """Return at most ``number`` sentences with wrong brackets, those with the most first."""
        wrong = [each for each in self.sentences if each.n_wrong]
        return sorted(wrong, key=lambda each: (-each.n_wrong, each.counts.length))[:number]

    def compare(self, other: Analysis) -> Comparison:
        """Test whether the difference in F1 of two parsers over the same sentences is significant.

        Args:
            other: analysis of the second parser.

        Returns:
            The F1 scores of both parsers, with the p-value and the confidence interval of their difference.

        Raises:
            InputError: the analyses are not of the same sentences.
        """
        a, b = ([each.counts for each in analysis.sentences] for analysis in (self, other))
        return compare(a, b)

    def to_json(self) -> dict[str, Any]:
        """Return values for JSON: the score, and counts by type, label, length and group."""
        return {
            **self._summary(),
            "confusion": [
                {"gold": gold, "parser": parsed, "count": n} for (gold, parsed), n in self.confusion()
            ],
            "labels": {
                label: {"missing": missing, "extra": extra} for label, missing, extra in self.by_label()
            },
            "lengths": {name: part._summary() for name, part in self.by_length()},
            "groups": {name: part._summary() for name, part in self.by_group() if name},
        }

    def _tree_errors(self) -> Iterator[TreeErrors]:
        return (each.found for each in self.sentences if each.found is not None)

    def _summary(self) -> dict[str, Any]:
        score = self.score
        return {
            "sentences": score.sentences,
            "unscored": score.sentences - score.valid,
            "recall": score.recall,
            "precision": score.precision,
            "f1": score.f1,
            "wrong_brackets": self.n_wrong,
            "errors": {
                str(each.type): {"errors": each.errors, "brackets": each.brackets, "share": each.share}
                for each in self.by_type()
            },
        }

    def _split(self, row_of: Callable[[AnalysedSentence], tuple[Any, str]]) -> list[tuple[str, Analysis]]:
        rows: dict[tuple[Any, str], list[AnalysedSentence]] = {}
        for sentence in self.sentences:
            rows.setdefault(row_of(sentence), []).append(sentence)
        return [(name, Analysis(tuple(some))) for (_, name), some in sorted(rows.items())]


def analyse(
    gold: Iterable[Tree], trees: Iterable[Tree | None], *, groups: Sequence[str] | None = None
) -> Analysis:
    """Return the errors of a parser in the sentences of a treebank, to be counted by type or label.

    Args:
        gold: trees of the treebank.
        trees: trees of the parser in the same order; None for a sentence that was not parsed.
        groups: group name of each sentence, such as its genre; None for no groups.

    Raises:
        InputError: ``gold`` and ``trees`` differ in length.
        ConfigError: ``gold`` and ``groups`` differ in length.

    Examples:
        >>> from spectralnlp_trees import analyse
        >>> from spectralnlp.trees import read_brackets
        >>> brackets = ["(S (NP (NNS Gulls)) (VP (VBP fly)))", "(S (NP (NNS Gulls)) (NP (VBP fly)))"]
        >>> gold, tree = read_brackets(brackets)
        >>> analysis = analyse([gold, gold], [gold, tree], groups=["news", "talk"])
        >>> [(name, part.n_wrong) for name, part in analysis.by_group()]
        [('news', 0), ('talk', 2)]
    """
    wanted, parsed = list(gold), list(trees)
    if len(wanted) != len(parsed):
        raise InputError(
            f"{len(wanted)} gold trees but {len(parsed)} trees of the parser",
            sentence=min(len(wanted), len(parsed)) + 1,
            hint="give one tree for each gold tree, in the same order",
        )
    names = [""] * len(wanted) if groups is None else list(groups)
    if len(names) != len(wanted):
        raise ConfigError(f"{len(names)} names in `groups` for {len(wanted)} sentences", hint="give one each")
    sentences = (
        _analysed(number, group, tree, other)
        for number, (group, tree, other) in enumerate(zip(names, wanted, parsed, strict=True), 1)
    )
    return Analysis(tuple(sentences))


def confused_labels(errors: TreeErrors) -> list[tuple[str, str]]:
    """Return pairs (gold label, parser's label) of brackets over the same words that a parser confused."""
    extra: dict[tuple[int, int], list[str]] = {}
    for label, start, end in errors.extra:
        extra.setdefault((start, end), []).append(label)
    pairs = []
    for label, start, end in errors.missing:
        if there := extra.get((start, end)):
            pairs.append((label, there.pop(0)))
    return pairs


def _analysed(number: int, group: str, gold: Tree, tree: Tree | None) -> AnalysedSentence:
    counts = count_sentence(gold, tree)
    errors = find_errors(gold, tree) if tree is not None and counts.status == 0 else None
    return AnalysedSentence(number=number, group=group, gold=gold, tree=tree, counts=counts, found=errors)


def _length_row(length: int) -> tuple[int, str]:
    low = 1
    for high in LENGTHS:
        if length <= high:
            return low, f"{low}–{high}"
        low = high + 1
    return low, f"{low} and more"
