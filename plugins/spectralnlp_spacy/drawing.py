"""Draw the trees of documents, with an interface like displaCy's."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc, Span
from spacy.util import is_in_jupyter

from spectralnlp.render import renderer
from spectralnlp.render.svg import in_page
from spectralnlp.text.tokens import Sentence, Token
from spectralnlp.trees import add_root, strip_root
from spectralnlp_spacy.constituents import KEY, read_brackets, read_fallback, tree_of
from spectralnlp_spacy.sentences import sentence_bounds, words_of

if TYPE_CHECKING:
    from spectralnlp.trees.parse import Parse

_PAGE = """<!DOCTYPE html>
<html lang="{lang}">
<head><meta charset="utf-8"><title>spectralnlp</title>
<style>
  body {{ font-family: serif; margin: 4rem 2rem; }}
  figure {{ margin: 0 0 4rem; overflow-x: auto; }}
</style>
</head>
<body>
{figures}
</body>
</html>
"""


def render(
    docs: Doc | Span | Iterable[Doc | Span],
    *,
    page: bool = False,
    jupyter: bool | None = None,
    options: Mapping[str, Any] | None = None,
) -> str | None:
    """Draw the trees of parsed documents, or of some sentences of documents.

    Args:
        docs: documents or spans.
        page: whether to return a whole HTML page; otherwise lines with one ``<svg>`` element per sentence.
        jupyter: whether to show the drawing in a notebook; None to detect a notebook.
        options: values by name: ``scores``, whether to show posteriors of constituents (True by default);
            ``spans_key``, key of the constituents in ``doc.spans`` (``constituents`` by default).

    Returns:
        HTML or SVG; None if the drawing was shown in a notebook.

    Raises:
        ComponentError: a document has not been parsed.

    Examples:
        >>> import spacy
        >>> from spectralnlp_spacy import render
        >>> nlp = spacy.blank("en")
        >>> _ = nlp.add_pipe("sentencizer"), nlp.add_pipe("spectral_parser")
        >>> render(nlp("The keeper sleeps."), jupyter=False)[:4]
        '<svg'
    """
    settings = {"scores": True, "spans_key": KEY, **(options or {})}
    draw = renderer("svg")
    spans = [docs] if isinstance(docs, Doc | Span) else list(docs)
    drawings = [
        draw(parse, settings["scores"]) for span in spans for parse in parses_of(span, settings["spans_key"])
    ]
    if is_in_jupyter() if jupyter is None else jupyter:
        from IPython.display import HTML, display

        display(HTML("\n".join(map(in_page, drawings))))
        return None
    if not page:
        return "\n".join(drawings)
    figures = "\n".join(f"<figure>{drawing}</figure>" for drawing in drawings)
    lang = spans[0].vocab.lang if spans else "en"
    return _PAGE.format(lang=html.escape(lang), figures=figures)


def parses_of(span: Doc | Span, key: str = KEY) -> Iterator[Parse]:
    """Yield a `Parse` for each sentence of a document or span, with its tree and posteriors.

    Raises:
        ComponentError: the document has no constituents.
    """
    doc = span if isinstance(span, Doc) else span.doc
    first, last = (0, len(doc)) if isinstance(span, Doc) else (span.start, span.end)
    for start, end in sentence_bounds(doc):
        start, end = max(start, first), min(end, last)
        words = words_of(doc, start, end)
        if words:
            yield _parse_of(doc[start:end], words, key)


def _parse_of(span: Span, words: list[int], key: str) -> Parse:
    from spectralnlp.trees.parse import Constituent, Parse

    doc = span.doc
    tokens = tuple(Token(doc[i].text, doc[i].text, doc[i].idx, doc[i].idx + len(doc[i].text)) for i in words)
    place = {token: number for number, token in enumerate(words)}
    constituents = tuple(
        Constituent(label, place[start], place[end - 1] + 1, posterior)
        for label, start, end, posterior in read_brackets(doc, key, span.start, span.end)
        if posterior is not None
    )
    tree = add_root(strip_root(tree_of(doc, key, span.start, span.end)))
    return Parse(tree, Sentence(tokens), None, constituents, read_fallback(span, key))
