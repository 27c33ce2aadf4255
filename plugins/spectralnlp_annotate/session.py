"""Annotation session: answers the browser's requests to show, edit and accept sentences with their trees.

A sentence is parsed under its constraints when it is shown. The parse is kept until the constraints change,
or until the sentence is shown again after a new model was loaded. So the annotator accepts the tree that the
page shows, even if a new model has been loaded meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from spectralnlp import Parser
from spectralnlp.errors import SpectralError
from spectralnlp.render.parsed import node_posteriors
from spectralnlp.render.svg import draw_tree
from spectralnlp.text.constraints import ConstraintError, Constraints
from spectralnlp.trees import Tree, read_brackets
from spectralnlp.trees.parse import Parse
from spectralnlp_annotate.by_hand import parse_under
from spectralnlp_annotate.documents import Document
from spectralnlp_annotate.edits import LABELS, AnnotatedSentence, EditError, NewLabelError
from spectralnlp_annotate.ordering import Place, next_place
from spectralnlp_annotate.project import Project

# Minimum posteriors of constituents that are marked as sure, and as open; others are marked as doubtful.
_SURE, _DOUBTFUL = 0.95, 0.7


class StaleTreeError(SpectralError):
    """Error raised if the tree to accept is not the tree that the browser shows now."""


@dataclass(frozen=True)
class _Shown:
    """Sentence shown in the browser, with its parse and the parser that made the parse."""

    sentence: AnnotatedSentence
    parse: Parse
    parser: Parser


class Session:
    """Session of one annotator: chooses the next sentence, parses it for the browser, and applies edits.

    Args:
        project: project whose documents are open.
        parser: parser that proposes the trees.
        order: order of the sentences: ``gain`` or ``file``.
    """

    def __init__(self, project: Project, parser: Parser, order: str) -> None:
        self.project = project
        self.parser = parser
        self._order = order
        self._gains: dict[Place, float] = {}
        self._shown: dict[Place, _Shown] = {}
        self._lock = Lock()

    def overview(self) -> dict[str, Any]:
        """Return what the browser shows first: documents with progress, labels, tags, and the next sentence.

        Returns:
            JSON values ``documents``, ``labels``, ``tags`` and ``next``.
        """
        labels, tags = self._labels()
        documents = [
            {"name": each.name, "sentences": len(each), "accepted": sum(s.tree is not None for s in each)}
            for each in self.project.documents
        ]
        return {
            "documents": documents,
            "labels": sorted(labels),
            "tags": sorted(tags),
            "next": self.next_after(None),
        }

    def next_after(self, place: Place | None) -> Place | None:
        """Return the indices (document, sentence) of the sentence to annotate next; None if all are accepted.

        Args:
            place: indices (document, sentence) of the sentence that is shown now; None at the start.
        """
        gains = self._gains if self._order == "gain" else {}
        places = list(self.project.places())
        accepted = [(d, n) for d, n in places if self.project.documents[d][n].tree is not None]
        return next_place(places, accepted, gains, place)

    def show(self, place: Place) -> dict[str, Any]:
        """Return a sentence as JSON values for the browser, with its accepted tree or a tree to correct.

        A sentence without an accepted tree is parsed again if a new model has been loaded.

        Args:
            place: index of the document and of the sentence.
        """
        with self._lock:
            if place in self._shown and self._shown[place].parser is not self.parser:
                del self._shown[place]
            return self._view(place)

    def edit(self, place: Place, edit: Mapping[str, Any]) -> dict[str, Any]:
        """Apply an edit, and return the sentence as JSON values; an edit that allows no tree is refused.

        Args:
            place: index of the document and of the sentence.
            edit: an edit as `AnnotatedSentence.edited` takes it; ``accept`` includes the tree that was shown.

        Raises:
            NewLabelError: the label is used nowhere, and ``new`` is not set.
            EditError: the edit does not fit the sentence, or allows no tree.
            StaleTreeError: the tree to accept is no longer the one shown.
        """
        document, number = self._document(place), place[1]
        with self._lock:
            if edit.get("do") == "accept":
                if edit.get("tree") != self._tree(place, document[number]):
                    raise StaleTreeError("the tree has changed; look at it again")
            else:
                sentence = document.preview(number, edit)
                if not edit.get("new"):
                    self._check_label(edit, sentence)
                self._parsed(place, sentence)
            document.apply(number, edit)
            return self._view(place)

    def take_model(self, parser: Parser | None, gains: Mapping[Place, float]) -> None:
        """Use a new model and new expected gains from now on.

        The sentence on the page keeps its tree until its constraints change or it is shown again.

        Args:
            parser: the new parser; None to keep the present one.
            gains: expected gain of each sentence without an accepted tree, by (index of the document, index
                of the sentence).
        """
        with self._lock:
            self._gains = dict(gains)
            if parser is not None:
                self.parser = parser

    def _labels(self) -> tuple[set[str], set[str]]:
        """Return the phrase labels and the tags that the model or any annotation uses."""
        phrases, tags = set(self.parser.phrases), set(self.parser.tags)
        for sentence in (each for document in self.project.documents for each in document):
            phrases.update(each.label for each in sentence.brackets if each.label is not None)
            tags.update(tag for _, tag in sentence.tags)
        return phrases, tags

    def _check_label(self, edit: Mapping[str, Any], sentence: AnnotatedSentence) -> None:
        """Raise NewLabelError for a label or tag that is used nowhere else, as it is likely a typing error.

        Args:
            edit: an edit that fits the sentence.
            sentence: the sentence after the edit.
        """
        field = LABELS.get(str(edit.get("do")))
        if field is None:
            return
        if field == "tag":
            asked = Constraints.of(tags={edit["word"]: edit[field]})
        else:
            asked = Constraints.of([(edit["start"], edit["end"], edit[field])])
        try:
            asked.check(len(sentence.words), *self._labels())
        except ConstraintError as error:
            raise NewLabelError(edit[field], error.what, error.hint) from error

    def _view(self, place: Place) -> dict[str, Any]:
        document, number = self._document(place), place[1]
        sentence = document[number]
        fallback = None
        if sentence.tree is None:
            parse = self._parsed(place, sentence)
            tree, posteriors, fallback = parse.tree, node_posteriors(parse), parse.fallback
        else:
            tree = _tree_of(sentence.tree)
            posteriors = [None for _ in tree.spans()]
        return {
            "document": place[0],
            "number": number,
            "name": document.name,
            "words": list(sentence.words),
            "tags": tree.tags(),
            "brackets": str(tree),
            "svg": draw_tree(tree, marks=_marks(tree, posteriors, sentence)),
            "nodes": _nodes(tree, posteriors),
            "constraints": sentence.constraints.to_json(),
            "accepted": sentence.tree is not None,
            "comment": sentence.comment,
            "fallback": fallback,
            **document.can(number),
        }

    def _tree(self, place: Place, sentence: AnnotatedSentence) -> str:
        """Return the tree to show for a sentence: the accepted tree, or else the parser's."""
        return sentence.tree if sentence.tree is not None else str(self._parsed(place, sentence).tree)

    def _parsed(self, place: Place, sentence: AnnotatedSentence) -> Parse:
        """Return the parse of a sentence under its constraints.

        The parse that was shown last is returned again if the constraints are still the same.

        Args:
            place: index of the document and of the sentence.
            sentence: the sentence.

        Raises:
            EditError: no tree meets the constraints.
        """
        shown = self._shown.get(place)
        if shown is not None and _same_constraints(shown.sentence, sentence):
            return shown.parse
        try:
            parse = parse_under(self.parser, sentence.words, sentence.constraints)
        except SpectralError as error:
            raise EditError(error.what, hint=error.hint) from error
        self._shown[place] = _Shown(sentence, parse, self.parser)
        return parse

    def _document(self, place: Place) -> Document:
        number, sentence = place
        documents = self.project.documents
        if not (0 <= number < len(documents) and 0 <= sentence < len(documents[number])):
            raise EditError("no such sentence")
        return documents[number]


def _tree_of(brackets: str) -> Tree:
    (tree,) = read_brackets([brackets])
    return tree


def _same_constraints(one: AnnotatedSentence, other: AnnotatedSentence) -> bool:
    return (one.words, one.brackets, one.forbidden, one.tags) == (
        other.words,
        other.brackets,
        other.forbidden,
        other.tags,
    )


def _nodes(tree: Tree, posteriors: list[float | None]) -> list[dict[str, Any]]:
    """Return the constituents below the root as JSON values for the browser, parents first.

    Each value includes the number of the constituent's node in the drawing.

    Args:
        tree: the tree.
        posteriors: posterior of each constituent; None if it is unknown.
    """
    spans = list(zip(tree.spans(), posteriors, strict=True))
    return [
        {"node": number, "label": label, "start": start, "end": end, "posterior": posterior}
        for number, ((label, start, end), posterior) in enumerate(spans)
        if number
    ]


def _marks(tree: Tree, posteriors: list[float | None], sentence: AnnotatedSentence) -> dict[int, str]:
    """Return the CSS class of each constituent in the drawing, by which required and doubtful ones stand out.

    Args:
        tree: the tree.
        posteriors: posterior of each constituent; None if it is unknown.
        sentence: the sentence with the annotator's constraints.

    Returns:
        The class, ``required``, ``sure``, ``open`` or ``doubtful``, for the node number of each constituent;
        constituents that are not required and have no posterior are left out.
    """
    required = {(each.label, *each.span) for each in sentence.brackets}
    marks = {}
    for number, (span, posterior) in enumerate(zip(tree.spans(), posteriors, strict=True)):
        label, start, end = span
        if (label, start, end) in required or (None, start, end) in required:
            marks[number] = "required"
        elif posterior is not None:
            marks[number] = "sure" if posterior >= _SURE else "open" if posterior >= _DOUBTFUL else "doubtful"
    return marks
