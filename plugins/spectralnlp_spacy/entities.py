"""Add entities to ``doc.ents``, with spaCy's rules for overlaps with existing entities."""

from __future__ import annotations

from collections.abc import Sequence

from spacy.tokens import Doc, Span

# Values of ``token.ent_iob`` for a token without annotation, and for the first token of an entity.
_MISSING, _BEGIN = 0, 3


def add_entities(doc: Doc, entities: Sequence[Span], *, overwrite: bool) -> None:
    """Add entities to ``doc.ents``, and mark tokens without an entity as outside of entities.

    If a new entity overlaps an existing one or a blocked token (``doc.set_ents(blocked=…)``), the existing
    one is kept with its ``id_`` and ``kb_id_`` and the new one is dropped, as in spaCy's entity ruler and
    recogniser.

    Args:
        doc: the document.
        entities: new entities that do not overlap each other.
        overwrite: whether to keep all new entities instead, and drop the entities and blocks that they
            overlap.
    """
    blocked = [doc[token.i : token.i + 1] for token in doc if is_blocked(doc, token.i)]
    existing = list(doc.ents)
    if overwrite:
        existing = [span for span in existing if not _overlaps_any(span, entities)]
        blocked = [span for span in blocked if not _overlaps_any(span, entities)]
    else:
        entities = [span for span in entities if not _overlaps_any(span, [*existing, *blocked])]
    doc.set_ents([*existing, *entities], blocked=blocked, default="outside")


def is_blocked(doc: Doc, token: int) -> bool:
    """Return whether a token is blocked, that is, must not be in an entity."""
    return doc[token].ent_iob == _BEGIN and not doc[token].ent_type


def is_annotated(doc: Doc, tokens: Sequence[int]) -> bool:
    """Return whether all of the tokens are annotated as inside or outside of an entity."""
    return all(doc[i].ent_iob != _MISSING for i in tokens)


def _overlaps_any(span: Span, others: Sequence[Span]) -> bool:
    return any(span.start < other.end and other.start < span.end for other in others)
