"""Implement the methods ``update``, ``forget`` and ``save`` of models that keep their training statistics.

These statistics are called kept moments; see :mod:`~spectralnlp.changes.kept_moments`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sized
from pathlib import Path
from typing import Any

from spectralnlp.changes.explaining import explain, explainer_of
from spectralnlp.changes.kept_moments import KeptMoments, kept_if_any, kept_of
from spectralnlp.changes.learned_sentences import LearnedSentences
from spectralnlp.changes.ledger import DocumentDigests
from spectralnlp.changes.operations import Change
from spectralnlp.changes.operations import forget as forget_documents
from spectralnlp.changes.operations import train as train_and_keep
from spectralnlp.changes.operations import update as update_moments
from spectralnlp.errors import InputError
from spectralnlp.estimator import Estimator
from spectralnlp.models.changing import ChangingModel
from spectralnlp.runtime import Corpus, accumulate

__all__ = [
    "LearnedSentences",
    "explain",
    "explainer_of",
    "forget",
    "kept_if_any",
    "load_moments",
    "save",
    "train",
    "update",
]


def update(
    model: ChangingModel,
    X: Any,
    y: Any = None,
    *,
    add_known: bool = False,
    skip_known: bool = False,
    from_scratch: bool = False,
) -> Any:
    """Return a model that has also learned from further examples; see `ChangingModel.update`."""
    kept = kept_of(model, "be updated")
    corpus = _examples(kept, X, y)
    if skip_known and is_known(kept, corpus):
        return model
    change = update_moments(
        kept, corpus, add_known=add_known, skip_known=skip_known, from_scratch=from_scratch
    )
    return _in_place_of(model, change)


def is_known(kept: KeptMoments, corpus: Corpus[Any]) -> bool:
    """Return whether a model has learned all examples of a corpus already, according to its ledger of hashes.

    Args:
        kept: kept moments (training statistics) of the model, with the ledger.
        corpus: the examples.
    """
    examples = kept.task.examples(kept.learner, corpus)
    digests = accumulate(DocumentDigests(kept.ledger.salts, kept.unit), examples)
    return bool(kept.ledger.known(digests.digests()).all())


def train(name: str, estimator: Estimator[Any], corpus: Corpus[Any]) -> Any:
    """Train a model that keeps its training statistics, so that it can be updated; see `operations.train`."""
    return train_and_keep(name, estimator, corpus).model


def load_moments(model: ChangingModel) -> None:
    """Load a model's kept training statistics into memory, so that its folder may be deleted.

    Raises what `kept_of` raises.
    """
    object.__setattr__(model, "kept", kept_of(model, "be updated"))


def forget(model: ChangingModel, X: Any, y: Any = None) -> Any:
    """Return a model as if it had never seen some examples; see `ChangingModel.forget`."""
    kept = kept_of(model, "forget")
    return _in_place_of(model, forget_documents(kept, _examples(kept, X, y)))


def _in_place_of(model: ChangingModel, change: Change) -> Any:
    """Return a changed model, after attaching its kept moments and copying the previous model's settings.

    Args:
        model: the previous model; only settings that are not learned, such as its tagger, are copied.
        change: result of an update or of forgetting.
    """
    changed = change.model.with_settings_of(model)
    object.__setattr__(changed, "kept", change.kept)
    return changed


def save(model: ChangingModel, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a model folder with the kept training statistics; see `ChangingModel.save`."""
    kept_of(model, "be kept with its moments").save(model, path, overwrite=overwrite)


def _examples(kept: KeptMoments, X: Any, y: Any) -> Corpus[Any]:
    """Return examples ``X`` with targets ``y`` as a corpus; check that they suit the task of a model.

    Raises:
        InputError: an example does not suit the task; the message gives its number.
    """
    corpus = _corpus(kept, list(X) if isinstance(X, Iterator) else X, y)
    for number, example in enumerate(corpus, 1):
        if not kept.task.is_example(example):
            what = f"{repr(example)[:40]} is no example for {kept.task.name}"
            raise InputError(what, path="memory", sentence=number)
    return corpus


def _corpus(kept: KeptMoments, X: Any, y: Any) -> Corpus[Any]:
    if y is None:
        return kept.task.in_memory(X)
    if isinstance(X, Sized) and isinstance(y, Sized) and len(X) != len(y):
        raise InputError(f"{len(X)} examples and {len(y)} labels", hint="give each example one")
    return kept.task.in_memory(list(zip(X, y, strict=True)))
