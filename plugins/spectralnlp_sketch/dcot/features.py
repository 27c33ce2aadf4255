"""Featurizer ``dcot.v1``: a text's frequent terms, reconstructed by dCoT from the other words of the text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le
from typing_extensions import Doc

from spectralnlp.storage import Array, StoredArrays, int_array
from spectralnlp_sketch.dcot.estimator import DCoT
from spectralnlp_sketch.dcot.solve import Reconstruction
from spectralnlp_sketch.featurizer import single_precision
from spectralnlp_sketch.word_rows import WordRowsFeaturizer


@dataclass(kw_only=True, eq=False, repr=False)
class DCoTFeatures(WordRowsFeaturizer):
    """Featurizer whose features say how much each of some frequent words fits a text; see `DCoT`.

    These words (prototypes) are predicted from the row of weighted words of the text. As published (Xu et al.
    2012) are ``prototypes="frequent"``, ``weighting="counts"``, ``output="all"`` and ``normalise=False``.

    Attributes:
        words_: hashes and idf of the words that have a column in the rows.
        matrices_: the fitted `DCoT`.
        n_texts_: number of texts learned from.

    Examples:
        >>> from spectralnlp_sketch import DCoTFeatures
        >>> texts = ["the boat left", "a boat on the sea", "the oven is hot", "bread and salt"] * 3
        >>> DCoTFeatures(n_prototypes=5).fit(texts).transform(texts).shape
        (12, 5)
    """

    n_prototypes: Annotated[int, Ge(1), Doc("Number of words to reconstruct (prototypes).")] = 300
    prototypes: Annotated[
        Literal["heavy", "frequent"],
        Doc(
            "Words to reconstruct: ``heavy``, those with the largest sums of squares; or ``frequent``, as "
            "published, those in the most texts."
        ),
    ] = "heavy"
    keep_probability: Annotated[
        float, Gt(0), Le(1), Doc("Probability that a word survives corruption (p).")
    ] = 0.3
    n_layers: Annotated[int, Ge(1), Doc("Number of layers.")] = field(default=3, kw_only=False)
    output: Annotated[
        Literal["all", "layers", "last"],
        Doc(
            "``last``, the last layer; ``layers``, all layers side by side; or ``all``, as published, the "
            "row and all layers, sparse (eq. 8)."
        ),
    ] = "last"
    normalise: Annotated[bool, Doc("Whether to scale each layer's rows to length one.")] = True

    def make(self) -> DCoT:
        """Return an unfitted `DCoT` with this featurizer's settings."""
        return DCoT(
            n_prototypes=self.n_prototypes,
            prototypes=self.prototypes,
            keep_probability=self.keep_probability,
            n_layers=self.n_layers,
            output=self.output,
            normalise=self.normalise,
        )

    def _learned(self) -> dict[str, Array]:
        dcot: DCoT = self.matrices_
        layers = dict(enumerate(dcot.layers_))
        weights = {f"weights.{number}": layer.weights for number, layer in layers.items()}
        biases = {f"bias.{number}": layer.bias for number, layer in layers.items()}
        return {"prototypes": dcot.prototypes_, **weights, **biases}

    def _set_learned(self, arrays: StoredArrays) -> None:
        dcot: DCoT = self.matrices_
        dcot.prototypes_ = arrays.take("prototypes", int_array("r", dtype="int64", below="n_words"))
        dcot.layers_ = []
        for number in range(self.n_layers):
            height = "r" if number else "n_words"
            weights = arrays.take(f"weights.{number}", single_precision(height, "r"))
            bias = arrays.take(f"bias.{number}", single_precision("r"))
            dcot.layers_.append(Reconstruction(weights, bias))
