"""The state from which a tagger continues training when sentences are added.

Stochastic gradient descent stops short of an optimum, at a point that depends on the order of sentences. So
training continues from the present weights, with AdaGrad's sums of squared gradients, which determine step
sizes: weights of frequent features hardly change, and features of new sentences start with large steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.tagger.field_kernels import FIRST_SUM
from spectralnlp.estimators.tagger.kernels import ScoreWeights, zero_weights
from spectralnlp.estimators.tagger.random_field import RandomField
from spectralnlp.runtime import checked_names, pack_names
from spectralnlp.storage import Arrays, StoredArrays, float_array, int_array

# Upper bound of stored sums, close to the largest float16; steps are negligible at such sums.
_LARGEST_SUM = 6e4
_NUMBERS = float_array(3, stored=("float64",), least=0)


@dataclass(frozen=True, eq=False)
class ResumeState:
    """Training state of a tagger without word vectors.

    Attributes:
        n_sentences: number of sentences trained on; later sentences are new.
        tags: names of the tags.
        keys: uint32 (n_features,), ascending; hashes of features.
        weights: weights of features and tags, before the bias is applied.
        sums: sums of squared gradients of each weight, rounded to float16, as they are stored.
        temperature, bias: values chosen on held-out sentences.
    """

    n_sentences: int
    tags: tuple[str, ...]
    keys: NDArray[np.uint32]
    weights: ScoreWeights
    sums: ScoreWeights
    temperature: float
    bias: float

    def field(
        self, keys: NDArray[np.uint32], tags: Sequence[str], epochs: int, rng: np.random.Generator
    ) -> RandomField:
        """Return a random field that continues from this state, possibly with more features and tags.

        Args:
            keys: uint32, ascending; hashes of the features; weights of other features are dropped.
            tags: names of the tags, which include all tags of this state.
            epochs: number of epochs to come.
            rng: random generator for word dropout.
        """
        model = RandomField(len(keys), len(tags), 0, epochs=epochs, rng=rng)
        columns = np.array([tags.index(tag) for tag in self.tags])
        places = np.minimum(np.searchsorted(keys, self.keys), max(0, len(keys) - 1))
        there = keys[places] == self.keys
        for ours, theirs in ((self.weights, model.weights), (self.sums, model.sums)):
            theirs.features[np.ix_(places[there], columns)] = ours.features[there]
            theirs.transitions[np.ix_(columns, columns)] = ours.transitions
            theirs.start[columns], theirs.end[columns] = ours.start, ours.end
        return model

    def arrays(self) -> Arrays:
        """Return the state as arrays for storage, which `of_arrays` reads.

        ``tags``: packed names. ``keys``: uint32 (n_features,), hashes of features. ``counts``: number of
        stored weights of each feature. ``columns``, ``weights`` and ``sums``: for each stored weight, its
        tag, value and sum of squared gradients. ``weights.chain`` and ``sums.chain``: weights and sums of
        transitions, first and last tags, in rows. ``numbers``: float64, number of sentences, temperature and
        bias.
        """
        rows, columns = np.nonzero(self.sums.features > FIRST_SUM)
        arrays: Arrays = {
            "tags": pack_names(self.tags),
            "keys": self.keys,
            "counts": np.bincount(rows, minlength=len(self.keys)).astype(np.int32),
            "columns": columns.astype(np.uint16),
            "numbers": np.array([self.n_sentences, self.temperature, self.bias], np.float64),
        }
        for name, each in (("weights", self.weights), ("sums", self.sums)):
            number = np.float32 if name == "weights" else np.float16
            arrays[name] = each.features[rows, columns].astype(number)
            arrays[f"{name}.chain"] = np.vstack([each.transitions, each.start, each.end])
        return arrays

    @classmethod
    def of_arrays(cls, stored: StoredArrays) -> Self:
        """Read the state from stored arrays.

        Raises:
            ModelError: a stored array is invalid.
        """
        tags = tuple(checked_names(stored, "tags"))
        sized = stored.part(n_tags=len(tags), n_tags_and_one=len(tags) + 1, n_rows=len(tags) + 2)
        keys = sized.take("keys", int_array("n_features", dtype="uint32", ascending=True))
        counts = sized.take("counts", int_array("n_features", dtype="int32", below="n_tags_and_one"))
        columns = sized.take("columns", int_array("n_entries", dtype="uint16", below="n_tags"))
        if counts.sum(dtype=np.int64) != len(columns):
            raise stored.error("counts", f"adds up to {counts.sum()}, not to {len(columns)} entries")
        rows = np.repeat(np.arange(len(keys)), counts)
        read = []
        for name, least in (("weights", None), ("sums", 0.0)):
            values = sized.take(name, float_array("n_entries", dtype="float32", least=least))
            chain = sized.take(f"{name}.chain", float_array("n_rows", "n_tags", dtype="float32", least=least))
            scores = zero_weights(len(keys), len(tags), 0)
            features = scores.features if name == "weights" else scores.features + np.float32(FIRST_SUM)
            features[rows, columns] = values
            read.append(ScoreWeights(features, scores.words, chain[:-2], chain[-2], chain[-1]))
        numbers = sized.take("numbers", _NUMBERS).tolist()
        return cls(int(numbers[0]), tags, keys, read[0], read[1], *numbers[1:])


def in_half_precision(sums: ScoreWeights) -> ScoreWeights:
    """Round sums to float16, as they are stored, so that training in memory and from disk agree."""
    first = np.float32(FIRST_SUM)
    rounded = np.minimum(sums.features, _LARGEST_SUM).astype(np.float16).astype(np.float32)
    return sums._replace(features=np.where(sums.features > first, rounded, first))
