"""Documents as numbers of words: the replay log that the passes of `TopicModel` run from again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from spectralnlp.runtime import ExampleLog, Items


class DocumentLog(ExampleLog[Sequence[str]]):
    """The words of each document, in order; merging lays them side by side."""

    columns: ClassVar = {"word": "words"}

    @classmethod
    def items_of(cls, example: Sequence[str]) -> Items:
        """The words."""
        return (example,)

    @classmethod
    def example_of(cls, items: Items) -> Sequence[str]:
        """The words."""
        (words,) = items
        return [str(word) for word in words]
