"""``spectral_textcat``: intents, or any other label that a whole text has."""

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
    """A text and its label.

    Args:
        text: any text.
        label: None if it is not known.
    """

    text: str
    label: str | None = None


class SpectralTextcat(SpectralPipe):
    """A classifier of texts: ``doc.cats`` has the probability of each label.

    Two extensions say what to make of them: ``doc._.intent``, the likeliest label, or None where its
    probability is under the threshold; ``doc._.out_of_scope``, from 0 to 1, the higher the less the text
    looks like any label's.
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
            elif any(Doc.get_extension(extension)[1:]):  # a method, a getter: of another package
                raise ComponentError(Errors.SN013.format(owner="doc", extension=extension))

    @property
    def place(self) -> str:
        """Where probabilities go."""
        return "doc.cats"

    @property
    def needed(self) -> str:
        """The annotation that examples need."""
        return "doc.cats in which one label is 1"

    def _labels(self) -> tuple[str, ...]:
        return tuple(self.ready().labels)

    def predict(self, docs: Sequence[Doc]) -> list[Any]:
        """Classify documents, which stay as they are."""
        return list(self.ready().classify_many([doc.text for doc in docs]))

    def set_annotations(self, docs: Sequence[Doc], predictions: Sequence[Any]) -> None:
        """Write probabilities, the intent and the score of being out of scope."""
        labels = self.ready().labels
        for doc, found in zip(docs, predictions, strict=True):
            doc.cats.update(zip(labels, found.scores.tolist(), strict=True))
            doc._.set(self.intent, found.label if found.confidence >= self.threshold else None)
            doc._.set(self.out_of_scope, found.out_of_scope)

    def initialize(
        self,
        get_examples: GetExamples,
        *,
        nlp: Language | None = None,
        unlabelled: Iterable[str] | None = None,
    ) -> None:
        """Train the model; see `SpectralPipe.initialize`.

        Args:
            get_examples: gives the annotated examples. Those without ``doc.cats`` are unlabelled texts.
            nlp: the pipeline.
            unlabelled: more texts to learn from, as ``spectralnlp.Lines.v1`` reads them.
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
