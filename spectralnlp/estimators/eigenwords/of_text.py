"""Word vectors for estimators that use unlabelled text in addition to their labelled examples.

Such an estimator has two settings: ``unlabelled``, text files from which vectors are learned, and
``eigenwords``, folders of vectors that were learned before.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from spectralnlp import registry
from spectralnlp.errors import ConfigError, ModelError
from spectralnlp.estimators.eigenwords.estimator import Eigenwords
from spectralnlp.parameters import WordVectors
from spectralnlp.runtime import expand_inputs
from spectralnlp.storage import load_model
from spectralnlp.text.blocks import TextFiles

Paths = str | list[str] | None


def check_one_source(eigenwords: Paths, unlabelled: Paths) -> None:
    """Raise `ConfigError` if both folders of word vectors and text to learn them from are given."""
    if eigenwords is not None and unlabelled is not None:
        what = "eigenwords and unlabelled are both given, but only one source of vectors is used"
        raise ConfigError(what, hint="leave one out")


def learn_vectors(
    text: str | Sequence[str], *, lowercase: bool = True, dimensions: int = 50, random_state: int = 0
) -> WordVectors:
    """Learn eigenwords from unlabelled text, which is read as a stream.

    Args:
        text: paths of files or folders, or glob patterns.
        lowercase: whether words are lower-cased before counting.
        dimensions: length of a vector.
        random_state: seed of the decomposition.

    Raises:
        InputError: a file cannot be read, or fewer than two words occur often enough.
    """
    learner = Eigenwords(lowercase=lowercase, dimensions=dimensions, random_state=random_state)
    return learner.fit(TextFiles(expand_inputs(text))).word_vectors_


def load_vectors(folder: str) -> WordVectors:
    """Load word vectors from a folder made by ``train eigenwords``, or from an installed model.

    Args:
        folder: path of the folder, or name of an installed model.

    Raises:
        ModelError: the folder holds no model, or a model that is not of word vectors.
    """
    is_installed = not Path(folder).exists() and folder in registry.models
    stored = load_model(registry.models.get(folder) if is_installed else folder)
    if stored.kind != "vectors":
        hint = "give a folder made by `spectralnlp train eigenwords`"
        raise ModelError(f"a model for {stored.kind}, not for word vectors", path=folder, hint=hint)
    return WordVectors.from_arrays(stored.checked, stored.values)
