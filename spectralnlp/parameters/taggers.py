"""Taggers: hidden Markov models with refined tags, linear chains of scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Gt
from numpy.typing import NDArray

from spectralnlp.display import one_line
from spectralnlp.parameters.arrays import Floats, Ints, Offsets, offsets_of
from spectralnlp.parameters.lexicons import Lexicon
from spectralnlp.parameters.tensors import DenseTensors
from spectralnlp.storage import (
    Arrays,
    StoredArrays,
    StoredValues,
    arrays_of,
    float_array,
    int_array,
    narrowed,
    with_prefix,
)

Floats32 = NDArray[np.float32]

# Share of the features' largest weights; what is below it is left out of a compact folder. Accuracy on a fold
# of EWT is the same to 0.01 up to 0.3 (benchmarks/experiments/taggers.md).
_NEGLIGIBLE = 0.2

_PAIRS, _MATRICES = int_array("n_pairs", 2, below="n_tags", ascending=True), float_array("n_numbers")


@dataclass(frozen=True, kw_only=True, eq=False)
class RefinedMarkov:
    """A hidden Markov model whose observed tags are refined by hidden states (Stratos et al. 2013).

    Token i has tag a, state h and word x. A state is a vector of m_a numbers, what a word says of it one of
    k_a numbers, and the two meet in their *joint* of j_a numbers: their outer product, j = m · k, or, if
    ``tied``, their product entry by entry, j = m = k. Spectral parameters may be negative; tied ones are
    probabilities.

    From a to b the model goes by ``transitions`` (a, b) + ``leaving``[a] ⊗ ``arriving``[b]; the second term
    keeps every sequence of tags possible.

    Attributes:
        tags: names; a tag is its index.
        n_states: int32 (n_tags,); m_a.
        n_lexical: int32 (n_tags,); k_a.
        tied: how a state and a word meet.
        initial: float64 (sum of m_a,); of the first token, laid end to end.
        final: float64 (sum of j_a,); of the last one.
        leaving: float64 (sum of j_a,).
        arriving: float64 (sum of m_a,).
        pairs: int32 (n_pairs, 2); tags a, b that follow one another, lexicographically sorted.
        transitions: their matrices (j_a, m_b).
        lexicon: vectors of k_a numbers, p(word | tag, state) / p(word).
    """

    tags: tuple[str, ...]
    n_states: Annotated[Ints, int_array("n_tags", least=1)]
    n_lexical: Annotated[Ints, int_array("n_tags", least=1)]
    tied: bool
    initial: Annotated[Floats, float_array("n_state_numbers")]
    final: Annotated[Floats, float_array("n_joint_numbers")]
    leaving: Annotated[Floats, float_array("n_joint_numbers")]
    arriving: Annotated[Floats, float_array("n_state_numbers")]
    pairs: Ints
    transitions: DenseTensors
    lexicon: Lexicon = field(repr=False)

    __repr__ = one_line

    @cached_property
    def n_joint(self) -> Ints:
        """int32 (n_tags,): j_a."""
        return self.n_states if self.tied else self.n_states * self.n_lexical

    @cached_property
    def state_offsets(self) -> Offsets:
        """int64 (n_tags + 1,): where each tag's vector lies in ``initial`` and ``arriving``."""
        return offsets_of(self.n_states)

    @cached_property
    def joint_offsets(self) -> Offsets:
        """int64 (n_tags + 1,): where each tag's vector lies in ``final`` and ``leaving``."""
        return offsets_of(self.n_joint)

    @cached_property
    def pair_index(self) -> Ints:
        """int32 (n_tags, n_tags): which of ``pairs``, -1 for none."""
        index = np.full((len(self.tags),) * 2, -1, np.int32)
        index[self.pairs[:, 0], self.pairs[:, 1]] = np.arange(len(self.pairs))
        return index

    def own_arrays(self) -> Arrays:
        """The stored arrays that another model of the same tags and words does not share."""
        transitions, lexicon = narrowed(self.transitions.values), narrowed(self.lexicon.values)
        return {**arrays_of(self), "transitions": transitions, "lexicon": lexicon}

    @classmethod
    def from_arrays(
        cls,
        arrays: StoredArrays,
        tags: tuple[str, ...],
        pairs: Ints,
        lexicon: Mapping[str, Any],
        *,
        tied: bool,
    ) -> RefinedMarkov:
        """The model that gave these arrays.

        Args:
            arrays: of `own_arrays`; the size ``n_tags`` is known.
            tags: names of the tags.
            pairs: int32 (n_pairs, 2).
            lexicon: of `Lexicon.common_fields`.
            tied: how a state and a word meet.

        Raises:
            ModelError: an array is not as it must be.
        """
        m, k = arrays.field(cls, "n_states"), arrays.field(cls, "n_lexical")
        if tied and (m != k).any():
            raise arrays.error("n_lexical", "is not n_states, as it is where both are tied")
        joint = (m if tied else m.astype(np.int64) * k).astype(np.int64)
        sized = arrays.part(n_state_numbers=int(m.sum(dtype=np.int64)), n_joint_numbers=int(joint.sum()))
        fields = sized.fields(cls, leave_out=("n_states", "n_lexical"))
        offsets = offsets_of(joint[pairs[:, 0]] * m[pairs[:, 1]])
        values = arrays.part(n_numbers=int(offsets[-1])).take("transitions", _MATRICES)
        return cls(
            tags=tags,
            n_states=m,
            n_lexical=k,
            tied=tied,
            pairs=pairs,
            transitions=DenseTensors(offsets=offsets, values=values),
            lexicon=Lexicon.with_values(lexicon, k, arrays, "lexicon"),
            **fields,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class RefinedMarkovSet:
    """Models of the same tags and words.

    Attributes:
        coarse: one refinement a tag; it prunes.
        models: the others.
    """

    coarse: RefinedMarkov
    models: tuple[RefinedMarkov, ...]

    __repr__ = one_line

    @property
    def _all(self) -> tuple[RefinedMarkov, ...]:
        return (self.coarse, *self.models)

    def to_json(self) -> dict[str, Any]:
        """The JSON values of a model folder."""
        tied = [model.tied for model in self._all]
        return {"tags": self.coarse.tags, **self.coarse.lexicon.to_json(), "tied": tied}

    def to_arrays(self) -> Arrays:
        """The arrays of a model folder; floats are stored as float32, what all share once."""
        arrays = {**self.coarse.lexicon.common_arrays(), "pairs": self.coarse.pairs}
        for number, model in enumerate(self._all):
            arrays |= with_prefix(f"{number}.", model.own_arrays())
        return arrays

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, described: StoredValues) -> RefinedMarkovSet:
        """The models that gave these.

        Raises:
            ModelError: an array or a value is not as it must be.
        """
        tags = described.take("tags", tuple[str, ...])
        arrays = arrays.part(n_tags=len(tags))
        pairs = arrays.take("pairs", _PAIRS)
        arrays.check_expansion("pairs", len(tags) ** 2, len(pairs))
        lexicon = Lexicon.common_fields(arrays.part(n_symbols=len(tags)), described)
        tied = described.take("tied", tuple[bool, ...])
        if len(tied) < 2:
            raise described.error("tied", "names no model but the coarse one")
        coarse, *models = (
            RefinedMarkov.from_arrays(arrays.part(f"{number}."), tags, pairs, lexicon, tied=is_tied)
            for number, is_tied in enumerate(tied)
        )
        return cls(coarse=coarse, models=tuple(models))


class FeatureRows(NamedTuple):
    """A row of weights for each feature, most of which are 0: feature f has ``first[f]:first[f + 1]``.

    Attributes:
        first: int64 (n_features + 1,).
        tags: uint16 (n_weights,); ascending within a row.
        weights: float32 (n_weights,).
    """

    first: Offsets
    tags: NDArray[np.uint16]
    weights: Floats32

    @classmethod
    def of(cls, features: Floats32) -> FeatureRows:
        """The rows of a matrix, float32 (n_features, n_tags)."""
        rows, columns = np.nonzero(features)
        counts = np.bincount(rows, minlength=len(features))
        return cls(offsets_of(counts), columns.astype(np.uint16), features[rows, columns])

    def without(self, negligible: float) -> tuple[FeatureRows, NDArray[np.bool_]]:
        """The rows without smaller weights, and which of them, bool (n_features,), have any left."""
        kept = np.abs(self.weights) >= negligible
        sizes = np.diff(offsets_of(kept)[self.first])
        rows = FeatureRows(offsets_of(sizes[sizes > 0]), self.tags[kept], self.weights[kept])
        return rows, sizes > 0


@dataclass(frozen=True, kw_only=True, eq=False)
class ChainWeights:
    """A linear chain of tags whose scores are linear in features and vectors of words around a token.

    Attributes:
        tags: T names.
        keys: uint32 (n_features,), ascending; hashes of features.
        rows: the weights of features.
        words: float32 (n_offsets, k, T); of the vectors of the words around.
        transitions: float32 (T, T); from, to; -inf where forbidden, as below.
        start: float32 (T,); of the first tag.
        end: float32 (T,); of the last tag.
        temperature: a score divided by it is a natural logarithm of a weight.
    """

    tags: tuple[str, ...]
    keys: Annotated[NDArray[np.uint32], int_array("n_features", dtype="uint32", ascending=True)]
    rows: FeatureRows
    words: Annotated[Floats32, float_array("n_offsets", "n_word_numbers", "n_tags", dtype="float32")]
    transitions: Annotated[Floats32, float_array("n_tags", "n_tags", dtype="float32", minus_infinity=True)]
    start: Annotated[Floats32, float_array("n_tags", dtype="float32", minus_infinity=True)]
    end: Annotated[Floats32, float_array("n_tags", dtype="float32", minus_infinity=True)]
    temperature: Annotated[float, Gt(0)] = 1.0

    __repr__ = one_line

    def to_json(self) -> dict[str, Any]:
        """The JSON values of a model folder."""
        return {"tags": list(self.tags), "temperature": self.temperature}

    def to_arrays(self, *, compact: bool = False) -> Arrays:
        """The arrays of a model folder; rows of features are sparse.

        Args:
            compact: weights of features and vectors in half precision, and without negligible features.
        """
        rows, keys = self.rows, self.keys
        if compact:
            largest = np.quantile(np.abs(rows.weights), 0.99) if len(rows.weights) else 0.0
            rows, kept = rows.without(_NEGLIGIBLE * largest)
            keys = keys[kept]
        number = np.float16 if compact else np.float32
        return {
            **arrays_of(self),
            "keys": keys,
            "features.counts": np.diff(rows.first).astype(np.uint16),
            "features.tags": rows.tags.astype(np.uint8 if len(self.tags) <= 256 else np.uint16),
            "features.values": rows.weights.astype(number),
            "words": self.words.astype(number),
        }

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, described: StoredValues) -> ChainWeights:
        """The weights that gave these.

        Raises:
            ModelError: an array or a value is not as it must be.
        """
        tags = described.take("tags", tuple[str, ...])
        arrays = arrays.part(n_tags=len(tags))
        fields = arrays.fields(cls)
        counts, columns, values = (arrays.take(f"features.{name}", spec) for name, spec in _ROWS.items())
        if (total := counts.sum(dtype=np.int64)) != len(columns):
            raise arrays.error("features.counts", f"adds up to {total}, not to {len(columns)} entries")
        temperature = described.fields(cls, "temperature")
        # Copies where they need be, for kernels are compiled anew for arrays that may not be written to.
        columns, values = (np.require(each, requirements="W") for each in (columns, values))
        rows = FeatureRows(offsets_of(counts), columns, values)
        return cls(tags=tags, rows=rows, **temperature, **fields)

    @property
    def features(self) -> Floats32:
        """float32 (n_features, T): the weights of features as a matrix, made anew."""
        features: Floats32 = np.zeros((len(self.keys), len(self.tags)), np.float32)
        features[np.repeat(np.arange(len(self.keys)), np.diff(self.rows.first)), self.rows.tags] = (
            self.rows.weights
        )
        return features


# The rows of features.
_ROWS = {
    "counts": int_array("n_features", dtype="uint16"),
    "tags": int_array("n_entries", dtype="uint16", stored=("uint8", "uint16"), below="n_tags"),
    "values": float_array("n_entries", dtype="float32"),
}
