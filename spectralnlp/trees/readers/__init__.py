"""Treebank readers, one module per file format; a reader is chosen by name or by the beginning of a file."""

from __future__ import annotations

from spectralnlp.trees.readers.alpino import ALPINO
from spectralnlp.trees.readers.cess import CESS_ESP
from spectralnlp.trees.readers.changes import ReadingChanges
from spectralnlp.trees.readers.chinese import CHINESE
from spectralnlp.trees.readers.export import EXPORT
from spectralnlp.trees.readers.nltk_corpora import (
    NltkCorpus,
    from_nltk_corpus,
    from_nltk_trees,
    is_nltk_corpus,
    is_nltk_tree,
)
from spectralnlp.trees.readers.ontonotes import ONTONOTES
from spectralnlp.trees.readers.penn import BRACKETS, CRAFT, GUM, PTB
from spectralnlp.trees.readers.penn_helsinki import PENN_HELSINKI
from spectralnlp.trees.readers.reader import Reader, TreeReader
from spectralnlp.trees.readers.recognition import count_changes, read_trees, recognise
from spectralnlp.trees.readers.spmrl import SPMRL
from spectralnlp.trees.readers.tiger_xml import TIGER_XML

__all__ = [
    "ALPINO",
    "BRACKETS",
    "CESS_ESP",
    "CHINESE",
    "CRAFT",
    "EXPORT",
    "GUM",
    "ONTONOTES",
    "PENN_HELSINKI",
    "PTB",
    "SPMRL",
    "TIGER_XML",
    "NltkCorpus",
    "Reader",
    "ReadingChanges",
    "TreeReader",
    "count_changes",
    "from_nltk_corpus",
    "from_nltk_trees",
    "is_nltk_corpus",
    "is_nltk_tree",
    "read_trees",
    "recognise",
]
