"""The verbs as methods of models: `ChangingModel.update`, ``forget`` and ``save``; `Parser.explain`."""

from __future__ import annotations

from collections.abc import Sized
from pathlib import Path
from typing import Any

from spectralnlp.changes.explaining import Explainer, explain
from spectralnlp.changes.kept import KeptMoments, kept_of
from spectralnlp.changes.verbs import Change
from spectralnlp.changes.verbs import forget as forget_documents
from spectralnlp.changes.verbs import update as update_moments
from spectralnlp.errors import InputError
from spectralnlp.models.changing import ChangingModel
from spectralnlp.runtime import Corpus
from spectralnlp.storage import check_writable

__all__ = ["Explainer", "explain", "forget", "save", "update"]


def update(model: ChangingModel, X: Any, y: Any = None, *, again: bool = False, whole: bool = False) -> Any:
    """Return the model that has learned from further examples, too; see `ChangingModel.update`."""
    kept = kept_of(model, "be updated")
    return _changed(update_moments(kept, _examples(kept, X, y), again=again, whole=whole))


def forget(model: ChangingModel, X: Any, y: Any = None) -> Any:
    """Return the model that never saw some examples; see `ChangingModel.forget`."""
    kept = kept_of(model, "forget")
    return _changed(forget_documents(kept, _examples(kept, X, y)))


def save(model: ChangingModel, path: str | Path, *, overwrite: bool = True) -> None:
    """Write a model folder with what was kept beside the model; see `ChangingModel.save`."""
    check_writable(path, overwrite=overwrite)
    kept_of(model, "be kept with its moments").save(model, path)


def _changed(change: Change) -> Any:
    object.__setattr__(change.model, "kept", change.kept)
    return change.model


def _examples(kept: KeptMoments, X: Any, y: Any) -> Corpus[Any]:
    if y is None:
        return kept.task.in_memory(X)
    if isinstance(X, Sized) and isinstance(y, Sized) and len(X) != len(y):
        raise InputError(f"{len(X)} examples and {len(y)} labels", hint="give each example one")
    return kept.task.in_memory(list(zip(X, y, strict=True)))
