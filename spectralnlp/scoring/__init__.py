"""Evaluation metrics: EVALB bracket scores, scores of raw text and tags, reports, significance tests.

>>> from spectralnlp.scoring import COLLINS
>>> sorted(COLLINS.eq_labels)
[('ADVP', 'PRT')]
"""

from spectralnlp.scoring.evalb import (
    EvalbScore,
    SentenceCounts,
    Status,
    TagSource,
    count_sentence,
    with_gold_tags,
)
from spectralnlp.scoring.prm import COLLINS, EvalbParameters, read_prm
from spectralnlp.scoring.raw import PlacedTree, RawReport, score_raw
from spectralnlp.scoring.report import ParseReport, score_trees
from spectralnlp.scoring.significance import Comparison, compare

__all__ = [
    "COLLINS",
    "Comparison",
    "EvalbParameters",
    "EvalbScore",
    "ParseReport",
    "PlacedTree",
    "RawReport",
    "SentenceCounts",
    "Status",
    "TagSource",
    "compare",
    "count_sentence",
    "read_prm",
    "score_raw",
    "score_trees",
    "with_gold_tags",
]
