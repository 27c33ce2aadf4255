"""Pipelines that hold a trained tagger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import spacy

import spectralnlp
from spectralnlp.render.tags import UNIVERSAL
from spectralnlp_spacy.tagger import writes_spans
from spectralnlp_spacy.vectors import write_pipeline


def write_tagger(model_folder: str, folder: Path, lang: str, attribute: str | None = None) -> str:
    """Write a blank pipeline with ``spectral_tagger``, and the model in it.

    Args:
        model_folder: of a tagger, or the name of an installed one.
        folder: where to.
        lang: code of the language.
        attribute: where tags go, as the setting; None for ``ents`` where tags are spans, ``pos`` where they
            are universal parts of speech, and else ``tag``.

    Returns:
        Where the tags go: ``doc.ents``.

    Raises:
        ConfigError: tags cannot go there, the folder is taken, or cannot be written.
    """
    attribute = attribute or _usual_attribute(spectralnlp.load(model_folder))
    nlp = spacy.blank(lang)
    pipe: Any = nlp.add_pipe("spectral_tagger", config={"attribute": attribute})
    pipe.load(model_folder)
    write_pipeline(nlp, folder)
    place: str = pipe.place
    return place


def _usual_attribute(tagger: Any) -> str:
    if writes_spans(tagger):
        return "ents"
    return "pos" if set(tagger.labels) <= UNIVERSAL else "tag"
