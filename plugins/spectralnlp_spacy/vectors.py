"""Write eigenwords (word vectors) as the vectors of a spaCy pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import spacy
from spacy.language import Language
from spacy.vectors import Vectors as SpacyVectors

from spectralnlp.errors import ConfigError

if TYPE_CHECKING:
    from spectralnlp import Vectors


def write_vectors(model: Vectors, folder: Path, lang: str) -> tuple[int, int]:
    """Write a blank spaCy pipeline, whose vocabulary has the word vectors of a model.

    If the model has lower-cased words only, their capitalised and upper-case variants get the same vectors,
    because spaCy looks up the vector of a token without lower-casing the token.

    Args:
        model: word vectors to write.
        folder: folder to write the pipeline to.
        lang: code of the language.

    Returns:
        Number of words and number of dimensions.

    Raises:
        ConfigError: the folder holds something other than a pipeline, or cannot be written.
    """
    check_free(folder)
    nlp = spacy.blank(lang)
    add = nlp.vocab.strings.add
    vectors = SpacyVectors(
        data=model.vectors(model.words), keys=[add(word) for word in model.words], name=f"{lang}_eigenwords"
    )
    if model.parameters.lowercase:
        for row, word in enumerate(model.words):
            for variant in {word.capitalize(), word.upper()} - {word}:
                vectors.add(add(variant), row=row)
    nlp.vocab.vectors = vectors
    nlp.meta["vectors"] = {**nlp.meta["vectors"], "name": vectors.name}
    write_pipeline(nlp, folder)
    return len(model.words), model.dimensions


def check_free(folder: Path) -> None:
    """Check that a folder may be written to: it is new, empty or a spaCy pipeline.

    Raises:
        ConfigError: the folder holds something else.
    """
    if folder.exists() and not (folder / "meta.json").exists() and any(folder.iterdir()):
        raise ConfigError(
            "the folder holds something other than a pipeline", path=folder, hint="choose another"
        )


def write_pipeline(nlp: Language, folder: Path) -> None:
    """Write a spaCy pipeline to a folder.

    Raises:
        ConfigError: the folder holds something other than a pipeline, or cannot be written.
    """
    check_free(folder)
    try:
        nlp.to_disk(folder)
    except OSError as error:
        raise ConfigError(f"cannot write the pipeline: {error.strerror or error}", path=folder) from error
