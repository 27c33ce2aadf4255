"""Vectors as the arrays and JSON values of a model folder: their own, or one of a model that uses them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from spectralnlp.parameters import Spelling, WordVectors

Arrays = dict[str, NDArray[Any]]


def pack_vectors(vectors: WordVectors) -> tuple[dict[str, Any], Arrays]:
    """JSON values, and arrays by name."""
    arrays: Arrays = {
        "counts": vectors.counts, "vectors": vectors.vectors, "singular_values": vectors.singular_values,
    }  # fmt: skip
    optional = {
        "context_vectors": vectors.context_vectors, "numbers": vectors.numbers, "clusters": vectors.clusters,
    }  # fmt: skip
    if vectors.spelling is not None:
        optional |= {"spelling.weights": vectors.spelling.weights, "spelling.mean": vectors.spelling.mean}
    arrays |= {name: array for name, array in optional.items() if array is not None}
    described = {
        "words": list(vectors.words),
        "contexts": list(vectors.contexts),
        "blocks": vectors.blocks,
        "lowercase": vectors.lowercase,
        "hash_bits": vectors.hash_bits,
    }
    return described, arrays


def unpack_vectors(described: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> WordVectors:
    """The way back; raises KeyError, TypeError or ValueError where something is missing."""
    spelling = None
    if "spelling.weights" in arrays:
        spelling = Spelling(arrays["spelling.weights"], arrays["spelling.mean"])
    return WordVectors(
        tuple(described["words"]), arrays["counts"], arrays["vectors"], arrays["singular_values"],
        tuple(described["contexts"]), tuple(tuple(each) for each in described["blocks"]),
        arrays.get("context_vectors"), described["lowercase"], described["hash_bits"],
        arrays.get("numbers"), spelling, arrays.get("clusters"),
    )  # fmt: skip
