"""Errors of all trees of a parser together: by type, by label, by length, by group."""

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

# Longest sentences, in tokens, of each row of lengths but the last.
LENGTHS = (10, 20, 30, 40)


@dataclass(frozen=True)
class AnalysedSentence:
    """A sentence with its gold tree and that of a parser.

    Attributes:
        number: from 1.
        group: such as its genre; empty for none.
        gold, tree: the trees; ``tree`` is None where the parser gave none.
        counts: as EVALB counts.
        found: what is wrong; None where EVALB does not score the sentence.

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
        """Brackets that are missing or extra."""
        return self.counts.gold + self.counts.test - 2 * self.counts.matched


@dataclass(frozen=True)
class TypeCount:
    """How frequent a type of error is.

    Attributes:
        type: of the errors, as of `TreeError`.
        errors: how many there are.
        brackets: how many are right once they are repaired.
        share: of these among all wrong brackets, in percent.

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
    """The errors of a parser over gold sentences.

    Attributes:
        sentences: in order.

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
        """EVALB's score over all sentences."""
        return EvalbScore.total(each.counts for each in self.sentences)

    @property
    def n_wrong(self) -> int:
        """Brackets that are missing or extra."""
        return sum(each.n_wrong for each in self.sentences)

    @property
    def n_errors(self) -> int:
        """Errors of all types."""
        return sum(each.errors for each in self.by_type())

    def by_type(self) -> list[TypeCount]:
        """All types of errors, those with most brackets first."""
        errors, brackets = Counter[str](), Counter[str]()
        for error in (error for found in self._found() for error in found.errors):
            errors[error.type] += 1
            brackets[error.type] += error.fixed
        rows = [
            TypeCount(kind, errors[kind], brackets[kind], percent(brackets[kind], brackets.total()))
            for kind in dict.fromkeys([*ErrorType, *errors])
        ]
        return sorted(rows, key=lambda each: -each.brackets)

    def confusion(self) -> list[tuple[tuple[str, str], int]]:
        """Pairs of a gold label and the parser's over the same words, the most frequent first."""
        pairs = Counter(pair for found in self._found() for pair in confused_labels(found))
        return sorted(pairs.items(), key=lambda each: (-each[1], each[0]))

    def by_label(self) -> list[tuple[str, int, int]]:
        """Labels, with missing brackets and extra ones of each, the most wrong first."""
        missing = Counter(label for found in self._found() for label, _, _ in found.missing)
        extra = Counter(label for found in self._found() for label, _, _ in found.extra)
        labels = sorted(missing + extra, key=lambda label: (-missing[label] - extra[label], label))
        return [(label, missing[label], extra[label]) for label in labels]

    def by_length(self) -> list[tuple[str, Analysis]]:
        """The sentences by their tokens."""
        return self._split(lambda each: _length_row(each.counts.length))

    def by_group(self) -> list[tuple[str, Analysis]]:
        """The sentences by their groups."""
        return self._split(lambda each: (each.group, each.group))

    def worst(self, number: int) -> list[AnalysedSentence]:
        """The sentences with most wrong brackets."""
        wrong = [each for each in self.sentences if each.n_wrong]
        return sorted(wrong, key=lambda each: (-each.n_wrong, each.counts.length))[:number]

    def compare(self, other: Analysis) -> Comparison:
        """Test whether two parsers differ in F1 over the same sentences; see `spectralnlp.scoring.compare`.

        Raises:
            InputError: they are not of the same sentences.
        """
        a, b = ([each.counts for each in analysis.sentences] for analysis in (self, other))
        return compare(a, b)

    def to_json(self) -> dict[str, Any]:
        """JSON values: the score, counts by type, labels, lengths and groups."""
        return {
            **self._summary(),
            "confusion": [{"gold": gold, "parser": own, "count": n} for (gold, own), n in self.confusion()],
            "labels": {
                label: {"missing": missing, "extra": extra} for label, missing, extra in self.by_label()
            },
            "lengths": {name: part._summary() for name, part in self.by_length()},
            "groups": {name: part._summary() for name, part in self.by_group() if name},
        }

    def _found(self) -> Iterator[TreeErrors]:
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
    """Find the errors of a parser, sentence by sentence.

    Args:
        gold: trees of the treebank.
        trees: of the parser, in the same order; None for a sentence without one.
        groups: of each sentence the name of a group, such as a genre; None for no groups.

    Raises:
        InputError: there are more trees of one than of the other.
        ConfigError: there are not as many names of groups.

    Examples:
        >>> from spectralnlp_trees import analyse
        >>> from spectralnlp.trees import read_brackets
        >>> brackets = ["(S (NP (NNS Gulls)) (VP (VBP fly)))", "(S (NP (NNS Gulls)) (NP (VBP fly)))"]
        >>> gold, tree = read_brackets(brackets)
        >>> analysis = analyse([gold, gold], [gold, tree], groups=["news", "talk"])
        >>> [(name, part.n_wrong) for name, part in analysis.by_group()]
        [('news', 0), ('talk', 2)]
    """
    wanted, own = list(gold), list(trees)
    if len(wanted) != len(own):
        raise InputError(
            f"{len(wanted)} gold trees but {len(own)} trees of the parser",
            sentence=min(len(wanted), len(own)) + 1,
            hint="give one tree for each gold tree, in the same order",
        )
    names = [""] * len(wanted) if groups is None else list(groups)
    if len(names) != len(wanted):
        raise ConfigError(f"{len(names)} names in `groups` for {len(wanted)} sentences", hint="give one each")
    sentences = (
        _analysed(number, group, tree, other)
        for number, (group, tree, other) in enumerate(zip(names, wanted, own, strict=True), 1)
    )
    return Analysis(tuple(sentences))


def confused_labels(found: TreeErrors) -> list[tuple[str, str]]:
    """Pairs of a missing and an extra label over the same words."""
    extra: dict[tuple[int, int], list[str]] = {}
    for label, start, end in found.extra:
        extra.setdefault((start, end), []).append(label)
    pairs = []
    for label, start, end in found.missing:
        if there := extra.get((start, end)):
            pairs.append((label, there.pop(0)))
    return pairs


def _analysed(number: int, group: str, gold: Tree, tree: Tree | None) -> AnalysedSentence:
    counts = count_sentence(gold, tree)
    found = find_errors(gold, tree) if tree is not None and counts.status == 0 else None
    return AnalysedSentence(number=number, group=group, gold=gold, tree=tree, counts=counts, found=found)


def _length_row(length: int) -> tuple[int, str]:
    low = 1
    for high in LENGTHS:
        if length <= high:
            return low, f"{low}–{high}"
        low = high + 1
    return low, f"{low} and more"
