"""Labelled and unlabelled texts, each kept once."""

from __future__ import annotations

import json
from typing import ClassVar

from spectralnlp.runtime import ExampleLog, Items
from spectralnlp.storage import ArraySpec, int_array
from spectralnlp_sketch.errors import TextError
from spectralnlp_sketch.labelled import Example


class TextLog(ExampleLog[Example]):
    """Texts with their labels, in the order of documents and rows.

    Labels are kept as JSON, so that numbers and truth values stay what they are.
    """

    columns: ClassVar = {"text": "texts", "label": "labels"}

    def column_spec(self, column: str) -> ArraySpec:
        """Numbers of names; a text need not have a label."""
        return int_array("n_items", least=-1 if column == "label" else 0)

    @classmethod
    def items_of(cls, example: Example) -> Items:
        """The text and its label.

        Raises:
            TextError: the label is none of JSON's values.
        """
        text, label = Example(*example)
        try:
            return (text,), (None if label is None else json.dumps(label, ensure_ascii=False),)
        except (TypeError, ValueError) as error:
            what = f"a label of type {type(label).__name__} cannot be kept"
            raise TextError(what, hint="give labels that are text, numbers or truth values") from error

    @classmethod
    def example_of(cls, items: Items) -> Example:
        """The text and its label."""
        (text,), (label,) = items
        return Example(str(text), None if label is None else json.loads(label))
