"""Labelled and unlabelled texts, each kept once."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from spectralnlp.runtime import ExampleLog, Items, checked_names
from spectralnlp.storage import ArraySpec, StoredArrays, int_array
from spectralnlp_sketch.errors import TextError
from spectralnlp_sketch.labelled import Example


def labels_of(stored: StoredArrays) -> list[Any]:
    """The labels in the array ``labels`` of a file.

    Raises:
        ModelError: it holds something else.
    """
    try:
        labels = [json.loads(each) for each in checked_names(stored, "labels")]
    except ValueError as error:
        raise stored.error("labels", "is no JSON") from error
    if not all(isinstance(each, str | int | float) for each in labels):
        raise stored.error("labels", "holds something that is no label")
    return labels


class TextLog(ExampleLog[Example]):
    """Texts with their labels, in the order of documents and rows.

    Labels are kept as JSON, so that numbers and truth values stay what they are.
    """

    columns: ClassVar = {"text": "texts", "label": "labels"}

    def column_spec(self, column: str) -> ArraySpec:
        """Numbers of names; a text need not have a label."""
        return int_array("n_items", least=-1 if column == "label" else 0)

    def check_arrays(self, stored: StoredArrays) -> None:
        """Labels must be text, numbers or truth values, as JSON."""
        super().check_arrays(stored)
        labels_of(stored)

    @classmethod
    def items_of(cls, example: Example) -> Items:
        """The text and its label.

        Raises:
            TextError: the label is none of JSON's values.
        """
        text, label = Example(*example)
        if not isinstance(label, str | int | float | None):
            what = f"a label of type {type(label).__name__} cannot be kept"
            raise TextError(what, hint="give labels that are text, numbers or truth values")
        return (text,), (None if label is None else json.dumps(label, ensure_ascii=False),)

    @classmethod
    def example_of(cls, items: Items) -> Example:
        """The text and its label."""
        (text,), (label,) = items
        return Example(str(text), None if label is None else json.loads(label))
