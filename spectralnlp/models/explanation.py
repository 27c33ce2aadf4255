"""Why a bracket: the training trees that spoke for it and against it, as values and as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spectralnlp.display import one_line
from spectralnlp.inference.evidence import Feature
from spectralnlp.text.constraints import Bracket
from spectralnlp.trees import Tree


@dataclass(frozen=True, kw_only=True)
class TreeEvidence:
    """What a training tree did for a bracket.

    Attributes:
        influence: by how much the tree raised the bracket's log-odds (natural); negative if it lowered them.
        document: its name where it is known, else its number, counted from 1.
        sentence: its number in the document, counted from 1.
        tree: as it was learned from.
        match: the constituent of it that did most, or a word with its tag.
        rule: of that constituent, in the binarised tree.
    """

    influence: float
    document: str
    sentence: int
    tree: Tree
    match: Bracket
    rule: str

    __repr__ = one_line

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "influence": round(self.influence, 6),
            "document": self.document,
            "sentence": self.sentence,
            "match": list(self.match),
            "rule": self.rule,
            "tree": str(self.tree),
        }

    def to_text(self) -> str:
        """A line: influence, place, rule, and the words with the match in brackets."""
        words = list(self.tree.words())
        start, end, label = self.match
        words[start] = f"[{label} {words[start]}"
        words[end - 1] += "]"
        return f"  {self.influence:+.4f}  {self.document}:{self.sentence}  {self.rule}  {' '.join(words)}"


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why a sentence's tree has a bracket, or has it not.

    Attributes:
        bracket: what is explained.
        log_odds: natural logarithm of p(bracket) / p(no such bracket), under the grammar and before any span
            scorer.
        alternative: the best tree without the bracket.
        in_favour: the training trees that raised the log-odds most, the first one most; none where no trees
            were kept.
        against: those that lowered them most.
        features_in_favour, features_against: by which a span scorer then weighed the bracket, the largest
            first; none without a scorer, or if the forest that it saw has no such bracket.
        rules: those of the grammar, and tagged words, that add most to the log-odds and take most away, where
            no trees are named and there is no span scorer.

    Examples:
        >>> import tempfile
        >>> import spectralnlp
        >>> from spectralnlp import changes, registry
        >>> trees = spectralnlp.read_treebank("corpora/treebank/train.mrg")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     changes.train("pcfg", registry.estimators.get("pcfg")(), trees).save(f"{folder}/model")
        ...     parser = spectralnlp.load(f"{folder}/model")
        ...     words = "The keeper saw a boat in the harbour".split()
        ...     explanation = parser.explain(words, (3, 8, "NP"), trees=trees)
        ...
        >>> explanation.in_favour[0].influence > 0 > explanation.against[0].influence
        True
    """

    bracket: Bracket
    log_odds: float
    alternative: Tree
    in_favour: tuple[TreeEvidence, ...] = ()
    against: tuple[TreeEvidence, ...] = ()
    features_in_favour: tuple[Feature, ...] = ()
    features_against: tuple[Feature, ...] = ()
    rules: tuple[Feature, ...] = ()

    __repr__ = one_line

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "bracket": list(self.bracket),
            "log_odds": round(self.log_odds, 6),
            "alternative": str(self.alternative),
            "in_favour": [each.to_json() for each in self.in_favour],
            "against": [each.to_json() for each in self.against],
            "features_in_favour": [[each.text, round(each.weight, 4)] for each in self.features_in_favour],
            "features_against": [[each.text, round(each.weight, 4)] for each in self.features_against],
            "rules": [[each.text, round(each.weight, 4)] for each in self.rules],
        }

    def to_text(self) -> str:
        """Lines for reading."""
        features = [*self.features_in_favour, *self.features_against]
        trees = [*_section("trees in favour", self.in_favour), *_section("trees against", self.against)]
        if not (self.in_favour or self.against):
            trees = ["training trees: none were kept; train with --keep-moments to have them named"]
        if self.rules:
            rest = self.log_odds - sum(each.weight for each in self.rules)
            trees = [
                "training trees: none were kept; of a pcfg with kept moments --trees names them",
                "rules:",
                *(f"  {each.weight:+.3f}  {each.text}" for each in (*self.rules, Feature("the rest", rest))),
            ]
        return "\n".join(
            [
                f"{self.bracket.label} over {self.bracket.start}–{self.bracket.end}: log-odds "
                f"{self.log_odds:+.3f} under the grammar",
                f"best tree without it: {self.alternative}",
                *trees,
                *(["features of the span scorer:"] if features else []),
                *(f"  {each.weight:+.3f}  {each.text}" for each in features),
            ]
        )


def _section(heading: str, evidence: Sequence[TreeEvidence]) -> list[str]:
    return [f"{heading}:{'' if evidence else ' none'}", *(each.to_text() for each in evidence)]
