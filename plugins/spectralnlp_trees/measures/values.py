"""Measures as values: counts that add up, and the numbers that follow from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from spectralnlp.display import one_line
from spectralnlp_trees.measures.structures import RATIOS, STRUCTURES

# Constituents whose mean length has a column of its own, in treebanks with the labels of the Penn treebank.
PROFILED = ("S", "SBAR", "NP", "VP", "PP", "ADJP", "ADVP")


@dataclass(frozen=True)
class LengthProfile:
    """How long the constituents of a label are, in words without punctuation.

    Attributes:
        label: of the constituents.
        count: how many there are.
        mean, median, longest: of their lengths.

    Examples:
        >>> from spectralnlp_trees import LengthProfile, measure
        >>> from spectralnlp.trees import read_brackets
        >>> text = measure(read_brackets(["(S (NP (DT The) (NN keeper)) (VP (VBZ sleeps)))"]))
        >>> profile: LengthProfile = text.lengths()[1]
        >>> profile.label, profile.count, profile.mean
        ('S', 1, 3.0)
    """

    label: str
    count: int
    mean: float
    median: float
    longest: int

    __repr__ = one_line


@dataclass(frozen=True, kw_only=True)
class Measures:
    """Counts over the trees of a text; the measures are their quotients.

    Args:
        structures: by name, those of Lu (2010): W, S, VP, C, T, DC, CT, CP, CN. What was not counted, such as
            clauses of trees with other labels than the Penn treebank's, is not there.
        depths: how many trees have each depth: constituents above the deepest word.
        arities: how many constituents have each number of children.
        branching: constituents with a phrase as first child and none as last (``left``), the reverse
            (``right``).
        length_counts: by label, how many constituents have each length in words.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp_trees import Measures, measure
        >>> trees = spectralnlp.read_treebank("corpora/treebank/dev.mrg")
        >>> text: Measures = measure(trees)
        >>> text.structures["T"], round(text.ratios["MLT"], 2), round(text.mean_depth, 2)
        (31, 7.48, 4.53)
        >>> (text + text).structures["T"]
        62
    """

    structures: Mapping[str, int] = field(default_factory=dict)
    depths: Mapping[int, int] = field(default_factory=dict)
    arities: Mapping[int, int] = field(default_factory=dict)
    branching: Mapping[str, int] = field(default_factory=dict)
    length_counts: Mapping[str, Mapping[int, int]] = field(default_factory=dict)

    __repr__ = one_line

    @classmethod
    def total(cls, parts: Iterable[Measures]) -> Measures:
        """Add up the measures of parts."""
        structures, branching = Counter[str](), Counter(left=0, right=0)
        counted: Iterable[str] | None = None
        depths, arities = Counter[int](), Counter[int]()
        lengths: dict[str, Counter[int]] = {}
        for part in parts:
            if part.depths:
                counted = [each for each in counted or part.structures if each in part.structures]
            structures.update(part.structures)
            depths.update(part.depths)
            arities.update(part.arities)
            branching.update(part.branching)
            for label, counts in part.length_counts.items():
                lengths.setdefault(label, Counter()).update(counts)
        return cls(
            structures={name: structures[name] for name in (STRUCTURES if counted is None else counted)},
            depths=depths,
            arities=arities,
            branching=branching,
            length_counts=lengths,
        )

    def __add__(self, other: Measures) -> Measures:
        return Measures.total([self, other])

    @property
    def n_trees(self) -> int:
        """Trees with a word."""
        return sum(self.depths.values())

    @property
    def ratios(self) -> dict[str, float]:
        """The measures of Lu (2010) by their names; 0.0 where there is nothing to divide by.

        Fourteen, if all structures were counted; those of structures that were not are not there.
        """
        counts = self.structures
        return {
            name: _quotient(counts[of], counts[by])
            for name, (of, by) in RATIOS.items()
            if of in counts and by in counts
        }

    @property
    def mean_depth(self) -> float:
        """The mean over trees of the constituents above the deepest word."""
        return _mean(self.depths)

    @property
    def greatest_depth(self) -> int:
        """The constituents above the deepest word of all."""
        return max(self.depths, default=0)

    @property
    def mean_arity(self) -> float:
        """Children of a constituent, on average."""
        return _mean(self.arities)

    @property
    def left_branching(self) -> float:
        """The share of constituents that have a phrase as first child and none as last; from 0 to 1."""
        return _quotient(self.branching.get("left", 0), sum(self.arities.values()))

    @property
    def right_branching(self) -> float:
        """The share of constituents that have a phrase as last child and none as first; from 0 to 1."""
        return _quotient(self.branching.get("right", 0), sum(self.arities.values()))

    def lengths(self) -> list[LengthProfile]:
        """Profiles of the lengths of constituents, the most frequent labels first."""
        profiles = [
            LengthProfile(
                label=label,
                count=sum(counts.values()),
                mean=_mean(counts),
                median=float(median(Counter(counts).elements())),
                longest=max(counts),
            )
            for label, counts in self.length_counts.items()
        ]
        return sorted(profiles, key=lambda each: (-each.count, each.label))

    def to_flat_dict(self, labels: Sequence[str] = PROFILED) -> dict[str, float | None]:
        """All measures by name; None for what was not counted.

        Args:
            labels: of the constituents whose mean length is among them.
        """
        lengths = self.length_counts
        means = {f"{each}_length": _mean(lengths[each]) if each in lengths else None for each in labels}
        return {
            **dict.fromkeys(STRUCTURES),
            **self.structures,
            **dict.fromkeys(RATIOS),
            **self.ratios,
            "depth": self.mean_depth,
            "greatest_depth": self.greatest_depth,
            "arity": self.mean_arity,
            "left_branching": self.left_branching,
            "right_branching": self.right_branching,
            **means,
        }


def _quotient(of: float, by: float) -> float:
    return of / by if by else 0.0


def _mean(counts: Mapping[int, int]) -> float:
    return _quotient(sum(value * count for value, count in counts.items()), sum(counts.values()))
