"""Load taggers of any kind, linear chains and refinement hidden Markov models, from model folders."""

from __future__ import annotations

from pathlib import Path

from spectralnlp.errors import ModelError
from spectralnlp.models import folder_of
from spectralnlp.models.rhmm_tagger import RefinementTagger
from spectralnlp.models.tagger import Tagger
from spectralnlp.storage import load_model

_TAGGERS: tuple[type[Tagger | RefinementTagger], ...] = (Tagger, RefinementTagger)


def tagger_class(kind: str | None) -> type[Tagger | RefinementTagger]:
    """Return the tagger class for the ``kind`` in a model folder; `Tagger` if None or unknown."""
    return next((each for each in _TAGGERS if each.kind == kind), Tagger)


def load_tagger(name: str | Path) -> Tagger | RefinementTagger:
    """Load a tagger of any kind.

    Args:
        name: a model folder, or the name of a model that is installed.

    Raises:
        ModelError: there is no such model, it is not a tagger, or is truncated or of another format version.

    Examples:
        >>> import spectralnlp
        >>> spectralnlp.load_tagger("en-upos").tags[:2]
        ('ADJ', 'ADP')
    """
    stored = load_model(folder_of(name))
    if stored.kind != "tagging":
        raise ModelError(f"a model for {stored.kind}, not a tagger", path=stored.path)
    return tagger_class(stored.metadata.get("kind")).from_stored(stored)
