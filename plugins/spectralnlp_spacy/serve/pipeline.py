"""Build the pipeline of ``spectralnlp serve`` from the models named on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import spacy
from spacy import parts_of_speech
from spacy.language import Language

import spectralnlp
from spectralnlp import registry
from spectralnlp.errors import ConfigError
from spectralnlp.storage import META, kind_of
from spectralnlp_spacy.parser import SpectralParser
from spectralnlp_spacy.tokenizer import SpectralTokenizer

# Universal part-of-speech tags: a tagger with these sets ``token.pos_``, any other ``token.tag_``.
UNIVERSAL = frozenset(parts_of_speech.IDS)

# Factory of the component for models of each task.
FACTORIES = {"parsing": "spectral_parser", "tagging": "spectral_tagger", "intents": "spectral_textcat"}


def load_pipeline(names: Sequence[str], lang: str) -> Language:
    """Load or build the spaCy pipeline, with a parser, that the server uses.

    A pipeline of spectralnlp models splits a text into the tokens of `Parser.parse`; a spaCy pipeline keeps
    its tokenizer.

    Args:
        names: one spaCy pipeline (a folder or a package), or folders or names of spectralnlp models.
        lang: language of the text; used for spectralnlp models only.

    Raises:
        ConfigError: there is no such pipeline or model, or the pipeline has no parser.
        ComponentError: the parser cannot be loaded.
    """
    is_pipeline = len(names) == 1 and not _is_core_model(names[0])
    nlp = _load_spacy(names[0]) if is_pipeline else spacy.blank(lang)
    for name in () if is_pipeline else names:
        _add(nlp, name)
    parser = next((pipe for _, pipe in nlp.pipeline if isinstance(pipe, SpectralParser)), None)
    if parser is None:
        raise ConfigError("none of the models is a parser", hint="name a parser too, such as en")
    if not is_pipeline:
        nlp.tokenizer = SpectralTokenizer(nlp.vocab, str(parser.source), parser.ready().tokenizer)
    return nlp


def _add(nlp: Language, name: str) -> None:
    """Add to a spaCy pipeline a component that uses a spectralnlp model and has the model's name."""
    if not _is_core_model(name):
        raise ConfigError(
            f"no model {name!r}", hint="give folders of spectralnlp models, or one spaCy pipeline"
        )
    folder = _folder(name)
    task = kind_of(folder)
    if task not in FACTORIES:
        raise ConfigError(f"a model for {task} cannot be shown", path=name)
    config = {"model": str(folder.resolve())}
    if task == "tagging" and UNIVERSAL.issuperset(spectralnlp.load(folder).labels):
        config["attribute"] = "pos"
    nlp.add_pipe(FACTORIES[task], name=_component_name(nlp, name), config=config)


def _folder(name: str) -> Path:
    return Path(name) if (Path(name) / META).exists() else Path(registry.models.get(name))


def _component_name(nlp: Language, name: str) -> str:
    """Return the last part of a model's path, with a number if another component has this name."""
    last = Path(name).resolve().name
    same = [each for each in nlp.pipe_names if each.partition(" ")[0] == last]
    return f"{last} {len(same) + 1}" if same else last


def _is_core_model(name: str) -> bool:
    return name in registry.models or (Path(name) / META).exists()


def _load_spacy(name: str) -> Language:
    try:
        return spacy.load(name)
    except OSError as error:
        hint = "give a folder with a spaCy pipeline or a spectralnlp model, or an installed one"
        raise ConfigError(f"no pipeline {name!r}", hint=hint) from error
