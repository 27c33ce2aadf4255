"""Component ``spectral_tagger``: a tagger for parts of speech, entities or chunks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from spacy.tokens import Doc, Span, SpanGroup

from spectralnlp import registry
from spectralnlp.runtime import Corpus, InMemoryCorpus
from spectralnlp.text.conll import AnnotatedSentence
from spectralnlp.text.spans import spans_of, write_spans
from spectralnlp_spacy.entities import add_entities, is_annotated
from spectralnlp_spacy.errors import ComponentError, Errors
from spectralnlp_spacy.sentence_pipe import SentencePipe
from spectralnlp_spacy.sentences import Bounds, sentence_bounds, set_boundaries, words_of
from spectralnlp_spacy.settings import TaggerSettings

ATTRIBUTES = ("tag", "pos", "ents", "spans")


class TaggedDoc(NamedTuple):
    """Tags of a document's sentences.

    Args:
        bounds: range of tokens of each sentence, the end exclusive.
        words: for each sentence that has words, the token indices of its words (not white space).
        tags: for each item of ``words``, a tag for each word.
    """

    bounds: Bounds
    words: list[list[int]]
    tags: list[list[str]]


# Second part of the name of a language's installed tagger (``en-tagger``), by attribute.
_ENDINGS = {"tag": "tagger", "pos": "upos"}


def writes_spans(model: Any) -> bool:
    """Return whether the tags of a model mark spans: O and ``B-…``, ``I-…``, ``E-…`` or ``S-…``."""
    return model.scheme != "tags" or set(model.labels) == {"O"}


class SpectralTagger(SentencePipe):
    """Tagger of words, or of spans such as entities; ``settings.attribute`` says where it writes tags."""

    factory = "spectral_tagger"
    settings_type = TaggerSettings
    task = "tagging"
    place_setting = "attribute"

    def _configure(self, settings: TaggerSettings) -> None:
        attribute, known = settings.attribute, ", ".join(ATTRIBUTES)
        if attribute not in ATTRIBUTES:
            raise ComponentError(Errors.SN020.format(name=self.name, attribute=attribute, known=known))
        self.attribute = settings.attribute
        self.spans_key = settings.spans_key
        self.overwrite, self.overwrite_ents = settings.overwrite, settings.overwrite_ents
        self.split_sentences = settings.split_sentences
        self.cfg = {"attribute": settings.attribute, "spans_key": settings.spans_key}

    def _usual_model(self) -> str | None:
        return self._model_of_language()

    def _model_of_language(self) -> str | None:
        if self.attribute not in _ENDINGS:
            return None
        name = f"{self.vocab.lang}-{_ENDINGS[self.attribute]}"
        return name if name in registry.models else None

    @property
    def place(self) -> str:
        """Attribute or group of spans to which the component writes tags, such as ``token.tag_``."""
        places = {"tag": "token.tag_", "pos": "token.pos_", "ents": "doc.ents"}
        return places.get(self.attribute, f"doc.spans[{self.spans_key!r}]")

    @property
    def needed(self) -> str:
        """Text for error messages: the annotation that training examples must have."""
        return f"{self.place} of every word" if self.attribute in ("tag", "pos") else self.place

    def load(self, source: str | Path) -> None:
        """Load a model, whose tags must mark spans if ``attribute`` is ``ents`` or ``spans``.

        Raises:
            ComponentError: the model cannot be loaded, is for another task, or its tags do not mark spans.
        """
        super().load(source)
        model: Any = self.model
        if self.attribute in ("ents", "spans") and not writes_spans(model):
            tags = ", ".join(map(str, model.labels[:3]))
            self.model, self._origin = None, None
            message = Errors.SN024.format(name=self.name, place=self.place, model=str(source), tags=tags)
            raise ComponentError(message)

    def _labels(self) -> tuple[str, ...]:
        labels = self.ready().labels
        if self.attribute in ("tag", "pos"):
            return tuple(map(str, labels))
        return tuple(sorted({label.partition("-")[2] for label in labels if label != "O"}))

    # -----------------------------------------------------------------------------------------------------
    # Annotating

    def predict(self, docs: Sequence[Doc]) -> list[TaggedDoc]:
        """Return the tags of documents, one `TaggedDoc` each; the documents are not changed."""
        tagger, read = self.ready(), self.read(docs)
        forms = [sentence.forms for in_doc in read for sentence in in_doc.inputs]
        tags = iter(tagger.best_tags(forms) if forms else ())
        return [TaggedDoc(in_doc.bounds, in_doc.words, [next(tags) for _ in in_doc.words]) for in_doc in read]

    def set_annotations(self, docs: Sequence[Doc], predictions: Sequence[TaggedDoc]) -> None:
        """Write tags, entities or spans to documents; also sentence boundaries if they are not set."""
        for doc, tagged in zip(docs, predictions, strict=True):
            set_boundaries(doc, tagged.bounds)
            if self.attribute in ("tag", "pos"):
                self._set_tags(doc, tagged)
            else:
                self._set_spans(doc, tagged)

    def _set_tags(self, doc: Doc, tagged: TaggedDoc) -> None:
        name = f"{self.attribute}_"
        for words, tags in zip(tagged.words, tagged.tags, strict=True):
            for i, tag in zip(words, tags, strict=True):
                if self.overwrite or not getattr(doc[i], name):
                    setattr(doc[i], name, str(tag))

    def _set_spans(self, doc: Doc, tagged: TaggedDoc) -> None:
        spans = [
            Span(doc, words[first], words[end - 1] + 1, label=label)
            for words, tags in zip(tagged.words, tagged.tags, strict=True)
            for first, end, label in spans_of(tags)
        ]
        if self.attribute == "spans":
            doc.spans[self.spans_key] = SpanGroup(doc, name=self.spans_key, spans=spans)
        else:
            add_entities(doc, spans, overwrite=self.overwrite_ents)

    # -----------------------------------------------------------------------------------------------------
    # Learning

    def _training_corpus(self, docs: Sequence[Doc]) -> Corpus[AnnotatedSentence] | None:
        sentences = [
            AnnotatedSentence(tuple(doc[i].text for i in words), {"tag": tuple(tags)}, "tag")
            for doc in docs
            if self._is_annotated(doc)
            for words, tags in self._gold(doc)
        ]
        return InMemoryCorpus(sentences) if sentences else None

    def _is_annotated(self, doc: Doc) -> bool:
        if self.attribute == "spans":
            return self.spans_key in doc.spans
        return bool(doc.has_annotation({"tag": "TAG", "pos": "POS", "ents": "ENT_IOB"}[self.attribute]))

    def _gold(self, doc: Doc) -> list[tuple[list[int], list[str]]]:
        """Return the token indices of the words, and their gold tags, of each sentence of a document.

        Sentences without words are left out. If the tags are entities, sentences with a word whose entity
        annotation is missing are left out too.
        """
        sentences = []
        for start, end in sentence_bounds(doc):
            words = words_of(doc, start, end)
            if words and (self.attribute != "ents" or is_annotated(doc, words)):
                sentences.append((words, self._gold_tags(doc, words)))
        return sentences

    def _gold_tags(self, doc: Doc, words: list[int]) -> list[str]:
        if self.attribute in ("tag", "pos"):
            tags = [getattr(doc[i], f"{self.attribute}_") for i in words]
            if not all(tags):
                text = " ".join(doc[i].text for i in words)
                raise ComponentError(Errors.SN021.format(name=self.name, place=self.place, sentence=text))
            return tags
        group = doc.ents if self.attribute == "ents" else doc.spans[self.spans_key]
        place = {token: number for number, token in enumerate(words)}
        spans = sorted(
            (place[span.start], place[span.end - 1] + 1, span.label_)
            for span in group
            if span.start in place and span.end - 1 in place
        )
        for (_, end, label), (start, _, other) in pairwise(spans):
            if start < end:
                message = Errors.SN022.format(name=self.name, place=self.place, label=label, other=other)
                raise ComponentError(message)
        return write_spans(spans, len(words), "bio")
