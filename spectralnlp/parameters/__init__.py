"""Parameters of trained models: frozen dataclasses of arrays, and how model folders store them.

Each class declares the dtype, shape and range of its arrays (`spectralnlp.storage.ArraySpec`). ``to_arrays``
and ``to_json`` return the arrays and JSON values to store; ``from_arrays`` checks and reads them.
"""

from spectralnlp.parameters.arrays import Floats, Ints, Offsets
from spectralnlp.parameters.grammars import GrammarSet, LatentGrammar, read_sets, store_sets
from spectralnlp.parameters.hashed import CellModel, SentenceEndModel
from spectralnlp.parameters.lexicons import Lexicon
from spectralnlp.parameters.operators import (
    HiddenMarkov,
    ObservableOperators,
    SequenceParameters,
    read_sequence_parameters,
)
from spectralnlp.parameters.span_scorers import AnnotationScheme, SpanScorer
from spectralnlp.parameters.taggers import ChainWeights, FeatureRows, RefinedMarkov, RefinedMarkovSet
from spectralnlp.parameters.tensors import DenseTensors, FactoredTensors, SparseTensors, Tensors
from spectralnlp.parameters.topics import TopicMixture
from spectralnlp.parameters.vectors import Spelling, WordVectors
from spectralnlp.parameters.word_clusters import WordClusters

__all__ = [
    "AnnotationScheme",
    "CellModel",
    "ChainWeights",
    "DenseTensors",
    "FactoredTensors",
    "FeatureRows",
    "Floats",
    "GrammarSet",
    "HiddenMarkov",
    "Ints",
    "LatentGrammar",
    "Lexicon",
    "ObservableOperators",
    "Offsets",
    "RefinedMarkov",
    "RefinedMarkovSet",
    "SentenceEndModel",
    "SequenceParameters",
    "SpanScorer",
    "SparseTensors",
    "Spelling",
    "Tensors",
    "TopicMixture",
    "WordClusters",
    "WordVectors",
    "read_sequence_parameters",
    "read_sets",
    "store_sets",
]
