"""Write an error analysis as a self-contained HTML page: tables, and the worst sentences side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate

from spectralnlp.render.svg import draw_tree
from spectralnlp.scoring import COLLINS, with_gold_tags
from spectralnlp.trees import Tree, strip_functions, strip_traces
from spectralnlp_trees.comparison.analysis import AnalysedSentence, Analysis
from spectralnlp_trees.comparison.diff import diff
from spectralnlp_trees.comparison.text import (
    COUNTED,
    LABELS,
    SCORES,
    SPLIT,
    confusion_rows,
    label_rows,
    score_rows,
    split_rows,
    type_rows,
)
from spectralnlp_trees.comparison.workspace import Bracket, counted_label
from spectralnlp_trees.page import html_text, panel, whole_page

# Larger trees are shown as a list of brackets, not drawn.
_MAX_WORDS, _MAX_NODES = 120, 2_000


def as_page(analyses: Sequence[Analysis], names: Sequence[str], *, title: str, worst: int = 20) -> str:
    """Return an HTML page of one error analysis, or of two analyses of the same sentences.

    Args:
        analyses: one analysis per parser.
        names: names of the parsers.
        title: title of the page, plain text.
        worst: number of sentences shown: those with the most wrong brackets over all parsers.
    """
    body = "\n".join([*_tables(analyses, names), *_sentences(analyses, names, worst)])
    return whole_page(title, body)


def _tables(analyses: Sequence[Analysis], names: Sequence[str]) -> Iterator[str]:
    rows = [[html_text(name), *row] for name, row in zip(names, score_rows(analyses), strict=True)]
    yield _table(["", *SCORES], rows)
    if len(analyses) > 1:
        yield f'<p class="note">{html_text(str(analyses[0].compare(analyses[1])).splitlines()[0])}</p>'
    yield "<h2>Types of errors</h2>"
    yield (
        '<p class="note">Brackets: number corrected by repairing the errors; share: of all wrong '
        "brackets.</p>"
    )
    most = max((count.share for _, counts in type_rows(analyses) for count in counts), default=0) or 1
    yield _table(
        ["type", *_headers(COUNTED, names)],
        [
            [
                html_text(kind),
                *(
                    cell
                    for each in counts
                    for cell in (f"{each.errors:,}", f"{each.brackets:,}", _bar(each.share, most))
                ),
            ]
            for kind, counts in type_rows(analyses)
        ],
    )
    yield "<h2>Labels</h2>"
    yield _table(
        ["label", *_headers(LABELS, names)],
        [[html_text(label), *(f"{n:,}" for n in counts)] for label, counts in label_rows(analyses)],
    )
    yield "<h2>Confused labels</h2>"
    yield '<p class="note">Labels of gold and parser brackets over the same words.</p>'
    pairs = confusion_rows(analyses)
    yield _table(
        ["gold label", "parser’s", *_headers(("brackets",), names)],
        [[html_text(gold), html_text(parsed), *(f"{n:,}" for n in counts)] for gold, parsed, counts in pairs],
        left=2,
    )
    yield "<h2>By length</h2>"
    yield _split("tokens", [each.by_length() for each in analyses], names)
    groups = [each.by_group() for each in analyses]
    if any(name for name, _ in groups[0]):
        yield "<h2>By group</h2>"
        yield _split("group", groups, names)


def _split(what: str, splits: Sequence[Sequence[tuple[str, Analysis]]], names: Sequence[str]) -> str:
    rows = [[html_text(name), n, *map(html_text, cells)] for name, n, cells in split_rows(splits)]
    return _table([what, "sentences", *_headers(SPLIT, names)], rows)


def _sentences(analyses: Sequence[Analysis], names: Sequence[str], worst: int) -> Iterator[str]:
    together = list(zip(*(each.sentences for each in analyses), strict=True))
    together = [some for some in together if any(each.n_wrong for each in some)]
    together.sort(key=lambda some: (-sum(each.n_wrong for each in some), some[0].counts.length))
    yield "<h2>Worst sentences</h2>"
    yield (
        '<p class="note"><span class="key missing">Missing</span> from a parser’s tree; '
        '<span class="key extra">extra</span> in it.</p>'
    )
    for some in together[:worst]:
        yield _sentence(some, names)


def _sentence(some: Sequence[AnalysedSentence], names: Sequence[str]) -> str:
    first = some[0]
    group = f" · {html_text(first.group)}" if first.group else ""
    text = html_text(" ".join(_cleaned(first.gold).words()))
    parts = [f"<h3>{first.number}{group}</h3><p>{text}</p>"]
    for each, name in zip(some, names, strict=True):
        parts.append(_errors(each, name))
    missing = Counter(bracket for each in some if each.found for bracket in set(each.found.missing))
    drawings = [_drawing("gold", first.gold, first.gold, missing, "missing")]
    for each, name in zip(some, names, strict=True):
        if each.tree is not None and each.found is not None:
            drawings.append(_drawing(name, each.gold, each.tree, Counter(each.found.extra), "extra"))
    if all(drawings):
        parts.append(f'<div class="trees">{"".join(drawings)}</div>')
    else:
        parts += [_listing(each, name) for each, name in zip(some, names, strict=True)]
    return f'<section class="sentence">{"".join(parts)}</section>'


def _errors(sentence: AnalysedSentence, name: str) -> str:
    """Return the errors of a parser's tree as an HTML list."""
    if sentence.found is None:
        return f"<p>{html_text(name)}: no tree over these words.</p>"
    items = [
        f"<li>{html_text(error.type)}: "
        f"{html_text('; '.join(repair.describe(sentence.found.words) for repair in error.repairs))} "
        f'<span class="faint">({error.fixed})</span></li>'
        for error in sentence.found.errors
    ]
    n_wrong = sentence.n_wrong
    count = "1 wrong bracket" if n_wrong == 1 else f"{n_wrong} wrong brackets"
    return f"<p>{html_text(name)}: {count}</p><ul>{''.join(items)}</ul>"


def _drawing(name: str, gold: Tree, tree: Tree, wrong: Counter[Bracket], mark: str) -> str:
    """Draw a tree with its wrong brackets highlighted; return an empty string if it is too large to draw.

    Args:
        name: title of the drawing.
        gold: the gold tree.
        tree: the tree to draw.
        wrong: brackets to highlight.
        mark: CSS class of the highlighting.
    """
    drawn = _cleaned(tree)
    if len(drawn.words()) > _MAX_WORDS or sum(1 for _ in drawn.nodes()) > _MAX_NODES:
        return ""
    counts = [tag not in COLLINS.delete_labels for tag in with_gold_tags(gold, drawn).tags()]
    place = [0, *accumulate(counts)]
    left, marks = wrong.copy(), dict[int, str]()
    for number, (label, start, end) in enumerate(drawn.spans()):
        bracket = Bracket(counted_label(label), place[start], place[end])
        if left[bracket] > 0:
            left[bracket] -= 1
            marks[number] = mark
    picture = draw_tree(drawn, marks=marks)
    return panel(name, picture)


def _listing(sentence: AnalysedSentence, name: str) -> str:
    """List the brackets that differ from the gold tree as HTML, for trees that are too large to draw."""
    if sentence.tree is None or sentence.found is None:
        return ""
    text = diff(sentence.gold, sentence.tree).to_text(context=0)
    return f"<h3>{html_text(name)}</h3><pre>{html_text(text)}</pre>"


def _cleaned(tree: Tree) -> Tree:
    return strip_functions(strip_traces(tree) or tree)


def _headers(what: Sequence[str], names: Sequence[str]) -> list[str]:
    if len(names) == 1:
        return list(what)
    return [f"{each}<br>{html_text(name)}" for name in names for each in what]


def _bar(share: float, most: float) -> str:
    bar = f'<span class="bar" style="width:{100 * share / most:.1f}%"></span>'
    return f'{share:.1f}% <span class="track">{bar}</span>'


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Return an HTML table; cells are HTML, and the first ``left`` columns are left-aligned."""

    def line(cells: Sequence[str], tag: str) -> str:
        names = [' class="name"' if number < left else "" for number in range(len(cells))]
        return "".join(f"<{tag}{name}>{cell}</{tag}>" for name, cell in zip(names, cells, strict=True))

    body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in rows)
    return f'<div class="scroll"><table><tr>{line(header, "th")}</tr>{body}</table></div>'
