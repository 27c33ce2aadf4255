"""Checks for featurizers, which map texts to feature vectors."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from spectralnlp import registry
from spectralnlp.featurizer import Featurizer
from spectralnlp.storage import load_model
from spectralnlp.testing.asserting import require

# Unusual texts: empty, blank, undecodable bytes, another script, a long word.
ODD_TEXTS = ("", " ", "\udc80", "ЖЖЖ", "x" * 10_000)


def check_featurizer(
    featurizer: Featurizer | type[Featurizer], texts: Sequence[str], labels: Sequence[Any] | None = None
) -> None:
    """Check that a featurizer learns, transforms texts, and can be saved and loaded as a model.

    Use `check_estimator` to check its settings and moments.

    Args:
        featurizer: a registered featurizer class, or an unfitted featurizer whose settings suit the texts.
        texts: five or more training texts.
        labels: labels of the texts, for a featurizer that learns from labels.

    Raises:
        AssertionError: a requirement is violated.

    Examples:
        >>> from spectralnlp import registry
        >>> from spectralnlp.testing import check_featurizer
        >>> texts = ["how much is it", "what does it cost", "when does it leave", "is it far", "it is"]
        >>> check_featurizer(registry.featurizers.get("sent")(sketch_size=4), texts)
    """
    made = featurizer() if isinstance(featurizer, type) else featurizer
    require(isinstance(made, Featurizer), "it derives from spectralnlp.Featurizer")
    fitted = made.fit(list(texts), labels)
    rows = _rows(fitted, texts)
    require(getattr(fitted, "n_texts_", None) == len(texts), "fit sets n_texts_, the texts learned from")
    require(rows.ndim == 2 and len(rows) == len(texts), "transform gives a row for each text")
    require(rows.dtype.kind == "f" and np.isfinite(rows).all(), "rows are finite floats")
    names = [str(name) for name in fitted.get_feature_names_out()]
    require(len(names) == rows.shape[1], "there is a name for each column")
    require(len(set(names)) == len(names), "names of columns differ")
    alone = np.vstack([_rows(fitted, [text]) for text in texts])
    require(np.allclose(alone, rows, atol=1e-5), "a row depends on its own text alone")
    require(np.isfinite(_rows(fitted, ODD_TEXTS)).all(), "an empty or odd text has a finite row")
    copied = pickle.loads(pickle.dumps(fitted))
    require(np.array_equal(_rows(copied, texts), rows), "a pickled featurizer gives the same rows")
    _check_storage(fitted, texts, rows)
    again = made.fit(list(texts), labels)
    require(np.array_equal(_rows(again, texts), rows), "the same texts give the same rows")


def _check_storage(fitted: Featurizer, texts: Sequence[str], rows: Any) -> None:
    task = registry.tasks.get(fitted.task)()
    model = task.to_model(fitted)
    with TemporaryDirectory() as folder:
        model.save(Path(folder) / "one")
        stored = load_model(Path(folder) / "one")
        loaded = task.load(stored)
        loaded.save(Path(folder) / "two")
        arrays = [(Path(folder) / name / "arrays.safetensors").read_bytes() for name in ("one", "two")]
    require(np.array_equal(_rows(loaded, texts), rows), "a saved and loaded featurizer gives the same rows")
    require(arrays[0] == arrays[1], "a saved and loaded featurizer has the same arrays")
    require(isinstance(loaded.info, dict), "info is a dictionary")


def _rows(featurizer: Any, texts: Sequence[str]) -> Any:
    rows = featurizer.transform(list(texts))
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
