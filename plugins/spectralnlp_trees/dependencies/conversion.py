"""Convert constituency trees to dependencies in one of three schemes."""

from __future__ import annotations

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.trees import Tree, strip_traces
from spectralnlp.trees.heads import HeadRules, finder_of
from spectralnlp_trees.dependencies.arcs import Arcs
from spectralnlp_trees.dependencies.attachment import attach_all
from spectralnlp_trees.dependencies.content_heads import find_heads
from spectralnlp_trees.dependencies.graph import Dependencies, plain_form
from spectralnlp_trees.dependencies.phrases import working_copy
from spectralnlp_trees.dependencies.punctuation import attach_punctuation
from spectralnlp_trees.dependencies.refinement import refine
from spectralnlp_trees.dependencies.stanford import to_stanford
from spectralnlp_trees.dependencies.unlabelled import unlabelled_arcs
from spectralnlp_trees.dependencies.upos import universal_tags
from spectralnlp_trees.dependencies.words import PENN_TAGS, penn_tag

SCHEMES = ("ud", "stanford", "heads")


def to_dependencies(tree: Tree, scheme: str = "ud", *, head_rules: HeadRules = "neutral") -> Dependencies:
    """Convert a constituency tree to dependencies.

    ``ud`` (basic Universal Dependencies 2) and ``stanford`` (basic Stanford Dependencies) are for English
    trees with the labels of the Penn treebank, with or without function tags; the rules follow the published
    guidelines. ``heads`` is for any language: heads by head rules, without labels.

    Args:
        tree: a tree with at least one word; empty elements are ignored.
        scheme: ``ud``, ``stanford`` or ``heads``.
        head_rules: head rules for the scheme ``heads``: ``english``, ``neutral``, or a function of a label
            and the labels of its children.

    Raises:
        ConfigError: the scheme or the head rules are unknown.
        InputError: the tree has no words.

    Examples:
        >>> from spectralnlp_trees import to_dependencies
        >>> from spectralnlp.trees import read_brackets
        >>> (tree,) = read_brackets(["(S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ late))))"])
        >>> to_dependencies(tree).relations
        ('nsubj', 'cop', 'root')
        >>> to_dependencies(tree, "heads", head_rules="english").relations
        ('dep', 'root', 'dep')
    """
    if scheme not in SCHEMES:
        raise ConfigError(f"no dependency scheme {scheme!r}", hint=f"choose from {', '.join(SCHEMES)}")
    cleaned = strip_traces(tree)
    if cleaned is None:
        raise InputError("a tree without words", hint="leave out trees that hold only empty elements")
    leaves = cleaned.preterminals()
    if scheme == "heads":
        heads, relations = unlabelled_arcs(cleaned, finder_of(head_rules))
        tags = [""] * len(leaves)
    else:
        arcs = universal_arcs(cleaned)
        lower = [word.word for word in arcs.words]
        tags = universal_tags(lower, [word.category for word in arcs.words], arcs.heads, arcs.relations)
        if scheme == "stanford":
            to_stanford(arcs)
        heads, relations = arcs.heads, arcs.relations
    return Dependencies(
        words=tuple(plain_form(leaf.word or "_") for leaf in leaves),
        tags=tuple(leaf.label for leaf in leaves),
        universal_tags=tuple(tags),
        heads=tuple(heads),
        relations=tuple(relations),
    )


def universal_arcs(tree: Tree) -> Arcs:
    """Return the basic Universal Dependencies of an English tree that has no empty elements."""
    nodes, words = working_copy(tree)
    find_heads(nodes)
    arcs = Arcs(words)
    attach_all(nodes, arcs)
    refine(arcs)
    arcs.mend()
    attach_punctuation(arcs)
    return arcs


def is_english(tree: Tree) -> bool:
    """Return whether all part-of-speech tags of a tree are tags of the Penn treebank for English."""
    return not foreign_tags(tree)


def foreign_tags(tree: Tree) -> list[str]:
    """Return the sorted part-of-speech tags of a tree that the Penn treebank for English lacks."""
    return sorted(tag for tag in {*tree.tags()} if penn_tag(tag) not in PENN_TAGS)
