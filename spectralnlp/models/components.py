"""Store the components of a parser (its parts besides the grammars) in a model folder, and read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from spectralnlp.inference.chains.segmentation import read_segmenter
from spectralnlp.inference.trees.rescoring.scores import N_NUMBERS
from spectralnlp.inference.trees.rescoring.templates import N_BUCKETS
from spectralnlp.parameters import CellModel, SentenceEndModel, SpanScorer, WordClusters
from spectralnlp.storage import Arrays, StoredArrays, StoredValues, with_prefix

OPEN_CELLS, SPAN_SCORER, SENTENCE_ENDS, WORD_CLUSTERS, SEGMENTER = (
    "open_cells",
    "span_scorer",
    "sentence_ends",
    "word_clusters",
    "segmenter",
)
# Functions that read each component from the arrays and values of a folder.
_READERS: Mapping[str, Callable[[StoredArrays, StoredValues], Any]] = {
    OPEN_CELLS: CellModel.from_arrays,
    SPAN_SCORER: partial(SpanScorer.from_arrays, n_buckets=N_BUCKETS, n_numbers=N_NUMBERS),
    SENTENCE_ENDS: SentenceEndModel.from_arrays,
    WORD_CLUSTERS: WordClusters.from_arrays,
    SEGMENTER: read_segmenter,
}


def store_components(components: Mapping[str, Any], *, compact: bool) -> tuple[dict[str, Any], Arrays]:
    """Return the JSON values of each component, by the component's name, and the arrays of all components.

    The names of arrays begin with the component's name and a dot.

    Args:
        components: the components by name.
        compact: whether to store numbers as float16.
    """
    values = {name: each.to_json() for name, each in components.items()}
    arrays = Arrays()
    for name, each in components.items():
        arrays |= with_prefix(f"{name}.", each.to_arrays(compact=compact))
    return values, arrays


def read_components(values: StoredValues, arrays: StoredArrays) -> dict[str, Any]:
    """Read components from their stored values and arrays.

    Args:
        values: the JSON values of each component, by name.
        arrays: the arrays of the whole folder.

    Raises:
        ModelError: an array or a value is invalid, or a component is unknown.
    """
    for name in values:
        if name not in _READERS:
            raise values.error(name, "is not a component that this version of spectralnlp knows")
    return {name: _READERS[name](arrays.part(f"{name}."), values.part(name)) for name in values}
