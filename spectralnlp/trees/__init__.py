"""Constituency trees: treebank readers, transforms, head rules and binarisation.

Binarisation encodes unary chains and intermediate nodes in node labels (symbols). Functions for such labels:

>>> from spectralnlp.trees import *
>>> labels_of(symbol_of("S", "VP"))
('S', 'VP')
>>> plain_symbol(tag_symbol("ADVP")), ambiguous_labels(["NP", "ADVP"], ["NN", "ADVP"])
('ADVP', {'ADVP'})
>>> tree, phrase = read_brackets(["(S (VP (VB Go)))", "(NP (DT the) (JJ old) (NN keeper))"])
>>> list(unary_chains(tree))
[('S', 'VP', 'VB')]
>>> [is_intermediate(child.label) for child in Binariser(direction="left").binarise(phrase).children]
[True, False]
>>> phrase.words()[head_leaf_positions(phrase)[-1]]
'keeper'
>>> split_annotation("NP")
('NP', '')
"""

from __future__ import annotations

from spectralnlp.trees.annotation import with_annotation
from spectralnlp.trees.binarise import (
    Binariser,
    Direction,
    Unaries,
    ambiguous_labels,
    head_leaf_positions,
    is_intermediate,
    labels_of,
    lowest_label,
    plain_symbol,
    restore,
    split_annotation,
    symbol_of,
    tag_symbol,
    unary_chains,
)
from spectralnlp.trees.brackets import read_brackets
from spectralnlp.trees.heads import english_head, head_finder, neutral_head
from spectralnlp.trees.readers import (
    NltkCorpus,
    Reader,
    ReadingChanges,
    TreeReader,
    count_changes,
    from_nltk_corpus,
    from_nltk_trees,
    is_nltk_corpus,
    is_nltk_tree,
    read_trees,
    recognise,
)
from spectralnlp.trees.transforms import (
    add_root,
    clean,
    cleaned,
    strip_functions,
    strip_repeats,
    strip_root,
    strip_traces,
)
from spectralnlp.trees.tree import Tree, check_tree

__all__ = [
    "Binariser",
    "Direction",
    "NltkCorpus",
    "Reader",
    "ReadingChanges",
    "Tree",
    "TreeReader",
    "Unaries",
    "add_root",
    "ambiguous_labels",
    "check_tree",
    "clean",
    "cleaned",
    "count_changes",
    "english_head",
    "from_nltk_corpus",
    "from_nltk_trees",
    "head_finder",
    "head_leaf_positions",
    "is_intermediate",
    "is_nltk_corpus",
    "is_nltk_tree",
    "labels_of",
    "lowest_label",
    "neutral_head",
    "plain_symbol",
    "read_brackets",
    "read_trees",
    "recognise",
    "restore",
    "split_annotation",
    "strip_functions",
    "strip_repeats",
    "strip_root",
    "strip_traces",
    "symbol_of",
    "tag_symbol",
    "unary_chains",
    "with_annotation",
]
