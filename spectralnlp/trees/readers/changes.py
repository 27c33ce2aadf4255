"""What readers change in the files of a treebank: nodes that are left out, nodes that are moved."""

from __future__ import annotations

from dataclasses import astuple, dataclass

from spectralnlp.display import one_line


@dataclass
class ReadingChanges:
    """Counts of what readers leave out and move; counts of files add up.

    Args:
        trees: trees of formats with crossing branches.
        notes: nodes that are left out because they are about the text (``ID``, ``CODE``).
        empty: nodes without a word that are left out, since they only refer to others.
        traces: empty elements of the trees as they are read, which `clean` leaves out.
        discontinuous: those of them with a phrase with gaps, after punctuation was attached.
        raised: nodes that were raised to make such phrases continuous, each once.
        attached: nodes that were moved from the root into phrases.

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
        """Counts of two files together."""
        return ReadingChanges(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __str__(self) -> str:
        """One line for users; empty if nothing was changed."""
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
