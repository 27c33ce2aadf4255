"""Build taggers of any kind, linear chains and refinement hidden Markov models, from model folders."""

from __future__ import annotations

from spectralnlp.errors import ModelError
from spectralnlp.models.rhmm_tagger import RefinementTagger
from spectralnlp.models.tagger import Tagger
from spectralnlp.storage import StoredModel

_TAGGERS: tuple[type[Tagger | RefinementTagger], ...] = (Tagger, RefinementTagger)


def tagger_class(kind: str | None) -> type[Tagger | RefinementTagger]:
    """Return the tagger class for the ``kind`` in a model folder; `Tagger` if None or unknown."""
    return next((each for each in _TAGGERS if each.kind == kind), Tagger)


def tagger_from(stored: StoredModel) -> Tagger | RefinementTagger:
    """Build the tagger that a model folder holds.

    Raises:
        ModelError: the folder holds no tagger, or lacks something that the tagger needs.
    """
    if stored.kind != "tagging":
        raise ModelError(f"a model for {stored.kind}, not a tagger", path=stored.path)
    return tagger_class(stored.metadata.get("kind")).from_stored(stored)
