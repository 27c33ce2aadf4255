"""Base class of tasks that learn from labelled and unlabelled texts: let commands read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spectralnlp.estimator import Estimator
from spectralnlp.runtime import Column, Corpus, Inputs, MappedCorpus, OnBad, expand_inputs
from spectralnlp.tasks.samples import sample_labels
from spectralnlp.tasks.task import Task
from spectralnlp_sketch.intent.reading import ExampleFiles, read_texts
from spectralnlp_sketch.labelled import Example, as_example, from_record


class LabelledTextsTask(Task):
    """Base class of tasks whose examples are texts with or without a label."""

    documents = ("line", "file")
    training_data = "{training texts:,} labelled and {unlabelled texts:,} unlabelled texts"

    def read(
        self,
        inputs: Inputs,
        *,
        reader: str = "auto",
        on_bad: OnBad | None = None,
        unlabelled: Inputs = (),
        text_column: Column | None = None,
        label_column: Column | None = None,
        encoding: str = "utf-8",
    ) -> Corpus[Example]:
        """Read texts with their labels, as `read_texts` does; the only ``reader`` is ``auto``."""
        return read_texts(
            inputs,
            unlabelled=unlabelled,
            text_column=text_column,
            label_column=label_column,
            encoding=encoding,
            on_bad=on_bad,
        )

    def read_gold(
        self,
        inputs: Inputs,
        *,
        reader: str = "auto",
        on_bad: OnBad | None = None,
        text_column: Column | None = None,
        label_column: Column | None = None,
        encoding: str = "utf-8",
    ) -> Corpus[Example]:
        """Read texts with their labels as `read` does, but raise an error for a text without a label."""
        return ExampleFiles(
            expand_inputs(inputs),
            text_column=text_column,
            label_column=label_column,
            needs_labels=True,
            encoding=encoding,
            on_bad=on_bad,
        )

    def examples(self, estimator: Estimator[Any], corpus: Corpus[Any]) -> Corpus[Example]:
        """Convert (text, label) pairs and plain texts to examples."""
        return MappedCorpus(corpus, as_example)

    def from_record(self, record: Mapping[str, Any]) -> Example:
        """Make an example from a record's ``text`` and ``label``."""
        return from_record(record)

    def sample(self) -> str:
        """Return the text of a small file of invented labelled texts, as sample training data."""
        return sample_labels()
