"""Constraints on the trees of a document: the spans of a group in ``doc.spans`` must be constituents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from spacy.tokens import Doc

from spectralnlp.text.constraints import ConstraintError, Constraints
from spectralnlp_spacy.errors import ComponentError, Errors


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

    def among(self, words: Sequence[int]) -> Constraints | None:
        """Return the required spans among some words as constraints for the parser; None if there are none.

        Args:
            words: indices of the words among the tokens of the document, in order, without white space.

        Raises:
            ComponentError: a span begins among the words and ends beyond them, or spans cross.
        """
        if not self.starting:
            return None
        position = {word: number for number, word in enumerate(words)}
        brackets = []
        for first in words:
            for last, label in self.starting.get(first, ()):
                if last not in position:
                    where = {"label": label or "", "start": first, "end": last + 1}
                    raise ComponentError(Errors.SN017.format(name=self.name, key=self.key, **where))
                brackets.append((position[first], position[last] + 1, label))
        with self.refused(words):
            return Constraints.of(brackets) or None

    @contextmanager
    def refused(self, words: Sequence[int]) -> Iterator[None]:
        """Turn a ConstraintError raised in a ``with`` block into a ComponentError that quotes the sentence.

        Args:
            words: token indices of the words of the sentence.

        Raises:
            ComponentError: the block raised a ConstraintError.
        """
        try:
            yield
        except ConstraintError as error:
            text = " ".join(self.doc[i].text for i in words)
            message = Errors.SN018.format(name=self.name, key=self.key, reason=str(error), sentence=text)
            raise ComponentError(message) from error
