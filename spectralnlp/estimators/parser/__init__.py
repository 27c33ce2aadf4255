"""Training of parsers: grammars, and the components that stand around any grammar."""

from spectralnlp.estimators.parser.component import Component, Context, Fold
from spectralnlp.estimators.parser.parsers import ClusterLPCFGParser, LPCFGParser, PCFGParser
from spectralnlp.estimators.parser.span_scorer import refine_scorer
from spectralnlp.estimators.parser.trainer import ParserTrainer

__all__ = [
    "ClusterLPCFGParser",
    "Component",
    "Context",
    "Fold",
    "LPCFGParser",
    "PCFGParser",
    "ParserTrainer",
    "refine_scorer",
]
