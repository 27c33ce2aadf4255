"""The parsers that can be trained: each combines an estimator of grammars with components."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from spectralnlp.estimators.lpcfg import LPCFG
from spectralnlp.estimators.parser.open_cells import OpenCells
from spectralnlp.estimators.parser.segmenter import Segmentation
from spectralnlp.estimators.parser.sentence_ends import SentenceEnds
from spectralnlp.estimators.parser.silver import SilverTrees
from spectralnlp.estimators.parser.span_scorer import SpanScoring
from spectralnlp.estimators.parser.trainer import ParserTrainer
from spectralnlp.estimators.parser.word_clusters import WordClustering
from spectralnlp.estimators.pcfg import PCFG

# Components in the order in which they are learned. To add one, write a module and list its class here.
COMPONENTS = (SilverTrees, WordClustering, Segmentation, OpenCells, SentenceEnds, SpanScoring)
# Settings that turn all components off.
ALL_OFF: Mapping[str, object] = {
    field.name: False for part in COMPONENTS for field in fields(part) if field.default is True
}
PRESETS = {**LPCFG.presets, "tutorial": {**LPCFG.presets["tutorial"], **ALL_OFF}}


class LPCFGParser(ParserTrainer):
    """Trainer of parsers with latent-variable PCFGs: ``spectralnlp train lpcfg``.

    Examples:
        >>> from spectralnlp import read_treebank, registry
        >>> trainer = registry.estimators.get("lpcfg").from_preset("tutorial")
        >>> sorted(trainer.fit(read_treebank("corpora/treebank/train.mrg")).components_)
        []
    """

    display_name = "LPCFG"
    unlearning = "replay"
    spills = True
    parts = (LPCFG, *COMPONENTS)
    presets = PRESETS


class PCFGParser(ParserTrainer):
    """Trainer of baseline parsers with a PCFG, by default without components: ``spectralnlp train pcfg``.

    Examples:
        >>> from spectralnlp import read_treebank, registry
        >>> trainer = registry.estimators.get("pcfg")()
        >>> trainer.fit(read_treebank("corpora/treebank/train.mrg")).grammar_.n_trees_
        171
    """

    display_name = "PCFG"
    unlearning = "exact"
    parts = (PCFG, *COMPONENTS)
    defaults = ALL_OFF
    presets = PCFG.presets
