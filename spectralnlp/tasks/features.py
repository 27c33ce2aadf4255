"""The featurizer task: train and load models that convert texts, one per line, to rows of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from spectralnlp.models.features import Features
from spectralnlp.runtime import (
    Column,
    Corpus,
    FileCorpus,
    Inputs,
    OnBad,
    expand_inputs,
    take_text,
)
from spectralnlp.storage import StoredModel
from spectralnlp.tasks.lines import read_lines
from spectralnlp.tasks.task import Task


class FeaturesTask(Task):
    """Task of featurizers, which convert each text to a row of numbers."""

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
        """Read texts, one per line; an empty line is a text too, so that row i belongs to line i.

        Args:
            inputs: files, folders or globs.
            reader: ignored, because there is only one reader.
            on_bad: called with the error of each line that lacks the text column, and of each file that is
                not UTF-8, the rest of which is skipped; None to raise the first error.
            text_column: the column with the text: its name in a table, or its number (from 1) in
                tab-separated lines.

        Raises:
            InputError: an input is missing or unreadable; or, on reading, is not UTF-8 or lacks the column.
        """
        return FileCorpus(expand_inputs(inputs), partial(read_lines, column=text_column, on_bad=on_bad))

    def from_record(self, record: Mapping[str, Any]) -> str:
        """Return the text of a record, which is in its field ``text`` or a similar one (`TEXT_NAMES`)."""
        return take_text(record)

    def wrap(self, fitted: Any) -> Features:
        """Wrap a fitted featurizer as a model that can be saved."""
        return Features(fitted)

    def training_counts(self, fitted: Any) -> dict[str, int]:
        """Return the number of training texts, for reports."""
        return {"training texts": fitted.n_texts_}

    def transformed(
        self, model: Features, inputs: Inputs, *, text_column: Column | None = None
    ) -> Iterator[Any]:
        """Yield the features of the lines of files, block by block; see `read` for the arguments."""
        for batch in self.read(inputs, text_column=text_column).batches(1024):
            yield model.transform(batch.examples)

    def warm_up(self, model: Features) -> None:
        """Convert one text to features, so that the numba functions are compiled."""
        model.transform(["The keeper climbs."])

    def load(self, stored: StoredModel) -> Features:
        """Return the featurizer that a model folder holds."""
        return Features.from_stored(stored)
