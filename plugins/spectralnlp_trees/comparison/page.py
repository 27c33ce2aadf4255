"""An analysis as one page of HTML that needs nothing else: tables, and the worst sentences side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from itertools import accumulate

from spectralnlp.render.svg import clean, draw_tree
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

# Longer or deeper sentences are shown as a list of brackets, not drawn.
_MOST_WORDS, _MOST_NODES = 120, 2_000

_STYLE = """
:root { color-scheme: light dark; --text: #1c2128; --faint: #59636e; --line: #d5dae0; --page: #ffffff;
  --panel: #f6f8fa; --bar: #2a8f8f; --wrong: #c4314b; --missing: #a15c00; }
@media (prefers-color-scheme: dark) { :root { --text: #dfe5ec; --faint: #9aa5b1; --line: #39424d;
  --page: #14181d; --panel: #1c2229; --bar: #3fb3b3; --wrong: #ff7b8d; --missing: #f0b35a; } }
body { font: 16px/1.5 system-ui, Helvetica, Arial, sans-serif; color: var(--text); background: var(--page);
  max-width: 84rem; margin: 2rem auto; padding: 0 1.2rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.4rem; }
h3 { font-size: 1rem; margin: 0 0 .3rem; }
p.note, .faint { color: var(--faint); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; }
th { color: var(--faint); font-weight: 500; vertical-align: bottom; }
th.name, td.name { text-align: left; }
.track { display: inline-block; width: 6rem; margin-left: .5rem; text-align: left; }
.bar { display: inline-block; height: .7rem; background: var(--bar); border-radius: 2px; }
section.sentence { border: 1px solid var(--line); border-radius: 8px; padding: 1rem; margin: 1.2rem 0; }
.trees { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1rem; }
.trees > div { background: var(--panel); border-radius: 6px; padding: .6rem; min-width: 0; }
.trees svg { max-width: 100%; height: auto; }
.trees .wide { grid-column: 1 / -1; } .trees .wide svg { max-width: none; }
.extra text { fill: var(--wrong); } .missing text { fill: var(--missing); }
.extra path { stroke: var(--wrong); stroke-opacity: 1; }
.missing path { stroke: var(--missing); stroke-opacity: 1; }
.key { font-weight: 600; } .key.extra { color: var(--wrong); } .key.missing { color: var(--missing); }
ul { margin: .3rem 0 .8rem; padding-left: 1.2rem; } pre { overflow-x: auto; font-size: .85rem; }
"""
# Drawings of more pixels have a row of their own.
_WIDE = 700


def as_page(analyses: Sequence[Analysis], names: Sequence[str], *, title: str, worst: int = 20) -> str:
    """Write the page.

    Args:
        analyses: one, or two of the same sentences.
        names: of the parsers.
        title: of the page.
        worst: sentences that are shown, those with most wrong brackets of all parsers together.
    """
    heading = escape(clean(title))
    body = "\n".join([f"<h1>{heading}</h1>", *_tables(analyses, names), *_sentences(analyses, names, worst)])
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{heading}</title>\n<style>{_STYLE}</style></head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _tables(analyses: Sequence[Analysis], names: Sequence[str]) -> Iterator[str]:
    rows = [[_text(name), *row] for name, row in zip(names, score_rows(analyses), strict=True)]
    yield _table(["", *SCORES], rows)
    if len(analyses) > 1:
        yield f'<p class="note">{_text(str(analyses[0].compare(analyses[1])).splitlines()[0])}</p>'
    yield "<h2>Types of errors</h2>"
    yield (
        '<p class="note">Brackets: how many become right when the errors are repaired; share of all wrong '
        "brackets.</p>"
    )
    most = max((count.share for _, counts in type_rows(analyses) for count in counts), default=0) or 1
    yield _table(
        ["type", *_headers(COUNTED, names)],
        [
            [
                _text(kind.value),
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
        [[_text(label), *(f"{n:,}" for n in counts)] for label, counts in label_rows(analyses)],
    )
    yield "<h2>Confused labels</h2>"
    yield '<p class="note">Of brackets over the same words.</p>'
    pairs = confusion_rows(analyses)
    yield _table(
        ["gold label", "parser’s", *_headers(("brackets",), names)],
        [[_text(gold), _text(own), *(f"{n:,}" for n in counts)] for gold, own, counts in pairs],
        left=2,
    )
    yield "<h2>By length</h2>"
    yield _split("tokens", [each.by_length() for each in analyses], names)
    groups = [each.by_group() for each in analyses]
    if any(name for name, _ in groups[0]):
        yield "<h2>By group</h2>"
        yield _split("group", groups, names)


def _split(what: str, splits: Sequence[Sequence[tuple[str, Analysis]]], names: Sequence[str]) -> str:
    rows = [[_text(name), n, *map(_text, cells)] for name, n, cells in split_rows(splits)]
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
    group = f" · {_text(first.group)}" if first.group else ""
    text = _text(" ".join(_spoken(first.gold).words()))
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
    """The errors of a parser's tree as a list."""
    if sentence.found is None:
        return f"<p>{_text(name)}: no tree over these words.</p>"
    items = [
        f"<li>{_text(error.type.value)}: "
        f"{_text('; '.join(repair.describe(sentence.found.words) for repair in error.repairs))} "
        f'<span class="faint">({error.fixed})</span></li>'
        for error in sentence.found.errors
    ]
    n_wrong = sentence.n_wrong
    count = "1 wrong bracket" if n_wrong == 1 else f"{n_wrong} wrong brackets"
    return f"<p>{_text(name)}: {count}</p><ul>{''.join(items)}</ul>"


def _drawing(name: str, gold: Tree, tree: Tree, wrong: Counter[Bracket], mark: str) -> str:
    """A drawn tree in which wrong brackets stand out; empty for one that is too large to draw."""
    drawn = _spoken(tree)
    if len(drawn.words()) > _MOST_WORDS or sum(1 for _ in drawn.nodes()) > _MOST_NODES:
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
    width = float(picture.partition('width="')[2].partition('"')[0])
    wide = ' class="wide scroll"' if width > _WIDE else ""
    return f"<div{wide}><h3>{_text(name)}</h3>{picture}</div>"


def _listing(sentence: AnalysedSentence, name: str) -> str:
    """The brackets that differ, where trees are too large to draw."""
    if sentence.tree is None or sentence.found is None:
        return ""
    text = diff(sentence.gold, sentence.tree).to_text(context=0)
    return f"<h3>{_text(name)}</h3><pre>{_text(text)}</pre>"


def _spoken(tree: Tree) -> Tree:
    return strip_functions(strip_traces(tree) or tree)


def _headers(what: Sequence[str], names: Sequence[str]) -> list[str]:
    if len(names) == 1:
        return list(what)
    return [f"{each}<br>{_text(name)}" for name in names for each in what]


def _bar(share: float, most: float) -> str:
    bar = f'<span class="bar" style="width:{100 * share / most:.1f}%"></span>'
    return f'{share:.1f}% <span class="track">{bar}</span>'


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """A table of cells that are HTML; the first ones are set left."""

    def line(cells: Sequence[str], tag: str) -> str:
        names = [' class="name"' if number < left else "" for number in range(len(cells))]
        return "".join(f"<{tag}{name}>{cell}</{tag}>" for name, cell in zip(names, cells, strict=True))

    body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in rows)
    return f'<div class="scroll"><table><tr>{line(header, "th")}</tr>{body}</table></div>'


def _text(text: str) -> str:
    return escape(clean(text))
