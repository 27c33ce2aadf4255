"""Penn Treebank brackets, one tree per line; with scores, tab-separated columns.

With scores, a line is ``tree <TAB> log-probability <TAB> label:start:end=posterior …``, with token offsets,
exclusive ends, and parents before children. An unknown log-probability is ``nan``.

The k best trees of a sentence take one line each, ``tree <TAB> score``, best first, then a blank line.
"""

from __future__ import annotations

from spectralnlp.render.parsed import ParsedSentence


def render(parse: ParsedSentence, scores: bool = False) -> str:
    """Return the tree as one line, with two columns of scores if requested; or the k best trees as lines."""
    if parse.alternatives:
        return "".join(f"{each.tree}\t{each.score:.4f}\n" for each in parse.alternatives)
    tree = str(parse.tree)
    if not scores:
        return tree
    log_probability = float("nan") if parse.log_probability is None else parse.log_probability
    posteriors = " ".join(f"{c.label}:{c.start}:{c.end}={c.posterior:.4f}" for c in parse.constituents)
    return f"{tree}\t{log_probability:.4f}\t{posteriors}"
