"""The pipeline that a page shows, from what was named on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import spacy
from spacy.language import Language

from spectralnlp import registry
from spectralnlp.errors import ConfigError
from spectralnlp.storage import META, load_model

# The component for models of each task.
FACTORIES = {"parsing": "spectral_parser", "tagging": "spectral_tagger", "intents": "spectral_textcat"}


def load_pipeline(names: Sequence[str], lang: str) -> Language:
    """A pipeline with a parser that is ready to be used.

    Args:
        names: one spaCy pipeline (a folder or a package), or models of the core, by folder or name.
        lang: language of the text, for models of the core.

    Raises:
        ConfigError: one is neither, or nothing in the pipeline parses.
    """
    if len(names) == 1 and not _is_core_model(names[0]):
        nlp = _load_spacy(names[0])
    else:
        nlp = spacy.blank(lang)
        for name in names:
            _add(nlp, name)
    if not any(nlp.get_pipe_meta(name).factory == "spectral_parser" for name in nlp.pipe_names):
        raise ConfigError("nothing here parses", hint="name a parser too, such as en")
    nlp("Ready.")
    return nlp


def _add(nlp: Language, name: str) -> None:
    if not _is_core_model(name):
        raise ConfigError(
            f"no model {name!r}", hint="give folders of spectralnlp models, or one spaCy pipeline"
        )
    task = "parsing" if name in registry.models else load_model(name).kind
    if task not in FACTORIES:
        raise ConfigError(f"a model for {task} cannot be shown", path=name)
    config = {"model": str(name) if name in registry.models else str(Path(name).resolve())}
    nlp.add_pipe(FACTORIES[task], config=config)


def _is_core_model(name: str) -> bool:
    return name in registry.models or (Path(name) / META).exists()


def _load_spacy(name: str) -> Language:
    try:
        return spacy.load(name)
    except OSError as error:
        hint = "give a folder with a spaCy pipeline or a spectralnlp model, or an installed one"
        raise ConfigError(f"no pipeline {name!r}", hint=hint) from error
