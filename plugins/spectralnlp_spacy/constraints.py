"""Constraints on the trees of a document: the spans of a group in ``doc.spans`` must be constituents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spacy.tokens import Doc

from spectralnlp.text.constraints import ConstraintError, Constraints
from spectralnlp.text.tokens import Sentence
from spectralnlp_spacy.errors import ComponentError, Errors
from spectralnlp_spacy.sentences import DocSentences


class RequiredSpans:
    """Spans that must be constituents of a document's trees, indexed by their first word.

    Args:
        doc: the document.
        key: key in ``doc.spans`` of the group of spans; None for no spans.
        name: name of the component, for error messages.
    """

    def __init__(self, doc: Doc, key: str | None, name: str) -> None:
        self.doc, self.key, self.name = doc, key, name
        self.starting: dict[int, list[tuple[int, str | None]]] = {}  # by first word: last word and label
        for span in doc.spans[key] if key is not None and key in doc.spans else ():
            words = [token.i for token in span if not token.is_space]
            if words:
                self.starting.setdefault(words[0], []).append((words[-1], span.label_ or None))

    def constrain(self, read: DocSentences) -> list[Sentence]:
        """Return the inputs of a document's sentences, each with the required spans among its words.

        Raises:
            ComponentError: a span begins among the words of a sentence and ends beyond them, or spans cross.
        """
        if not self.starting:
            return read.inputs
        return [
            replace(sentence, constraints=self._among(words))
            for words, sentence in zip(read.words, read.inputs, strict=True)
        ]

    def _among(self, words: Sequence[int]) -> Constraints | None:
        """Return the required spans among some words as constraints; None if there are none."""
        position = {word: number for number, word in enumerate(words)}
        brackets = []
        for first in words:
            for last, label in self.starting.get(first, ()):
                if last not in position:
                    where = {"label": label or "", "start": first, "end": last + 1}
                    raise ComponentError(Errors.SN017.format(name=self.name, key=self.key, **where))
                brackets.append((position[first], position[last] + 1, label))
        try:
            return Constraints.of(brackets) or None
        except ConstraintError as error:
            raise self.refusal(words, error) from error

    def refusal(self, words: Sequence[int], error: ConstraintError) -> ComponentError:
        """Return an error that quotes the sentence of which no tree has the required spans.

        Args:
            words: token indices of the words of the sentence.
            error: the constraints that cannot be met.
        """
        text = " ".join(self.doc[i].text for i in words)
        return ComponentError(
            Errors.SN018.format(name=self.name, key=self.key, reason=str(error), sentence=text)
        )
