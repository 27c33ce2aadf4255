"""Explanations of a parser's brackets: training trees and features that count for and against a bracket."""

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
    """The influence of a training tree on a bracket.

    Attributes:
        influence: amount by which the tree raised the bracket's log-odds (natural logarithm); negative if the
            tree lowered them.
        document: name of the tree's document or, if it is not known, ``document 1`` and so on.
        sentence: number of the tree in the document, from 1.
        tree: the tree, as in training.
        match: the constituent in the tree, or the word with its tag, that contributed most.
        rule: grammar rule by which the matching constituent is built in the binarised tree.
    """

    influence: float
    document: str
    sentence: int
    tree: Tree
    match: Bracket
    rule: str

    __repr__ = one_line

    def to_json(self) -> dict[str, Any]:
        """Return the evidence as JSON values."""
        return {
            "influence": round(self.influence, 6),
            "document": self.document,
            "sentence": self.sentence,
            "match": list(self.match),
            "rule": self.rule,
            "tree": str(self.tree),
        }

    def to_text(self) -> str:
        """Return a line with influence, document, sentence, rule and words; the match is in brackets."""
        words = list(self.tree.words())
        start, end, label = self.match
        words[start] = f"[{label} {words[start]}"
        words[end - 1] += "]"
        return f"  {self.influence:+.4f}  {self.document}:{self.sentence}  {self.rule}  {' '.join(words)}"


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """An explanation of why a sentence's tree has, or does not have, a bracket.

    Attributes:
        bracket: the explained bracket.
        log_odds: natural logarithm of p(bracket) / (1 - p(bracket)) under the grammar, before any span
            scorer.
        alternative: the best tree without the bracket.
        in_favour: training trees that raised the log-odds most, the largest estimated influence first; the
            influence of the first tree is exact; empty if no trees were kept.
        against: training trees that lowered the log-odds most.
        features_in_favour, features_against: features with which a span scorer rescored the bracket, the
            largest first; empty without a scorer, or if no forest of the sentence contains the bracket.
        rules: rules of the grammar, and tagged words, that raise or lower the log-odds most; only if no trees
            are listed and there is no span scorer.

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
        """Return the explanation as JSON values."""
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
        """Return the explanation as lines of readable text."""
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
