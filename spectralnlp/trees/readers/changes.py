"""Counts of the nodes that treebank readers remove and move, to report them to users."""

from __future__ import annotations

from dataclasses import astuple, dataclass

from spectralnlp.display import one_line


@dataclass
class ReadingChanges:
    """Counts of the nodes that treebank readers remove and move in files.

    Args:
        trees: number of trees; counted only in formats with crossing branches.
        notes: number of removed nodes with metadata (``ID``, ``CODE``).
        empty: number of removed nodes that refer to other nodes instead of dominating a word.
        traces: number of empty elements (traces) in the trees, which `clean` removes.
        discontinuous: number of trees with discontinuous phrases after punctuation was attached.
        raised: number of nodes that were raised to make discontinuous phrases continuous.
        attached: number of nodes that were moved from the root into phrases.

    Examples:
        >>> from spectralnlp.trees import count_changes
        >>> found = count_changes("corpora/formats/german.export")
        >>> found.discontinuous, found.trees
        (2, 4)
    """

    trees: int = 0
    notes: int = 0
    empty: int = 0
    traces: int = 0
    discontinuous: int = 0
    raised: int = 0
    attached: int = 0

    __repr__ = one_line

    def __add__(self, other: ReadingChanges) -> ReadingChanges:
        """Return new counts, each the sum of the counts of both operands."""
        return ReadingChanges(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __str__(self) -> str:
        """Return the counts in one line for users; empty if nothing was changed."""
        parts = []
        kinds = {"notes on the text": self.notes, "empty elements": self.empty + self.traces}
        if left_out := [f"{count:,} {kind}" for kind, count in kinds.items() if count]:
            parts.append(f"left out: {', '.join(left_out)}")
        if self.discontinuous or self.attached:
            parts.append(
                f"{self.discontinuous:,} of {self.trees:,} trees with crossing branches made continuous: "
                f"{self.raised:,} nodes raised, {self.attached:,} attached from the root"
            )
        return "; ".join(parts)
