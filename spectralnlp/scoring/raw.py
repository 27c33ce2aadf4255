"""Scores of parses of raw text: brackets, tags, tokens and sentences are matched by their characters.

A parser that splits and tokenises a text by itself has other sentences and tokens than the treebank. So all
things are spans of characters, white space left out, and a difference costs only what it touches: a token cut
in two costs its own tag and the brackets that begin or end inside it, a missed sentence end the brackets that
reach across it.

Conventions are EVALB's: the root is left out, functions of labels too, and words that the parameters delete
(punctuation, by the gold tags) count nowhere but in the scores of tokens and sentences. Their characters are
passed over like white space, so brackets that differ by punctuation alone are equal. Where the segmentation
is the treebank's, recall, precision and F1 are those of EVALB with gold tags.

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
# A tree, and its words with their offsets in the text of the document.
PlacedTree = tuple[Tree, Sentence]

_VISIBLE = re.compile(f"[^{BLANK}]+")
# What is matched, and the names of its scores in a flat dictionary and in a table.
_KINDS = {"": "brackets", "tag_": "tags", "token_": "tokens", "boundary_": "sentence ends"}


@dataclass(frozen=True, repr=False)
class RawReport(Report):
    """Counts of raw text, by sentences of the treebank, and how they were counted.

    Args:
        counts: int64 (n_sentences, 4, 3); for brackets, tags, tokens and sentence ends how many gold and
            prediction share, and how many either has. What is predicted belongs to the gold sentence that it
            begins in; a sentence end, to the one that it ends or cuts.
        predicted_sentences: sentences that the model found.
        parameters: what was deleted and what was equivalent.
        failures: sentences that the parser could not derive and answered with a fallback tree.
        seconds: time of splitting, tokenising and parsing, where it is known.

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
        """How it was counted, ``RAW|prm:COLLINS|tags:gold|spans:characters|v:0.1.0``."""
        return f"RAW|prm:{self.parameters.signature}|tags:gold|spans:characters|v:{__version__}"

    def to_flat_dict(self) -> dict[str, float | int | str]:
        """Return scores in percent and numbers of sentences and tokens.

        ``recall``, ``precision`` and ``f1`` are of brackets; scores of tags, tokens and sentence ends begin
        with ``tag_``, ``token_`` and ``boundary_``. ``sentences_per_second`` is there when known.
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
        """Return a table for readers, then the signature."""
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
        """Test whether two reports of the same gold sentences differ in F1 of brackets.

        Raises:
            InputError: they are not of the same sentences.
        """
        if not np.array_equal(self.counts[:, :, 1], other.counts[:, :, 1]):
            raise InputError(
                "two systems compare only on the same sentences", hint="score both against one gold file"
            )
        return compare_ratios(self._f1_terms(), other._f1_terms(), "f1")

    def _f1_terms(self) -> NDArray[np.float64]:
        matched, gold, predicted = self.counts[:, 0].T.astype(np.float64)
        return np.stack([2 * matched, gold + predicted], axis=1)

    def _sums(self, kind: int) -> tuple[int, int, int]:
        matched, gold, predicted = self.counts[:, kind].sum(axis=0).tolist()
        return matched, gold, predicted

    def _scores(self, kind: int) -> tuple[float, float, float]:
        """Recall, precision and F1."""
        matched, gold, predicted = self._sums(kind)
        return percent(matched, gold), percent(matched, predicted), percent(2 * matched, gold + predicted)


def score_raw(
    documents: Iterable[tuple[Sequence[PlacedTree], Sequence[PlacedTree]]],
    parameters: EvalbParameters = COLLINS,
) -> RawReport:
    """Compare trees over the same text, whatever their sentences and tokens.

    Args:
        documents: of each, gold and predicted trees in the order of the text. The gold words make the text;
            words of both have offsets into it.
        parameters: what is deleted and what is equivalent.

    Raises:
        InputError: predicted words are not those of the text.

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
    """Text of gold trees, with what counts in it.

    Args:
        gold: one or more trees.
        parameters: what is deleted.
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
        # How many visible characters, and how many that count, precede each place in the text.
        self.visible: list[int] = [0, *np.cumsum(visible).tolist()]
        self.counted: list[int] = [0, *np.cumsum(counted).tolist()]

    def count(self, predicted: Sequence[PlacedTree]) -> Counts:
        """Return int64 (n_gold, 4, 3), as a `RawReport` has them."""
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
        """Return int64 (n_gold, 3): of one kind of spans those shared, those of gold, those predicted."""
        starts = [position[sentence.start] for _, sentence in self.gold]
        found: list[list[Bracket]] = [[] for _ in self.gold]
        for placed in predicted:
            for span in spans_of(placed):
                found[max(bisect_right(starts, span[1]) - 1, 0)].append(span)
        rows = []
        for placed, test in zip(self.gold, found, strict=True):
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
        """The sentence's last character, unless it is the document's, which nobody has to find."""
        _, sentence = placed
        end = self.visible[sentence.end]
        return [("", end - 1, end)] if 0 < end < self.visible[-1] else []

    def _check(self, predicted: Sequence[PlacedTree]) -> None:
        for _, sentence in predicted:
            for token in sentence.tokens:
                if self.text[token.start : token.end] != token.text:
                    what = f"predicted word {token.text!r} is not in the text at character {token.start}"
                    raise InputError(what, hint="score the parses of the text that the gold trees make")


def _spans(labels: Sequence[str], sentence: Sentence, position: Sequence[int]) -> list[Bracket]:
    """Return the tokens that count, with a label each."""
    spans = [
        (label, position[token.start], position[token.end])
        for label, token in zip(labels, sentence.tokens, strict=True)
    ]
    return [span for span in spans if span[1] < span[2]]
