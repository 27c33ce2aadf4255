"""Let the classifier use the features of any registered featurizer, centred and scaled."""

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
# Mean length of centred rows; the n-grams of words and of characters have length 1 each. Chosen inside
# training sets: dCoT gains most at this length, and longer rows of other featurizers dominate n-grams.
LENGTH = 0.5
# Maximum number of texts from which the mean and the mean length are estimated.
MAX_TEXTS = 20_000


@dataclass(frozen=True)
class ScaledFeaturizer:
    """Fitted featurizer with the mean and scale of its features.

    Args:
        featurizer: the fitted featurizer.
        mean: mean of the features, float32 (n_features,).
        factor: number by which centred features are multiplied.
    """

    featurizer: Featurizer
    mean: Array32
    factor: float

    @classmethod
    def learn(cls, name: str, texts: Corpus[str], some: Sequence[str]) -> ScaledFeaturizer:
        """Fit or load a featurizer, and estimate the mean and scale of its rows.

        Args:
            name: name of a registered featurizer, or the folder of a trained one.
            texts: texts to fit a registered featurizer to.
            some: sample of texts from which mean and scale are computed.

        Raises:
            RegistryError: there is no such featurizer.
            ConfigError: the folder holds another kind of model, or rows are sparse.
        """
        featurizer = _trained(name) if is_folder(name) else _untrained(name).fit(texts)
        rows = _dense_rows(featurizer, some[:: -(-len(some) // MAX_TEXTS) or 1])
        mean = rows.mean(axis=0)
        length = float(np.linalg.norm(rows - mean, axis=1).mean())
        return cls(featurizer, mean, LENGTH / max(length, 1e-12))

    def rows(self, texts: Sequence[str]) -> Array32:
        """Return centred and scaled rows of texts, float32 (n_texts, n_features)."""
        return (_dense_rows(self.featurizer, texts) - self.mean) * np.float32(self.factor)


def is_folder(name: str) -> bool:
    """Return whether a name is the folder of a trained featurizer and not a registered name.

    Raises:
        RegistryError: there is neither such a featurizer nor such a folder.
    """
    if name in registry.featurizers or not Path(name).exists():
        registry.featurizers.resolve(name)
        return False
    return True


def _untrained(name: str) -> Featurizer:
    kind: type[Featurizer] = registry.featurizers.get(name)
    if kind.task != Featurizer.task:
        what = f"{name} learns from labels, and `featurizer` has none for it"
        raise ConfigError(what, hint=f"train it first: spectralnlp train {name}, and give its folder")
    return kind()


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
        raise ConfigError(what, hint="choose a featurizer with dense rows: n-grams are features already")
    if rows.shape[:1] != (len(texts),) or rows.ndim != 2 or not np.isfinite(rows).all():
        what = f"{type(featurizer).__name__} does not give a row of finite numbers for each text"
        raise ConfigError(what, hint="check it with spectralnlp.testing.check_featurizer")
    return np.asarray(rows, np.float32)
