"""Entities of documents: those that are there and new ones together, in the manner of spaCy's components."""

from __future__ import annotations

from collections.abc import Sequence

from spacy.tokens import Doc, Span

# What ``token.ent_iob`` says of a token that nobody annotated, and of one that begins an entity.
_MISSING, _BEGIN = 0, 3


def add_entities(doc: Doc, found: Sequence[Span], *, overwrite: bool) -> None:
    """Write entities beside those that a document has. Tokens of none are marked as outside of entities.

    Where a new entity meets one that is there, or a token that is blocked (``doc.set_ents(blocked=…)``), the
    old one stays as it is, with its ``id_`` and ``kb_id_``, and the new one goes, as by spaCy's entity ruler
    and recogniser.

    Args:
        doc: the document.
        found: entities that do not overlap.
        overwrite: whether the old one goes where both meet; others stay.
    """
    blocked = [doc[token.i : token.i + 1] for token in doc if is_blocked(doc, token.i)]
    there = list(doc.ents)
    if overwrite:
        there = [span for span in there if not _meets_any(span, found)]
        blocked = [span for span in blocked if not _meets_any(span, found)]
    else:
        found = [span for span in found if not _meets_any(span, [*there, *blocked])]
    doc.set_ents([*there, *found], blocked=blocked, default="outside")


def is_blocked(doc: Doc, token: int) -> bool:
    """Whether a token is marked as one that must not be in an entity."""
    return doc[token].ent_iob == _BEGIN and not doc[token].ent_type


def is_annotated(doc: Doc, tokens: Sequence[int]) -> bool:
    """Whether it is known of all these tokens what entity they are in, or that they are in none."""
    return all(doc[i].ent_iob != _MISSING for i in tokens)


def _meets_any(span: Span, others: Sequence[Span]) -> bool:
    return any(span.start < other.end and other.start < span.end for other in others)
