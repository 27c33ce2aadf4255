"""Measures of the syntactic complexity and shape of texts, computed from counts that can be added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from spectralnlp.display import one_line
from spectralnlp_trees.measures.structures import RATIOS, STRUCTURES

# Labels whose mean length gets its own column, for treebanks with the labels of the Penn treebank.
PROFILED = ("S", "SBAR", "NP", "VP", "PP", "ADJP", "ADVP")


@dataclass(frozen=True)
class LengthProfile:
    """Length statistics of the constituents with one label, in words without punctuation.

    Attributes:
        label: label of the constituents.
        count: number of constituents.
        mean, median, longest: mean, median and maximum of their lengths.

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
    """Syntactic measures of a text, computed from counts over its trees.

    Args:
        structures: counts of structures by name, those of Lu (2010) by default: W, S, VP, C, T, DC, CT, CP,
            CN. Structures that were not counted, such as clauses of trees without Penn treebank labels, are
            absent.
        depths: number of trees of each depth. The depth of a tree is the number of constituents above its
            deepest word.
        arities: number of constituents with each number of children.
        branching: number of constituents with a phrase as first child but not as last child (``left``), and
            with a phrase as last child but not as first child (``right``).
        length_counts: for each label, the number of constituents of each length in words.

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
        """Add up the counts of the parts of a text; structures that a part did not count are left out."""
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
        """Number of trees that were measured, which have at least one word."""
        return sum(self.depths.values())

    @property
    def ratios(self) -> dict[str, float]:
        """Measures of Lu (2010) by name; 0.0 if the denominator is 0.

        There are fourteen measures; those whose structures were not counted are absent.
        """
        counts = self.structures
        return {
            name: _quotient(counts[of], counts[by])
            for name, (of, by) in RATIOS.items()
            if of in counts and by in counts
        }

    @property
    def mean_depth(self) -> float:
        """Mean depth of the trees, where depth is the number of constituents above the deepest word."""
        return _mean(self.depths)

    @property
    def greatest_depth(self) -> int:
        """Maximum depth of the trees, where depth is the number of constituents above the deepest word."""
        return max(self.depths, default=0)

    @property
    def mean_arity(self) -> float:
        """Mean number of children of a constituent."""
        return _mean(self.arities)

    @property
    def left_branching(self) -> float:
        """Share of constituents whose first child is a phrase and whose last child is not; from 0 to 1."""
        return _quotient(self.branching.get("left", 0), sum(self.arities.values()))

    @property
    def right_branching(self) -> float:
        """Share of constituents whose last child is a phrase and whose first child is not; from 0 to 1."""
        return _quotient(self.branching.get("right", 0), sum(self.arities.values()))

    def lengths(self) -> list[LengthProfile]:
        """Return the length statistics of each label, the most frequent labels first."""
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
        """Return all measures by name; None for those that were not counted.

        Args:
            labels: labels whose mean constituent length is included, as ``NP_length`` for ``NP``.
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
