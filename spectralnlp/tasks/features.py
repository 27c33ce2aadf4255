"""The task of featurizers: texts, one a line, to rows of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from spectralnlp.models.features import Features
from spectralnlp.runtime import (
    TEXT_NAMES,
    Column,
    Corpus,
    FileCorpus,
    Inputs,
    OnBad,
    expand_inputs,
    take_field,
)
from spectralnlp.storage import StoredModel
from spectralnlp.tasks.lines import read_lines
from spectralnlp.tasks.task import Task


class FeaturesTask(Task):
    """Rows of numbers for texts."""

    name = "features"
    documents = ("line", "file")
    training_data = "{training texts:,} texts"
    default_card = """# A featurizer

What it knows of words comes from the training text: its licence applies."""

    def read(
        self,
        inputs: Inputs,
        *,
        reader: str = "auto",
        on_bad: OnBad | None = None,
        text_column: Column | None = None,
    ) -> Corpus[str]:
        """Read texts, one a line; an empty line is a text too, so that rows have the numbers of lines.

        Args:
            inputs: files, folders and globs.
            reader: ``auto``; there is one way to read.
            on_bad: called for each line without the column, and for each file that ends in bad bytes.
            text_column: name of a table's column with the text; or its number (from 1) in lines with tabs.

        Raises:
            InputError: a missing or unreadable input; on reading, bytes that are not UTF-8 or no such column.
        """
        return FileCorpus(expand_inputs(inputs), partial(read_lines, column=text_column, on_bad=on_bad))

    def from_record(self, record: Mapping[str, Any]) -> str:
        """Take a record's ``text``."""
        return str(take_field(record, *TEXT_NAMES))

    def wrap(self, fitted: Any) -> Features:
        """Make a model of a fitted featurizer."""
        return Features(fitted)

    def training_counts(self, fitted: Any) -> dict[str, int]:
        """Return the number of texts."""
        return {"training texts": fitted.n_texts_}

    def try_out(self, model: Features) -> None:
        """Transform a text."""
        model.transform(["The keeper climbs."])

    def load(self, stored: StoredModel) -> Features:
        """Return the featurizer in a model folder."""
        return Features.from_stored(stored)
