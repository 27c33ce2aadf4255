"""Component ``spectral_textcat``: a classifier of whole texts, for example by intent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc

from spectralnlp.runtime import Corpus, InMemoryCorpus
from spectralnlp_spacy.component import GetExamples, SpectralPipe
from spectralnlp_spacy.errors import ComponentError, Errors
from spectralnlp_spacy.settings import TextcatSettings


class LabelledText(NamedTuple):
    """Text with its label.

    Args:
        text: the text.
        label: label of the text; None if it is unknown.
    """

    text: str
    label: str | None = None


class SpectralTextcat(SpectralPipe):
    """Classifier of texts that sets the probability of each label in ``doc.cats``.

    It also sets two extension attributes: ``doc._.intent``, the most probable label, or None if its
    probability is below the threshold; ``doc._.out_of_scope``, a score from 0 to 1, which is
    high if the text resembles the training texts of no label.
    """

    factory = "spectral_textcat"
    settings_type = TextcatSettings
    task = "intents"

    def _configure(self, settings: TextcatSettings) -> None:
        self.threshold = settings.threshold
        self.intent, self.out_of_scope = f"{settings.prefix}intent", f"{settings.prefix}out_of_scope"
        self.cfg = {"threshold": settings.threshold}
        self._unlabelled: list[str] = []
        for extension in (self.intent, self.out_of_scope):
            if not Doc.has_extension(extension):
                Doc.set_extension(extension, default=None)
            elif any(Doc.get_extension(extension)[1:]):  # a method, getter or setter of another package
                raise ComponentError(Errors.SN013.format(owner="doc", extension=extension))

    @property
    def place(self) -> str:
        """Attribute to which the component writes the probabilities of labels: ``doc.cats``."""
        return "doc.cats"

    @property
    def needed(self) -> str:
        """Text for error messages: the annotation that training examples must have."""
        return "doc.cats in which one label is 1"

    def _labels(self) -> tuple[str, ...]:
        return tuple(self.ready().labels)

    def predict(self, docs: Sequence[Doc]) -> list[Any]:
        """Return the classifier's prediction for each document; the documents are not changed."""
        return list(self.ready().classify_many([doc.text for doc in docs]))

    def set_annotations(self, docs: Sequence[Doc], predictions: Sequence[Any]) -> None:
        """Write probabilities, the intent and the out-of-scope score to documents."""
        labels = self.ready().labels
        for doc, prediction in zip(docs, predictions, strict=True):
            doc.cats.update(zip(labels, prediction.scores.tolist(), strict=True))
            doc._.set(self.intent, prediction.label if prediction.confidence >= self.threshold else None)
            doc._.set(self.out_of_scope, prediction.out_of_scope)

    def initialize(
        self,
        get_examples: GetExamples,
        *,
        nlp: Language | None = None,
        unlabelled: Iterable[str] | None = None,
    ) -> None:
        """Train the classifier with the estimator and settings of the config.

        Args:
            get_examples: returns the annotated examples; those without ``doc.cats`` are unlabelled texts.
            nlp: the pipeline.
            unlabelled: further unlabelled texts, such as ``spectralnlp.Lines.v1`` reads.

        Raises:
            ComponentError: no example has a label, a text has several labels, or the training fails.
        """
        self._unlabelled = list(unlabelled or ())
        try:
            super().initialize(get_examples, nlp=nlp)
        finally:
            self._unlabelled = []

    def _training_corpus(self, docs: Sequence[Doc]) -> Corpus[LabelledText] | None:
        texts = [LabelledText(doc.text, self._gold_label(doc)) for doc in docs]
        if all(each.label is None for each in texts):
            return None
        return InMemoryCorpus(chain(texts, map(LabelledText, self._unlabelled)))

    def _gold_label(self, doc: Doc) -> str | None:
        labels = [label for label, value in doc.cats.items() if value >= 0.5]
        if len(labels) > 1:
            message = Errors.SN023.format(name=self.name, text=doc.text, labels=", ".join(sorted(labels)))
            raise ComponentError(message)
        return labels[0] if labels else None
