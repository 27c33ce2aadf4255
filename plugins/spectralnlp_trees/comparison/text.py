"""Format one or several error analyses as plain-text tables, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from spectralnlp_trees.comparison.analysis import Analysis, TypeCount

# Maximum number of labels, and of label pairs, shown.
MAX_LABELS = 12


def as_text(analyses: Sequence[Analysis], names: Sequence[str]) -> str:
    """Return plain-text tables of scores, error types, labels, confused labels, lengths and groups.

    Args:
        analyses: one analysis per parser, all of the same sentences.
        names: names of the parsers.
    """
    tables = (score_table, type_table, label_table, confusion_table)
    parts = [make(analyses, names) for make in tables]
    parts.append(split_table("tokens", [each.by_length() for each in analyses], names))
    groups = [each.by_group() for each in analyses]
    if any(name for name, _ in groups[0]):
        parts.append(split_table("group", groups, names))
    if len(analyses) > 1:
        parts.append(str(analyses[0].compare(analyses[1])))
    return "\n\n".join(parts)


def as_rows(analyses: Sequence[Analysis], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the numbers of error analyses one by one, as dictionaries for use by other programs.

    Each dictionary has the keys parser, table, row, column and value.

    Args:
        analyses: one analysis per parser, all of the same sentences.
        names: names of the parsers.
    """
    for parser, analysis in zip(names, analyses, strict=True):
        for kind, name, cells in _named_cells(analysis):
            for column, value in cells.items():
                yield {"parser": parser, "table": kind, "row": name, "column": column, "value": value}


def _named_cells(analysis: Analysis) -> Iterator[tuple[str, str, dict[str, float]]]:
    """Yield the rows of all tables of an analysis as (table, row name, values by column)."""
    yield "score", "all", _scores(analysis)
    for each in analysis.by_type():
        yield "type", str(each.type), {"errors": each.errors, "brackets": each.brackets}
    for label, missing, extra in analysis.by_label():
        yield "label", label, {"missing": missing, "extra": extra}
    for (gold, parsed), n in analysis.confusion():
        yield "confusion", f"{gold} > {parsed}", {"brackets": n}
    for kind, parts in (("length", analysis.by_length()), ("group", analysis.by_group())):
        yield from ((kind, name, _scores(part)) for name, part in parts if name)


def _scores(analysis: Analysis) -> dict[str, float]:
    score = analysis.score
    return {
        "sentences": score.sentences,
        "recall": score.recall,
        "precision": score.precision,
        "f1": score.f1,
        "exact": score.complete_match,
        "wrong_brackets": analysis.n_wrong,
    }


def score_rows(analyses: Sequence[Analysis]) -> list[list[str]]:
    """Return a row of scores for each analysis, with the columns that `SCORES` lists."""
    rows = []
    for each in analyses:
        score = each.score
        percents = (score.recall, score.precision, score.f1, score.complete_match)
        counts = (score.sentences, score.sentences - score.valid, each.n_wrong, each.n_errors)
        rows.append([*(f"{value:.2f}" for value in percents), *(f"{value:,}" for value in counts)])
    return rows


SCORES = ("recall", "precision", "F1", "exact", "sentences", "unscored", "wrong brackets", "errors")


def score_table(analyses: Sequence[Analysis], names: Sequence[str]) -> str:
    """Return a table of EVALB's scores and of the numbers of wrong brackets and errors."""
    rows = [[name, *row] for name, row in zip(names, score_rows(analyses), strict=True)]
    return table(("", *SCORES), rows)


def type_rows(analyses: Sequence[Analysis]) -> list[tuple[str, list[TypeCount]]]:
    """Return pairs of an error type and its counts in each analysis; types without errors are left out.

    Types are in the order of the first analysis: most wrong brackets first.
    """
    counts = [{row.type: row for row in each.by_type()} for each in analyses]
    kinds = dict.fromkeys(kind for each in counts for kind, row in each.items() if row.errors)
    return [(kind, [each.get(kind, TypeCount(kind, 0, 0, 0.0)) for each in counts]) for kind in kinds]


def type_table(analyses: Sequence[Analysis], names: Sequence[str]) -> str:
    """Return a table of error types: number of errors, wrong brackets, and share of all wrong brackets."""
    header = ["type of error", *(f"{what}{_of(names, name)}" for name in names for what in COUNTED)]
    rows = [
        [kind, *(cell for each in counts for cell in type_cells(each))]
        for kind, counts in type_rows(analyses)
    ]
    return table(header, rows)


COUNTED = ("errors", "brackets", "share")


def type_cells(count: TypeCount) -> tuple[str, str, str]:
    """Return three table cells of an error type: errors, brackets, and share in percent."""
    return f"{count.errors:,}", f"{count.brackets:,}", f"{count.share:.1f}%"


def label_rows(analyses: Sequence[Analysis]) -> list[tuple[str, list[int]]]:
    """Return the labels with most wrong brackets, each with its counts of missing and extra brackets.

    The counts are [missing, extra] of the first analysis, then those of the second.
    """
    counts = [{label: [missing, extra] for label, missing, extra in each.by_label()} for each in analyses]
    total = Counter[str]()
    for each in counts:
        total.update({label: sum(both) for label, both in each.items()})
    labels = [label for label, _ in total.most_common(MAX_LABELS)]
    return [(label, [n for each in counts for n in each.get(label, [0, 0])]) for label in labels]


LABELS = ("missing", "extra")


def label_table(analyses: Sequence[Analysis], names: Sequence[str]) -> str:
    """Return a table of missing and extra brackets by label."""
    header = ["label", *(f"{what}{_of(names, name)}" for name in names for what in LABELS)]
    return table(header, [[label, *(f"{n:,}" for n in counts)] for label, counts in label_rows(analyses)])


def confusion_rows(analyses: Sequence[Analysis]) -> list[tuple[str, str, list[int]]]:
    """Return the most frequent pairs of gold and parser label, with their counts in each analysis."""
    counts = [dict(each.confusion()) for each in analyses]
    total = Counter[tuple[str, str]]()
    for each in counts:
        total.update(each)
    pairs = [pair for pair, _ in total.most_common(MAX_LABELS)]
    return [(*pair, [each.get(pair, 0) for each in counts]) for pair in pairs]


def confusion_table(analyses: Sequence[Analysis], names: Sequence[str]) -> str:
    """Return a table of confused labels: gold and parser label of brackets over the same words."""
    header = ["gold label", "parser's", *(f"brackets{_of(names, name)}" for name in names)]
    rows = [[gold, parsed, *(f"{n:,}" for n in counts)] for gold, parsed, counts in confusion_rows(analyses)]
    return table(header, rows, left=2)


def split_rows(splits: Sequence[Sequence[tuple[str, Analysis]]]) -> list[tuple[str, str, list[str]]]:
    """Return a table row for each subset of the sentences, such as one length class or genre.

    A row is the name of the subset, its number of sentences, and for each parser three cells: F1, number of
    wrong brackets, and the type of error with most wrong brackets.

    Args:
        splits: for each parser, pairs of the name of a subset and its analysis.
    """
    rows = []
    for parts in zip(*splits, strict=True):
        cells = []
        for _, part in parts:
            first = part.by_type()[0]
            commonest = first.type if first.errors else "–"
            cells += [f"{part.score.f1:.2f}", f"{part.n_wrong:,}", commonest]
        rows.append((parts[0][0], f"{parts[0][1].score.sentences:,}", cells))
    return rows


SPLIT = ("F1", "wrong brackets", "commonest error")


def split_table(what: str, splits: Sequence[Sequence[tuple[str, Analysis]]], names: Sequence[str]) -> str:
    """Return a plain-text table of scores by sentence length, or by group, such as the genre.

    Args:
        what: heading of the first column.
        splits: for each parser, pairs of the name of a subset of the sentences and its analysis.
        names: names of the parsers.
    """
    header = [what, "sentences", *(f"{each}{_of(names, name)}" for name in names for each in SPLIT)]
    return table(header, [[name, n, *cells] for name, n, cells in split_rows(splits)])


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Format a plain-text table; the first ``left`` columns are left-aligned, the others right-aligned."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = []
    for row in (header, *rows):
        cells = [
            f"{cell:<{width}}" if number < left else f"{cell:>{width}}"
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _of(names: Sequence[str], name: str) -> str:
    return f" {name}" if len(names) > 1 else ""
