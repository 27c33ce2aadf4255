"""Weights of a chain as the arrays of a model folder: rows of features are sparse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from spectralnlp.parameters import ChainWeights

Arrays = dict[str, NDArray[Any]]

_NEGLIGIBLE = 0.02
"""Of the features' largest weights; what is below is left out of a compact folder."""


def pack_weights(weights: ChainWeights, *, compact: bool) -> tuple[dict[str, Any], Arrays]:
    """JSON values, and arrays by name; ``compact`` in half precision and without negligible weights."""
    features, keys = weights.features, weights.keys
    if compact:
        largest = np.quantile(np.abs(features[features != 0]), 0.99) if features.any() else 0.0
        features = np.where(np.abs(features) < _NEGLIGIBLE * largest, 0, features)
        kept = features.any(axis=1)
        features, keys = features[kept], keys[kept]
    rows = scipy.sparse.csr_array(features)
    number = np.float16 if compact else np.float32
    arrays: Arrays = {
        "keys": keys,
        "features.counts": np.diff(rows.indptr).astype(np.uint16),
        "features.tags": rows.indices.astype(np.uint8 if len(weights.tags) <= 256 else np.uint16),
        "features.values": rows.data.astype(number),
        "words": weights.words.astype(number),
        "tokens": weights.tokens.astype(number),
        "transitions": weights.transitions, "start": weights.start, "end": weights.end,
    }  # fmt: skip
    return {"tags": list(weights.tags), "temperature": weights.temperature}, arrays


def unpack_weights(described: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> ChainWeights:
    """The way back; raises KeyError, TypeError or ValueError where something is missing."""
    tags = tuple(described["tags"])
    starts = np.concatenate([[0], np.cumsum(arrays["features.counts"], dtype=np.int64)])
    rows = scipy.sparse.csr_array(
        (arrays["features.values"].astype(np.float32), arrays["features.tags"].astype(np.int32), starts),
        shape=(len(starts) - 1, len(tags)),
    )
    dense = {
        name: arrays[name].astype(np.float32) for name in ("words", "tokens", "transitions", "start", "end")
    }
    return ChainWeights(
        tags, arrays["keys"], rows.toarray(), dense["words"], dense["tokens"], dense["transitions"],
        dense["start"], dense["end"], described["temperature"],
    )  # fmt: skip
