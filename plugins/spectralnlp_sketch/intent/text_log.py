"""Store of labelled and unlabelled training texts, so that texts can be added or removed later."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, ClassVar

from spectralnlp.runtime import ExampleLog, Items, checked_names
from spectralnlp.storage import ArraySpec, StoredArrays, int_array
from spectralnlp_sketch.errors import TextError
from spectralnlp_sketch.labelled import Example


def labels_of(stored: StoredArrays) -> list[Any]:
    """Return the labels in the stored array ``labels``.

    Raises:
        ModelError: the array does not hold labels.
    """
    try:
        labels = [json.loads(name) for name in checked_names(stored, "labels")]
    except ValueError as error:
        raise stored.error("labels", "is not JSON") from error
    if not all(isinstance(label, str | int | float) for label in labels):
        raise stored.error("labels", "holds a value that is not a label")
    return labels


class TextLog(ExampleLog[Example]):
    """Store of training texts with their labels, in the order of documents and rows.

    Labels are stored as JSON, so that numbers and Booleans keep their type.
    """

    columns: ClassVar = {"text": "texts", "label": "labels"}

    def column_spec(self, column: str) -> ArraySpec:
        """Return dtype, shape and range of a saved column of ids, to check stored arrays.

        The id -1 in the column ``label`` means that a text has no label.

        Args:
            column: ``text`` or ``label``.
        """
        return int_array("n_items", least=-1 if column == "label" else 0)

    def check_arrays(self, stored: StoredArrays) -> None:
        """Check stored arrays; labels must be strings, numbers or Booleans in JSON."""
        super().check_arrays(stored)
        labels_of(stored)

    @classmethod
    def items_of(cls, example: Example) -> Items:
        """Return the text and the label of an example as the values to store, one for each column.

        Raises:
            TextError: the label is not a string, number or Boolean.
        """
        text, label = Example(*example)
        if not isinstance(label, str | int | float | None):
            what = f"a label of type {type(label).__name__} cannot be stored"
            raise TextError(what, hint="give labels that are strings, numbers or Booleans")
        return (text,), (None if label is None else json.dumps(label, ensure_ascii=False),)

    @classmethod
    def example_of(cls, items: Items) -> Example:
        """Make an example (text and label) from its stored values, one for each column."""
        (text,), (label,) = items
        return Example(str(text), None if label is None else _value_of(label))


@lru_cache(maxsize=4096)  # there are few labels, and many texts
def _value_of(label: str) -> Any:
    return json.loads(label)
