"""Build self-contained HTML pages: the style sheet, the page frame and panels for drawings."""

from __future__ import annotations

from html import escape

from spectralnlp.render.svg import clean

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


# Drawings wider than this many pixels get a row of their own.
_WIDE = 700


def whole_page(title: str, body: str) -> str:
    """Return a self-contained HTML page with the style sheet of this package.

    Args:
        title: plain text, escaped here; also the heading of the page.
        body: HTML below the heading.
    """
    heading = html_text(title)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{heading}</title>\n<style>{_STYLE}</style></head>\n<body>\n"
        f"<h1>{heading}</h1>\n{body}\n</body>\n</html>\n"
    )


def panel(name: str, picture: str) -> str:
    """Return the HTML of a titled drawing, to be put in an element of the class ``trees``.

    Drawings wider than 700 pixels get a row of their own.

    Args:
        name: title in plain text, escaped here.
        picture: an ``<svg>`` element with a ``width`` attribute.
    """
    width = float(picture.partition('width="')[2].partition('"')[0])
    wide = ' class="wide scroll"' if width > _WIDE else ""
    return f"<div{wide}><h3>{html_text(name)}</h3>{picture}</div>"


def html_text(text: str) -> str:
    """Escape text for HTML, and remove characters that HTML does not allow."""
    return escape(clean(text))
