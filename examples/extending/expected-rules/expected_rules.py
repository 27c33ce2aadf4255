"""A decoder: the tree with the most rules that are expected to be right."""

from dataclasses import dataclass

import numpy as np

from spectralnlp.inference.trees.decoders import GainDecoder
from spectralnlp.inference.trees.scored_forest import ScoredForest
from spectralnlp.parameters import Floats


@dataclass(frozen=True)
class ExpectedRules(GainDecoder):
    """Labelled rule recall; a ``price`` of each rule above 0 prefers flatter trees."""

    price: float = 0.0

    def gains(self, scored: ScoredForest) -> Floats:
        """Posteriors of hyperedges, float64 (n_edges,), averaged over the grammars that scored the forest."""
        return np.mean([np.abs(each.edge) for each in scored.posteriors], axis=0) - self.price
