"""Task of text classification: let commands read labelled texts, train, evaluate and load classifiers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

from spectralnlp.api import load_kind
from spectralnlp.errors import InputError
from spectralnlp.estimator import Estimator
from spectralnlp.runtime import Column, Corpus, Inputs, MappedCorpus, OnBad, expand_inputs
from spectralnlp.storage import StoredModel
from spectralnlp.tasks.samples import sample_labels
from spectralnlp.tasks.task import Task
from spectralnlp_sketch.intent.model import Classifier
from spectralnlp_sketch.intent.reading import ExampleFiles, read_texts
from spectralnlp_sketch.intent.report import IntentReport
from spectralnlp_sketch.labelled import Example, as_example, from_record


class IntentTask(Task):
    """Task of text classification: the operations that commands need to train and use classifiers."""

    name = "intents"
    documents = ("line", "file")
    training_data = "{training texts:,} labelled and {unlabelled texts:,} unlabelled texts"
    default_card = """# A text classifier

The labels and the n-grams that it knows (as numbers that cannot be read) come from the training texts:
their licence applies."""

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

    def warm_up(self, model: Classifier) -> None:
        """Classify a sample text, so that numba functions are compiled and a faulty model is noticed."""
        model.classify("will the old ship come back")

    def wrap(self, fitted: Any) -> Classifier:
        """Convert a fitted estimator to a classifier."""
        classifier: Classifier = fitted.classifier_
        return classifier

    def training_counts(self, fitted: Any) -> dict[str, int]:
        """Return the numbers of labelled and unlabelled training texts, by name."""
        return {"training texts": fitted.n_labelled_, "unlabelled texts": fitted.n_unlabelled_}

    def evaluate(self, model: Classifier, corpus: Corpus[Example]) -> IntentReport:
        """Evaluate a classifier by accuracy, F1, calibration and confusions.

        Raises:
            InputError: there are no texts.
        """
        examples = list(corpus)
        if not examples:
            raise InputError("no texts to evaluate on", hint="give lines of: label, tab, text")
        model.classify("compile the kernels")
        started = perf_counter()
        results = list(model.classify_many(example.text for example in examples))
        seconds = perf_counter() - started
        gold = [str(example.label) for example in examples]
        return IntentReport(
            gold, [each.label for each in results], [each.confidence for each in results], seconds
        )

    def load(self, stored: StoredModel) -> Classifier:
        """Load the classifier from a model folder."""
        return Classifier.from_stored(stored)


def load_classifier(name: str | Path) -> Classifier:
    """Load a text classifier.

    Args:
        name: name or folder of the classifier, as for `spectralnlp.load`.

    Raises:
        ModelError: the model does not exist, is not a classifier, is truncated, or has another version.

    Examples:
        >>> import tempfile
        >>> import spectralnlp
        >>> from spectralnlp_sketch import load_classifier
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     spectralnlp.train("intent", "corpora/intents/train.tsv").save(f"{folder}/model")
        ...     load_classifier(f"{folder}/model").classify("how much is a ticket").label
        ...
        'price'
    """
    classifier: Classifier = load_kind(name, "intents", "a classifier")
    return classifier
