"""The posterior of each node of a parse's tree, for the formats that draw the tree."""

from __future__ import annotations

from spectralnlp.render.parsed import ParsedSentence


def node_posteriors(parse: ParsedSentence) -> list[float | None]:
    """The posterior of every node that is not a preterminal, parents first; None where there is none.

    Constituents come in the tree's own order and may leave nodes out (the outer TOP).
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
