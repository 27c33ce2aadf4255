"""Brackets, one tree a line; with scores, tab-separated columns.

With scores a line is ``tree <TAB> log-probability <TAB> label:start:end=posterior …``: token offsets
with exclusive ends, parents before children; a log-probability that is not known is ``nan``.

The k best trees of a sentence are a line each, ``tree <TAB> score``, the best first; a blank line follows.
"""

from __future__ import annotations

from spectralnlp.render.parsed import ParsedSentence


def render(parse: ParsedSentence, scores: bool = False) -> str:
    """The tree on one line, and its scores in two more columns where asked for."""
    if parse.alternatives:
        return "".join(f"{each.tree}\t{each.score:.4f}\n" for each in parse.alternatives)
    tree = str(parse.tree)
    if not scores:
        return tree
    log_probability = float("nan") if parse.log_probability is None else parse.log_probability
    posteriors = " ".join(f"{c.label}:{c.start}:{c.end}={c.posterior:.4f}" for c in parse.constituents)
    return f"{tree}\t{log_probability:.4f}\t{posteriors}"
