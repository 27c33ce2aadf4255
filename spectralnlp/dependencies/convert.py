from __future__ import annotations
from spectralnlp.dependencies.arcs import Arcs
from spectralnlp.dependencies.attachment import attach_all
from spectralnlp.dependencies.content_heads import find_heads
from spectralnlp.dependencies.phrases import working_copy
from spectralnlp.dependencies.refinement import refine
from spectralnlp.trees import Tree


def convert(tree: Tree) -> Arcs:
    nodes, words = working_copy(tree)
    find_heads(nodes)
    arcs = Arcs(words)
    attach_all(nodes, arcs)
    refine(arcs)
    return arcs
