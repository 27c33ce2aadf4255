"""Scores of parses: EVALB's counts, reports that say how they were counted, significance."""

from spectralnlp.scoring.evalb import (
    EvalbScore,
    SentenceCounts,
    Status,
    TagSource,
    count_sentence,
    with_gold_tags,
)
from spectralnlp.scoring.prm import COLLINS, EvalbParameters, read_prm
from spectralnlp.scoring.report import ParseReport, score_trees
from spectralnlp.scoring.significance import Comparison, compare

__all__ = [
    "COLLINS",
    "Comparison",
    "EvalbParameters",
    "EvalbScore",
    "ParseReport",
    "SentenceCounts",
    "Status",
    "TagSource",
    "compare",
    "count_sentence",
    "read_prm",
    "score_trees",
    "with_gold_tags",
]
