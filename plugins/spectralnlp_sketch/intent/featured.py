"""A featurizer in place of directions: its rows, centred and as long as projections are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import spectralnlp
from spectralnlp import registry
from spectralnlp.errors import ConfigError
from spectralnlp.featurizer import Featurizer
from spectralnlp.runtime import Corpus

Array32 = NDArray[np.float32]
# Mean length of a text's row less the mean, where that of its words and of its characters is 1. Inside
# training sets dCoT gains most from this; longer rows of the others drown n-grams.
LENGTH = 0.5
# Texts that the mean and the mean length are taken of, at most.
MOST_TEXTS = 20_000


@dataclass(frozen=True)
class Featured:
    """Rows of a featurizer less their mean, times a factor.

    Args:
        featurizer: fitted.
        mean: float32 (n_features,).
        factor: of rows less their mean.
    """

    featurizer: Featurizer
    mean: Array32
    factor: float

    @classmethod
    def learn(cls, name: str, texts: Corpus[str], some: Sequence[str]) -> Featured:
        """Fit a featurizer, or take a trained one, and look at its rows.

        Args:
            name: of a registered featurizer, or the folder of a trained one.
            texts: what one that is not trained is fitted to.
            some: texts whose rows are looked at.

        Raises:
            RegistryError: there is none of that name.
            ConfigError: the folder holds another kind of model, or rows are sparse.
        """
        featurizer = _trained(name) if is_folder(name) else registry.featurizers.get(name)().fit(texts)
        rows = _dense_rows(featurizer, some[:: -(-len(some) // MOST_TEXTS) or 1])
        mean = rows.mean(axis=0)
        length = float(np.linalg.norm(rows - mean, axis=1).mean())
        return cls(featurizer, mean, LENGTH / max(length, 1e-12))

    def rows(self, texts: Sequence[str]) -> Array32:
        """Rows of texts, float32 (n_texts, n_features)."""
        return (_dense_rows(self.featurizer, texts) - self.mean) * np.float32(self.factor)


def is_folder(name: str) -> bool:
    """Whether a featurizer is named by its folder: no registered one is called so.

    Raises:
        RegistryError: there is no such featurizer, and no such folder.
    """
    if name in registry.featurizers or not Path(name).exists():
        registry.featurizers.resolve(name)
        return False
    return True


def _trained(folder: str) -> Featurizer:
    model = spectralnlp.load(folder)
    if model.task != Featurizer.task:
        raise ConfigError(f"a model for {model.task}, not a featurizer", path=folder)
    featurizer: Featurizer = model.featurizer
    return featurizer


def _dense_rows(featurizer: Featurizer, texts: Sequence[str]) -> Array32:
    rows: Any = featurizer.transform(texts) if len(texts) else None
    if rows is None:
        return np.zeros((0, len(featurizer.get_feature_names_out())), np.float32)
    if not isinstance(rows, np.ndarray):
        what = f"{type(featurizer).__name__} gives sparse rows of {rows.shape[1]:,} columns"
        raise ConfigError(what, hint="n-grams are known already: take a featurizer of dense rows")
    if rows.shape[:1] != (len(texts),) or rows.ndim != 2 or not np.isfinite(rows).all():
        what = f"{type(featurizer).__name__} does not give a row of finite numbers for each text"
        raise ConfigError(what, hint="hold it to spectralnlp.testing.check_featurizer")
    return np.asarray(rows, np.float32)
