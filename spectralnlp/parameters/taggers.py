"""Parameters of taggers: hidden Markov models with refined tags, and linear-chain models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Gt
from numpy.typing import NDArray

from spectralnlp.display import one_line
from spectralnlp.parameters.arrays import Floats, Ints, Offsets
from spectralnlp.parameters.lexicons import Lexicon
from spectralnlp.parameters.tensors import DenseTensors
from spectralnlp.runtime import offsets_of
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

# A compact folder leaves out feature weights below this share of the largest ones. Accuracy on a fold of EWT
# is the same to 0.01 for shares up to 0.3 (benchmarks/experiments/taggers.md).
_NEGLIGIBLE = 0.2

_PAIRS, _MATRICES = int_array("n_pairs", 2, below="n_tags", ascending=True), float_array("n_numbers")


@dataclass(frozen=True, kw_only=True, eq=False)
class RefinedMarkov:
    """Hidden Markov model whose observed tags are refined by hidden states (Stratos et al. 2013).

    Each token has a tag a, a hidden state and a word. The state is represented by a vector of m_a numbers and
    the word by a vector of k_a numbers. They combine into a *joint* vector of j_a numbers: their outer
    product, j = m · k, or, if ``tied``, their elementwise product, j = m = k. Parameters learned by spectral
    methods may be negative; tied parameters are probabilities.

    The transition matrix from a to b is ``transitions`` (a, b) + ``leaving``[a] ⊗ ``arriving``[b]; the second
    term makes every sequence of tags possible.

    Attributes:
        tags: names of the tags; arrays refer to tags by index.
        n_states: int32 (n_tags,); m_a.
        n_lexical: int32 (n_tags,); k_a.
        tied: whether state and word combine by the elementwise product.
        initial: float64 (sum of m_a,); initial vectors of all tags, concatenated.
        final: float64 (sum of j_a,); final vectors of all tags, concatenated.
        leaving: float64 (sum of j_a,); for each tag a, its smoothing vector in transitions from a;
            concatenated.
        arriving: float64 (sum of m_a,); for each tag b, its smoothing vector in transitions to b;
            concatenated.
        pairs: int32 (n_pairs, 2); pairs a, b of tags that were adjacent in the training data,
            lexicographically sorted.
        transitions: matrices (j_a, m_b) of the pairs.
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
        """Length j_a of each tag's joint vector, int32 (n_tags,)."""
        return self.n_states if self.tied else self.n_states * self.n_lexical

    @cached_property
    def state_offsets(self) -> Offsets:
        """Start of each tag's vector in ``initial`` and ``arriving``, and the total, int64 (n_tags + 1,)."""
        return offsets_of(self.n_states)

    @cached_property
    def joint_offsets(self) -> Offsets:
        """Start of each tag's vector in ``final`` and ``leaving``, and the total, int64 (n_tags + 1,)."""
        return offsets_of(self.n_joint)

    @cached_property
    def pair_index(self) -> Ints:
        """Row of each pair of tags in ``pairs``, int32 (n_tags, n_tags); -1 for a pair that is not there."""
        index = np.full((len(self.tags),) * 2, -1, np.int32)
        index[self.pairs[:, 0], self.pairs[:, 1]] = np.arange(len(self.pairs))
        return index

    def unshared_arrays(self) -> Arrays:
        """Return the arrays that differ between the models of a set, and are stored for each model.

        ``pairs`` and all arrays of the lexicon except its vectors are the same in all models of a set.
        """
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
        """Read a model from stored arrays.

        Args:
            arrays: stored arrays, as `unshared_arrays` returns them; ``arrays.sizes`` must contain
                ``n_tags``.
            tags: names of the tags.
            pairs: int32 (n_pairs, 2); pairs of tags that were adjacent in the training data.
            lexicon: shared fields of the lexicon, as `Lexicon.common_fields` returns them.
            tied: whether state and word combine by the elementwise product.

        Raises:
            ModelError: a stored array is invalid.
        """
        m, k = arrays.field(cls, "n_states"), arrays.field(cls, "n_lexical")
        if tied and (m != k).any():
            raise arrays.error("n_lexical", "differs from n_states, but the two are equal in a tied model")
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
    """Several hidden Markov models with refined tags, which share tags and words.

    Attributes:
        coarse: model with one state per tag, used for pruning.
        models: refined models.
    """

    coarse: RefinedMarkov
    models: tuple[RefinedMarkov, ...]

    __repr__ = one_line

    @property
    def _all(self) -> tuple[RefinedMarkov, ...]:
        return (self.coarse, *self.models)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON values to store in a model folder.

        They are the tags, the lexicon's words, signatures and scheme, and the field ``tied`` of each model.
        """
        tied = [model.tied for model in self._all]
        return {"tags": self.coarse.tags, **self.coarse.lexicon.to_json(), "tied": tied}

    def to_arrays(self) -> Arrays:
        """Return the arrays to store in a model folder: floats as float32, shared arrays only once."""
        arrays = {**self.coarse.lexicon.common_arrays(), "pairs": self.coarse.pairs}
        for number, model in enumerate(self._all):
            arrays |= with_prefix(f"{number}.", model.unshared_arrays())
        return arrays

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, metadata: StoredValues) -> RefinedMarkovSet:
        """Read models from the arrays and JSON values that `to_arrays` and `to_json` returned.

        Raises:
            ModelError: a stored array or value is invalid.
        """
        tags = metadata.take("tags", tuple[str, ...])
        arrays = arrays.part(n_tags=len(tags))
        pairs = arrays.take("pairs", _PAIRS)
        arrays.check_expansion("pairs", len(tags) ** 2, len(pairs))
        lexicon = Lexicon.common_fields(arrays.part(n_symbols=len(tags)), metadata)
        tied = metadata.take("tied", tuple[bool, ...])
        if len(tied) < 2:
            raise metadata.error("tied", "lists no model except the coarse one")
        coarse, *models = (
            RefinedMarkov.from_arrays(arrays.part(f"{number}."), tags, pairs, lexicon, tied=is_tied)
            for number, is_tied in enumerate(tied)
        )
        return cls(coarse=coarse, models=tuple(models))


class FeatureRows(NamedTuple):
    """Sparse matrix of the weights of features (rows) for tags (columns), in CSR format.

    Attributes:
        first: int64 (n_features + 1,); feature f has the entries ``first[f]:first[f + 1]``.
        tags: uint16 (n_weights,); tag of each entry, ascending within a row.
        weights: float32 (n_weights,); weight of each entry.
    """

    first: Offsets
    tags: NDArray[np.uint16]
    weights: Floats32

    @classmethod
    def of(cls, features: Floats32) -> FeatureRows:
        """Return a sparse copy of a dense matrix of weights, float32 (n_features, n_tags)."""
        rows, columns = np.nonzero(features)
        counts = np.bincount(rows, minlength=len(features))
        return cls(offsets_of(counts), columns.astype(np.uint16), features[rows, columns])

    def without(self, negligible: float) -> tuple[FeatureRows, NDArray[np.bool_]]:
        """Return a copy without weights of magnitude below ``negligible``, and without empty rows.

        Returns:
            The copy; and whether each row of this matrix is in the copy, bool (n_features,).
        """
        kept = np.abs(self.weights) >= negligible
        sizes = np.diff(offsets_of(kept)[self.first])
        rows = FeatureRows(offsets_of(sizes[sizes > 0]), self.tags[kept], self.weights[kept])
        return rows, sizes > 0


@dataclass(frozen=True, kw_only=True, eq=False)
class ChainWeights:
    """Linear-chain tagging model; scores are linear in token features and surrounding word vectors.

    Attributes:
        tags: names of the T tags.
        keys: uint32 (n_features,), ascending; hashes of features.
        rows: weights of the features.
        words: float32 (n_offsets, k, T); weights of the k dimensions of the word vector at each offset from
            the token.
        transitions: float32 (T, T); score of each tag (row) followed by each tag (column); -inf if forbidden.
        start: float32 (T,); score of each tag at the first token; -inf if forbidden.
        end: float32 (T,); score of each tag at the last token; -inf if forbidden.
        temperature: divisor of scores; a score divided by it is an unnormalised natural log probability.
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
        """Return the JSON values to store in a model folder: tags and temperature."""
        return {"tags": list(self.tags), "temperature": self.temperature}

    def to_arrays(self, *, compact: bool = False) -> Arrays:
        """Return the arrays to store in a model folder; feature weights are stored sparsely.

        Args:
            compact: store weights as float16, and leave out features with negligible weights.
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
    def from_arrays(cls, arrays: StoredArrays, metadata: StoredValues) -> ChainWeights:
        """Read weights from the arrays and JSON values that `to_arrays` and `to_json` returned.

        Raises:
            ModelError: a stored array or value is invalid.
        """
        tags = metadata.take("tags", tuple[str, ...])
        arrays = arrays.part(n_tags=len(tags))
        fields = arrays.fields(cls)
        counts, columns, values = (arrays.take(f"features.{name}", spec) for name, spec in _ROWS.items())
        if (total := counts.sum(dtype=np.int64)) != len(columns):
            raise arrays.error("features.counts", f"adds up to {total}, not to {len(columns)} entries")
        temperature = metadata.fields(cls, "temperature")
        # Copy read-only arrays: numba would compile the kernels again for them.
        columns, values = (np.require(each, requirements="W") for each in (columns, values))
        rows = FeatureRows(offsets_of(counts), columns, values)
        return cls(tags=tags, rows=rows, **temperature, **fields)

    @property
    def features(self) -> Floats32:
        """The weights of features as a new dense matrix, float32 (n_features, T)."""
        features: Floats32 = np.zeros((len(self.keys), len(self.tags)), np.float32)
        features[np.repeat(np.arange(len(self.keys)), np.diff(self.rows.first)), self.rows.tags] = (
            self.rows.weights
        )
        return features


# Stored arrays of the feature weights.
_ROWS = {
    "counts": int_array("n_features", dtype="uint16"),
    "tags": int_array("n_entries", dtype="uint16", stored=("uint8", "uint16"), below="n_tags"),
    "values": float_array("n_entries", dtype="float32"),
}
