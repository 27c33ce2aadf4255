"""Task of text classification: let commands read labelled texts, train, evaluate and load classifiers."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

from spectralnlp.api import load_kind
from spectralnlp.errors import InputError
from spectralnlp.runtime import Corpus
from spectralnlp.storage import StoredModel
from spectralnlp_sketch.intent.model import Classifier
from spectralnlp_sketch.intent.report import IntentReport
from spectralnlp_sketch.labelled import Example, as_example
from spectralnlp_sketch.labelled_task import LabelledTextsTask


class IntentTask(LabelledTextsTask):
    """Task of text classification: the operations that commands need to train and use classifiers."""

    name = "intents"
    default_card = """# A text classifier

The labels and the n-grams that it knows (as numbers that cannot be read) come from the training texts:
their licence applies."""

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
            InputError: there are no texts, or a text has no label.
        """
        examples = list(map(as_example, corpus))
        if not examples:
            raise InputError("no texts to evaluate on", hint="give lines of: label, tab, text")
        for number, example in enumerate(examples, 1):
            if example.label is None:
                raise InputError("a text without a label", sentence=number, hint="leave it out")
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
