"""The posterior of each node of a parse's tree, for the formats that draw the tree."""

from __future__ import annotations

from spectralnlp.render.parsed import ParsedSentence


def node_posteriors(parse: ParsedSentence) -> list[float | None]:
    """Return the posterior of every node that is not a preterminal, parents first.

    A node gets None if it is not among the constituents of the parse, such as the root TOP. Constituents are
    matched to nodes in order, by label, start and end.
    """
    posteriors: list[float | None] = []
    constituents = iter(parse.constituents)
    awaited = next(constituents, None)
    for span in parse.tree.spans():
        if awaited is not None and span == (awaited.label, awaited.start, awaited.end):
            posteriors.append(awaited.posterior)
            awaited = next(constituents, None)
        else:
            posteriors.append(None)
    return posteriors
