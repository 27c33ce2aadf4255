"""Write a spaCy pipeline that contains a trained tagger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import spacy

import spectralnlp
from spectralnlp.render.tags import UNIVERSAL
from spectralnlp_spacy.tagger import writes_spans
from spectralnlp_spacy.vectors import write_pipeline


def write_tagger(model_folder: str, folder: Path, lang: str, attribute: str | None = None) -> str:
    """Write a blank spaCy pipeline with the component ``spectral_tagger``, which contains a trained tagger.

    Args:
        model_folder: folder of a tagger, or the name of an installed one.
        folder: folder to write the pipeline to.
        lang: code of the language.
        attribute: where the component writes tags: ``tag``, ``pos``, ``ents`` or ``spans``, as in
            `TaggerSettings`. None to choose by the tagger's labels: ``ents`` if they mark spans, ``pos`` if
            they are universal part-of-speech tags, and otherwise ``tag``.

    Returns:
        Where the tags are written, such as ``doc.ents``.

    Raises:
        ConfigError: the tags do not fit the attribute, or the folder is in use or cannot be written.
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
