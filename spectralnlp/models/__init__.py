"""Trained models with their tokenisation conventions, and lookup of model folders by name."""

from __future__ import annotations

from pathlib import Path

from spectralnlp import registry
from spectralnlp.errors import ModelError, RegistryError
from spectralnlp.storage import META, MOMENTS_META, model_digest, read_kept_header

__all__ = ["folder_of", "moments_folder"]


def folder_of(name: str | Path) -> Path:
    """Return the folder of a model.

    Args:
        name: a model folder, or the name of a model that is installed, such as ``en``.

    Raises:
        ModelError: there is no such model.

    Examples:
        >>> from spectralnlp.models import folder_of
        >>> folder_of("en").name
        'en'
    """
    path = Path(name)
    if not (path / META).exists() and str(name) in registry.models:
        path = Path(registry.models.get(str(name)))
    elif not path.exists():
        how = registry.how_to_install(str(name))
        if how is not None:
            raise ModelError(f"the model {name} is not installed", hint=how)
        try:
            registry.models.resolve(str(name))
        except RegistryError as error:
            hint = f"give a model folder or the name of an installed model; {error.hint}"
            raise ModelError(f"no model {str(name)!r}", hint=hint) from None
    return path


def moments_folder(folder: Path) -> Path:
    """Return the folder that holds the moments (training statistics) of a model.

    Moments are in the model's folder or in a package that is installed separately. If there are none, the
    model's folder is returned.

    Args:
        folder: the folder of the model.

    Raises:
        ModelError: the folder holds no model.

    Examples:
        >>> from spectralnlp.models import folder_of, moments_folder
        >>> moments_folder(folder_of("en-upos")).name
        'en_upos'
    """
    if (folder / MOMENTS_META).exists() or not registry.moments.names():
        return folder
    digest = model_digest(folder)
    for name in registry.moments.names():
        candidate = Path(registry.moments.get(name))
        header = read_kept_header(candidate)
        if header is not None and header.take("model", str) == digest:
            return candidate
    return folder
