"""Evaluation report of a parser's trees: EVALB scores as a flat dictionary, a table or lines per sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from spectralnlp import __version__
from spectralnlp.display import Report
from spectralnlp.errors import InputError
from spectralnlp.scoring.evalb import EvalbScore, SentenceCounts, TagSource, count_sentence, percent
from spectralnlp.scoring.prm import COLLINS, EvalbParameters
from spectralnlp.scoring.significance import Comparison, compare
from spectralnlp.trees.tree import Tree

_EVALB_LINE = (
    "{sentence:4d}  {length:3d}    {status:d}  {recall:6.2f} {precision:6.2f}   {matched:3d}    {gold:3d}"
    "  {test:3d}    {crossing:3d}   {words:4d}  {correct_tags:4d}   {accuracy:6.2f}"
)
_ROW_NAMES = (  # names of the table's rows, in the order of `_percentages`
    "recall",
    "precision",
    "F1",
    "complete match",
    "average crossing",
    "no crossing",
    "2 or less crossing",
    "tagging accuracy",
)


@dataclass(frozen=True, repr=False)
class ParseReport(Report):
    """EVALB counts of all sentences of a file, and the settings used.

    Args:
        counts: counts of each sentence, in order.
        parameters: which labels were deleted, and which labels and words were equivalent.
        tags: ``gold`` or ``predicted``: which tags decided what is punctuation in the predicted trees; see
            :func:`count_sentence`.
        failures: number of sentences without a derivation, for which the parser returned a fallback tree.
        seconds: time that parsing took, or None if unknown.

    Examples:
        >>> from spectralnlp.scoring import score_trees
        >>> from spectralnlp.trees import read_brackets
        >>> brackets = ["(S (NP (NNS Gulls)) (VP (VBP fly)))", "(S (NNS Gulls) (VP (VBP fly)))"]
        >>> gold, tree = read_brackets(brackets)
        >>> round(score_trees([gold], [tree]).to_flat_dict()["recall"], 2)
        66.67
    """

    counts: tuple[SentenceCounts, ...]
    parameters: EvalbParameters = COLLINS
    tags: TagSource = "gold"
    failures: int = 0
    seconds: float | None = None

    @property
    def overall(self) -> EvalbScore:
        """Scores over sentences of all lengths."""
        return EvalbScore.total(self.counts)

    @property
    def short(self) -> EvalbScore:
        """Scores over sentences of at most ``parameters.cutoff_len`` tokens, 40 by default."""
        return EvalbScore.total(self.counts, max_length=self.parameters.cutoff_len)

    @property
    def sentences_per_second(self) -> float | None:
        """Parsing speed in sentences per second, or None if the time is unknown."""
        return len(self.counts) / self.seconds if self.seconds else None

    @property
    def signature(self) -> str:
        """A string that names the metric and its settings, for scores over sentences of all lengths.

        Compare only scores with equal signatures, such as ``EVALB|prm:COLLINS|tags:gold|len:all|v:0.1.0``.
        """
        return self._signature("all")

    def _signature(self, lengths: str) -> str:
        settings = f"prm:{self.parameters.signature}|tags:{self.tags}|len:{lengths}"
        return f"EVALB|{settings}|v:{__version__}"

    def to_flat_dict(self) -> dict[str, float | int | str]:
        """Return scores and counts by name; scores are in percent, except ``crossing``, a mean per sentence.

        Scores of short sentences have names that end in the maximum length: ``f1_40`` is the F1 of sentences
        of at most 40 tokens.
        ``sentences_per_second`` is present if known.
        """
        score, short, cutoff = self.overall, self.short, self.parameters.cutoff_len
        flat: dict[str, float | int | str] = dict(_percentages(score))
        flat |= {f"{key}_{cutoff}": value for key, value in _percentages(short).items()}
        flat |= {
            "sentences": score.sentences,
            f"sentences_{cutoff}": short.sentences,
            "failures": self.failures,
            "errors": score.errors,
            "skipped": score.skipped,
            "signature": self.signature,
            f"signature_{cutoff}": self._signature(str(cutoff)),
        }
        if self.sentences_per_second is not None:
            flat["sentences_per_second"] = self.sentences_per_second
        return flat

    def to_table(self) -> str:
        """Return a text table with columns for all and for short sentences, followed by the signature."""
        score, short = self.overall, self.short
        rows = zip(_ROW_NAMES, _percentages(score).values(), _percentages(short).values(), strict=True)
        lines = [
            f"{'':<20}{'all':>9}{f'len<={self.parameters.cutoff_len}':>9}",
            *(f"{name:<20}{a:9.2f}{b:9.2f}" for name, a, b in rows),
            f"{'sentences':<20}{score.sentences:>9}{short.sentences:>9}",
            f"{'  errors':<20}{score.errors:>9}{short.errors:>9}",
            f"{'  skipped':<20}{score.skipped:>9}{short.skipped:>9}",
            f"{'  failures':<20}{self.failures:>9}",
        ]
        if self.sentences_per_second is not None:
            lines.append(f"{'sentences/s':<20}{self.sentences_per_second:9.1f}")
        return "\n".join([*lines, self.signature])

    def compare(self, other: ParseReport) -> Comparison:
        """Test whether this report and another, on the same gold sentences, differ significantly in F1.

        See `significance.compare`.

        Raises:
            InputError: the reports are not on the same sentences.
        """
        return compare(self.counts, other.counts)

    def sentence_rows(self) -> Iterator[dict[str, float]]:
        """Yield a dictionary for each sentence, with the values of its line in EVALB's output, by name.

        Recall, precision and tagging accuracy are in percent.
        ``status`` is the number of a `Status`: 0 if the sentence was scored, 1 for an error, 2 if skipped.
        """
        for number, c in enumerate(self.counts, start=1):
            yield {
                "sentence": number,
                "length": c.length,
                "status": int(c.status),
                "recall": percent(c.matched, c.gold),
                "precision": percent(c.matched, c.test),
                "matched": c.matched,
                "gold": c.gold,
                "test": c.test,
                "crossing": c.crossing,
                "words": c.words,
                "correct_tags": c.correct_tags,
                "accuracy": percent(c.correct_tags, c.words),
            }

    def sentence_lines(self) -> Iterator[str]:
        """Yield one text line for each sentence: the values of `sentence_rows` in EVALB's format."""
        yield from map(_EVALB_LINE.format_map, self.sentence_rows())


def _percentages(score: EvalbScore) -> dict[str, float]:
    return {
        "recall": score.recall,
        "precision": score.precision,
        "f1": score.f1,
        "complete_match": score.complete_match,
        "crossing": score.average_crossing,
        "no_crossing": score.no_crossing,
        "two_or_less_crossing": score.two_or_less_crossing,
        "accuracy": score.tagging_accuracy,
    }


def score_trees(
    gold: Iterable[Tree],
    predicted: Iterable[Tree | None],
    parameters: EvalbParameters = COLLINS,
    *,
    tags: TagSource = "gold",
) -> ParseReport:
    """Compare gold and predicted trees, sentence by sentence.

    Args:
        gold: gold trees.
        predicted: predicted trees in the same order; None for a sentence without a prediction.
        parameters: which labels are deleted, and which labels and words are equivalent.
        tags: ``gold`` or ``predicted``: which tags decide what is punctuation in the predicted trees; see
            :func:`count_sentence`.

    Raises:
        InputError: the numbers of gold and predicted trees differ.

    Examples:
        >>> from spectralnlp.scoring import score_trees
        >>> from spectralnlp.trees import read_brackets
        >>> brackets = ["(S (NP (NNS Gulls)) (VP (VBP fly)))", "(S (NNS Gulls) (VP (VBP fly)))"]
        >>> gold, tree = read_brackets(brackets)
        >>> report = score_trees([gold, gold], [gold, tree])
        >>> round(report.overall.f1, 2), report.signature
        (90.91, 'EVALB|prm:COLLINS|tags:gold|len:all|v:0.1.0')
    """
    gold_trees, predicted_trees = list(gold), list(predicted)
    if len(gold_trees) != len(predicted_trees):
        raise InputError(
            f"{len(gold_trees)} gold trees but {len(predicted_trees)} predicted trees",
            sentence=min(len(gold_trees), len(predicted_trees)) + 1,
            hint="give one prediction for each gold tree, in the same order",
        )
    pairs = zip(gold_trees, predicted_trees, strict=True)
    counts = tuple(count_sentence(g, p, parameters, tags=tags) for g, p in pairs)
    return ParseReport(counts=counts, parameters=parameters, tags=tags)
