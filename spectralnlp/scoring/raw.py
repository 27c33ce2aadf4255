"""Scores of parses of raw text: brackets, tags, tokens and sentences are matched by character spans.

A parser that splits and tokenises text itself may find other sentences and tokens than the treebank has. So
all units are compared as spans of characters, not counting white space. A segmentation error then only costs
the units that it affects: a token split in two costs its tag and the brackets that begin or end inside it; a
missed sentence end costs the brackets that reach across it.

The conventions are EVALB's: the root and function tags are ignored, and words that the parameters delete
(punctuation, by the gold tags) only count in the scores of tokens and sentences. Their characters are skipped
like white space, so brackets that differ by punctuation alone are equal. If the segmentation is that of the
treebank, recall, precision and F1 equal those of EVALB with gold tags.

Source of matching by characters: B. Roark et al., "SParseval: Evaluation Metrics for Parsing Speech", LREC
2006, align words; D. Zeman et al., "CoNLL 2018 Shared Task", match tokens and sentences by characters.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spectralnlp import __version__
from spectralnlp.display import Report
from spectralnlp.errors import InputError
from spectralnlp.scoring.evalb import Bracket, count_matched, counted_brackets, percent
from spectralnlp.scoring.prm import COLLINS, EvalbParameters
from spectralnlp.scoring.significance import Comparison, compare_ratios
from spectralnlp.text.detokenizer import text_of
from spectralnlp.text.tokenizer import BLANK
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees.tree import Tree

Counts = NDArray[np.int64]
# A tree, and its sentence: the tokens with their offsets in the text of the document.
PlacedTree = tuple[Tree, Sentence]

_VISIBLE = re.compile(f"[^{BLANK}]+")
# Kinds of units that are matched: prefix of their scores in a flat dictionary, and name in a table.
_KINDS = {"": "brackets", "tag_": "tags", "token_": "tokens", "boundary_": "sentence ends"}


@dataclass(frozen=True, repr=False)
class RawReport(Report):
    """Scores of parses of raw text: counts for each gold sentence, and the settings used.

    Args:
        counts: int64 (n_sentences, 4, 3); for brackets, tags, tokens and sentence ends, the numbers of
            matched, gold and predicted units. A predicted unit is counted with the gold sentence in which it
            begins, a predicted sentence end with the gold sentence that it ends or splits.
        predicted_sentences: number of sentences that the model found.
        parameters: which labels were deleted, and which labels and words were equivalent.
        failures: number of sentences without a derivation, for which the parser returned a fallback tree.
        seconds: time of splitting, tokenising and parsing, or None if unknown.

    Examples:
        >>> import spectralnlp
        >>> report = spectralnlp.evaluate("en", "corpora/treebank/dev.mrg", raw=True)
        >>> report.to_flat_dict()["f1"] > 60
        True
    """

    counts: Counts
    predicted_sentences: int
    parameters: EvalbParameters = COLLINS
    failures: int = 0
    seconds: float | None = None

    @property
    def f1(self) -> float:
        """F1 of labelled brackets, in percent."""
        return self._scores(0)[2]

    @property
    def signature(self) -> str:
        """A string that names the metric and its settings; compare only scores with equal signatures.

        An example is ``RAW|prm:COLLINS|tags:gold|spans:characters|v:0.1.0``.
        """
        return f"RAW|prm:{self.parameters.signature}|tags:gold|spans:characters|v:{__version__}"

    def to_flat_dict(self) -> dict[str, float | int | str]:
        """Return scores in percent and numbers of sentences and tokens, by name.

        ``recall``, ``precision`` and ``f1`` are those of brackets; the names for tags, tokens and sentence
        ends begin with ``tag_``, ``token_`` and ``boundary_``. ``sentences_per_second`` is present if known.
        """
        flat: dict[str, float | int | str] = {}
        for kind, prefix in enumerate(_KINDS):
            names = (f"{prefix}recall", f"{prefix}precision", f"{prefix}f1")
            flat |= zip(names, self._scores(kind), strict=True)
        _, gold_tokens, predicted_tokens = self._sums(list(_KINDS).index("token_"))
        flat |= {
            "sentences": len(self.counts),
            "predicted_sentences": self.predicted_sentences,
            "tokens": gold_tokens,
            "predicted_tokens": predicted_tokens,
            "failures": self.failures,
            "signature": self.signature,
        }
        if self.seconds:
            flat["sentences_per_second"] = len(self.counts) / self.seconds
        return flat

    def to_table(self) -> str:
        """Return the scores as a text table, followed by the signature."""
        flat = self.to_flat_dict()
        lines = [f"{'':<20}{'recall':>9}{'precision':>11}{'F1':>9}"]
        for kind, name in enumerate(_KINDS.values()):
            recall, precision, f1 = self._scores(kind)
            lines.append(f"{name:<20}{recall:9.2f}{precision:11.2f}{f1:9.2f}")
        lines += [
            f"{'':<20}{'gold':>9}{'predicted':>11}",
            f"{'sentences':<20}{flat['sentences']:>9}{flat['predicted_sentences']:>11}",
            f"{'  failures':<20}{'':>9}{self.failures:>11}",
            f"{'tokens':<20}{flat['tokens']:>9}{flat['predicted_tokens']:>11}",
        ]
        if self.seconds:
            lines.append(f"{'sentences/s':<20}{flat['sentences_per_second']:9.1f}")
        return "\n".join([*lines, self.signature])

    def compare(self, other: RawReport) -> Comparison:
        """Test whether two reports on the same gold sentences differ significantly in the F1 of brackets.

        Raises:
            InputError: the reports are not on the same sentences.
        """
        if not np.array_equal(self.counts[:, :, 1], other.counts[:, :, 1]):
            raise InputError(
                "systems can only be compared on the same sentences", hint="score both against one gold file"
            )
        return compare_ratios(self._f1_terms(), other._f1_terms(), "f1")

    def _f1_terms(self) -> NDArray[np.float64]:
        matched, gold, predicted = self.counts[:, 0].T.astype(np.float64)
        return np.stack([2 * matched, gold + predicted], axis=1)

    def _sums(self, kind: int) -> tuple[int, int, int]:
        matched, gold, predicted = self.counts[:, kind].sum(axis=0).tolist()
        return matched, gold, predicted

    def _scores(self, kind: int) -> tuple[float, float, float]:
        """Return recall, precision and F1 of one kind of units, in percent."""
        matched, gold, predicted = self._sums(kind)
        return percent(matched, gold), percent(matched, predicted), percent(2 * matched, gold + predicted)


def score_raw(
    documents: Iterable[tuple[Sequence[PlacedTree], Sequence[PlacedTree]]],
    parameters: EvalbParameters = COLLINS,
) -> RawReport:
    """Compare gold and predicted trees over the same text; sentences and tokens may differ.

    Args:
        documents: for each document, its gold trees and its predicted trees, in the order of the text. Each
            tree is paired with its sentence, whose tokens have character offsets into the document's text.
            The text itself is not needed: it is rebuilt from the tokens of the gold sentences.
        parameters: which labels are deleted, and which labels and words are equivalent.

    Raises:
        InputError: a predicted word does not match the text at its offsets.

    Examples:
        >>> from spectralnlp.scoring import score_raw
        >>> import spectralnlp
        >>> parser = spectralnlp.load("en")
        >>> placed = [(parse.tree, parse.sentence) for parse in parser.parse("Gulls are noisy. It is cold.")]
        >>> score_raw([(placed, placed)]).f1
        100.0
    """
    rows: list[Counts] = []
    n_predicted = 0
    for gold, predicted in documents:
        if gold:
            rows.append(_Document(gold, parameters).count(predicted))
            n_predicted += len(predicted)
    counts = np.concatenate(rows) if rows else np.zeros((0, len(_KINDS), 3), np.int64)
    return RawReport(counts, n_predicted, parameters)


class _Document:
    """The gold trees of a document and its text, against which predicted trees are scored.

    Args:
        gold: one or more gold trees.
        parameters: which labels are deleted, and which labels and words are equivalent.
    """

    def __init__(self, gold: Sequence[PlacedTree], parameters: EvalbParameters) -> None:
        self.gold, self.parameters = gold, parameters
        self.text = text_of(sentence for _, sentence in gold)
        visible = np.zeros(len(self.text), bool)
        for match in _VISIBLE.finditer(self.text):
            visible[match.start() : match.end()] = True
        counted = visible.copy()
        for tree, sentence in gold:
            for tag, token in zip(tree.tags(), sentence.tokens, strict=True):
                if tag in parameters.delete_labels:
                    counted[token.start : token.end] = False
        # Numbers of non-blank characters, and of characters of words not deleted, before each offset.
        self.visible: list[int] = [0, *np.cumsum(visible).tolist()]
        self.counted: list[int] = [0, *np.cumsum(counted).tolist()]

    def count(self, predicted: Sequence[PlacedTree]) -> Counts:
        """Count matched, gold and predicted units by gold sentence, int64 (n_gold, 4, 3); see `RawReport`."""
        self._check(predicted)
        labelled = replace(self.parameters, labelled=True)
        columns = [
            self._column(self._brackets, predicted, self.counted, self.parameters),
            self._column(self._tags, predicted, self.counted, labelled),
            self._column(self._tokens, predicted, self.visible, labelled),
            self._column(self._ends, predicted, self.visible, labelled),
        ]
        return np.stack(columns, axis=1)

    def _column(
        self,
        spans_of: Callable[[PlacedTree], list[Bracket]],
        predicted: Sequence[PlacedTree],
        position: Sequence[int],
        parameters: EvalbParameters,
    ) -> Counts:
        """Count matched, gold and predicted spans of one kind for each gold sentence, int64 (n_gold, 3).

        Args:
            spans_of: returns the spans of that kind (brackets, tags, tokens or sentence ends) in a tree.
            predicted: predicted trees with their sentences.
            position: number of counted characters before each offset of the text.
            parameters: which labels are equivalent, and whether labels have to match.
        """
        starts = [position[sentence.start] for _, sentence in self.gold]
        by_sentence: list[list[Bracket]] = [[] for _ in self.gold]
        for placed in predicted:
            for span in spans_of(placed):
                by_sentence[max(bisect_right(starts, span[1]) - 1, 0)].append(span)
        rows = []
        for placed, test in zip(self.gold, by_sentence, strict=True):
            gold = spans_of(placed)
            rows.append((count_matched(gold, test, parameters), len(gold), len(test)))
        return np.array(rows, np.int64)

    def _brackets(self, placed: PlacedTree) -> list[Bracket]:
        tree, sentence = placed
        boundaries = [*(token.start for token in sentence.tokens), sentence.end]
        return counted_brackets(tree, [self.counted[each] for each in boundaries], self.parameters)

    def _tags(self, placed: PlacedTree) -> list[Bracket]:
        tree, sentence = placed
        return _spans(tree.tags(), sentence, self.counted)

    def _tokens(self, placed: PlacedTree) -> list[Bracket]:
        _, sentence = placed
        return _spans([""] * len(sentence), sentence, self.visible)

    def _ends(self, placed: PlacedTree) -> list[Bracket]:
        """Return the span of the last character of a sentence, which represents the sentence end.

        The last sentence of a document gives no span, because its end is known.
        """
        _, sentence = placed
        end = self.visible[sentence.end]
        return [("", end - 1, end)] if 0 < end < self.visible[-1] else []

    def _check(self, predicted: Sequence[PlacedTree]) -> None:
        for _, sentence in predicted:
            for token in sentence.tokens:
                if self.text[token.start : token.end] != token.text:
                    what = f"predicted word {token.text!r} is not in the text at character {token.start}"
                    raise InputError(what, hint="score parses of the text of the gold trees")


def _spans(labels: Sequence[str], sentence: Sentence, position: Sequence[int]) -> list[Bracket]:
    """Return a labelled span for each token of a sentence, except tokens without counted characters.

    Spans are measured in counted characters, which exclude white space.

    Args:
        labels: label of each token.
        sentence: the tokens, with character offsets into the text.
        position: number of counted characters before each offset of the text.
    """
    spans = [
        (label, position[token.start], position[token.end])
        for label, token in zip(labels, sentence.tokens, strict=True)
    ]
    return [span for span in spans if span[1] < span[2]]
