"""What learning hands to inference: frozen dataclasses of arrays."""

from spectralnlp.parameters.arrays import Floats, Ints, Offsets
from spectralnlp.parameters.grammars import (
    DenseTensors,
    GrammarSet,
    LatentGrammar,
    Lexicon,
    SparseTensors,
    Tensors,
)
from spectralnlp.parameters.operators import HiddenMarkov, ObservableOperators
from spectralnlp.parameters.taggers import ChainWeights, RefinedMarkov
from spectralnlp.parameters.topics import TopicMixture
from spectralnlp.parameters.vectors import Spelling, WordVectors

__all__ = [
    "ChainWeights",
    "DenseTensors",
    "Floats",
    "GrammarSet",
    "HiddenMarkov",
    "Ints",
    "LatentGrammar",
    "Lexicon",
    "ObservableOperators",
    "Offsets",
    "RefinedMarkov",
    "SparseTensors",
    "Spelling",
    "Tensors",
    "TopicMixture",
    "WordVectors",
]
