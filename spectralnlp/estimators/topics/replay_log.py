"""Replay log of documents, from which the passes of `TopicModel` are run again when data change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from spectralnlp.runtime import ExampleLog, Items


class DocumentLog(ExampleLog[Sequence[str]]):
    """Log of the words of each document, in order; merging concatenates logs."""

    columns: ClassVar = {"word": "words"}

    @classmethod
    def items_of(cls, example: Sequence[str]) -> Items:
        """Return what the log stores for a document: a single column, its words."""
        return (example,)

    @classmethod
    def example_of(cls, items: Items) -> Sequence[str]:
        """Return the words of a document from what the log stored; the inverse of `items_of`."""
        (words,) = items
        return [str(word) for word in words]
