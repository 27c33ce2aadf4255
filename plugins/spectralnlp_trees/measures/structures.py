"""Structures of second-language writing research, counted by patterns: clauses, T-units, complex nominals.

Source: X. Lu (2010), Automatic analysis of syntactic complexity in second language writing, International
Journal of Corpus Linguistics 15(4), whose Tregex patterns these are.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from spectralnlp_trees.tregex.columns import Integers, TreeColumns
from spectralnlp_trees.tregex.matches import matching_nodes

# Label of the roots that the patterns look for.
ROOT = "ROOT"

_FINITE = "<# MD|VBP|VBZ|VBD"
_CLAUSE = f"S|SINV|SQ [> ROOT <, (VP <# VB) | {_FINITE} | < (VP [{_FINITE} | < CC < (VP {_FINITE})])]"
_T_UNIT = "S|SBARQ|SINV|SQ [> ROOT | [$-- S|SBARQ|SINV|SQ !>> SBAR|VP]]"
_DEPENDENT = f"SBAR < ({_CLAUSE})"

# The structures in Lu's order, each with patterns whose nodes add up to it; words have no pattern.
STRUCTURES: dict[str, tuple[str, ...]] = {
    "W": (),
    "S": ("ROOT !> __",),
    "VP": ("VP > S|SINV|SQ", "MD|VBZ|VBP|VBD > (SQ !< VP)"),
    "C": (_CLAUSE, f"FRAG > ROOT !<< ({_CLAUSE})"),
    "T": (_T_UNIT, f"FRAG > ROOT !<< ({_T_UNIT})"),
    "DC": (_DEPENDENT,),
    "CT": (f"{_T_UNIT} << ({_DEPENDENT})",),
    "CP": ("ADJP|ADVP|NP|VP < CC",),
    "CN": (
        "NP !> NP [<< JJ|POS|PP|S|VBG | << (NP $++ NP !$+ CC)]",
        "SBAR [<# WHNP | <# (IN < That|that|For|for) | <, S] & [$+ VP | > VP]",
        "S < (VP <# VBG|TO) $+ VP",
    ),
}
# The fourteen measures: what is divided by what.
RATIOS: dict[str, tuple[str, str]] = {
    "MLS": ("W", "S"),
    "MLT": ("W", "T"),
    "MLC": ("W", "C"),
    "C/S": ("C", "S"),
    "VP/T": ("VP", "T"),
    "C/T": ("C", "T"),
    "DC/C": ("DC", "C"),
    "DC/T": ("DC", "T"),
    "T/S": ("T", "S"),
    "CT/T": ("CT", "T"),
    "CP/T": ("CP", "T"),
    "CP/C": ("CP", "C"),
    "CN/T": ("CN", "T"),
    "CN/C": ("CN", "C"),
}

_WORD_TAG = re.compile(r"[A-Z]+\$?")
_DASHES = frozenset("-–—")


def is_word(tag: str, token: str) -> bool:
    """Whether a token counts as a word: its tag is of capital letters, and it is not a dash or several."""
    return _WORD_TAG.fullmatch(tag) is not None and not _DASHES.issuperset(token)


def count_structures(index: TreeColumns) -> npt.NDArray[np.intp]:
    """Count the structures tree by tree.

    Args:
        index: of trees without traces and function tags, under roots labelled ``ROOT``.

    Returns:
        Counts, shape (n_trees, n_structures), columns in the order of ``STRUCTURES``.
    """
    n_trees = len(index.trees)
    columns = [_in_trees(index, _words(index), n_trees)]
    for patterns in [*STRUCTURES.values()][1:]:
        nodes = [matching_nodes(index, pattern) for pattern in patterns]
        columns.append(_in_trees(index, np.concatenate(nodes), n_trees))
    return np.stack(columns, axis=1)


def _words(index: TreeColumns) -> Integers:
    """The nodes of words."""
    tokens = np.flatnonzero(index.arity == 0)
    pairs, which = np.unique(
        np.stack([index.label[index.parent[tokens]], index.label[tokens]]), axis=1, return_inverse=True
    )
    names = index.vocabulary
    counted = [is_word(names[tag], names[token]) for tag, token in pairs.T.tolist()]
    return tokens[np.array(counted, bool)[which.ravel()]]


def _in_trees(index: TreeColumns, nodes: Integers, n_trees: int) -> Integers:
    return np.bincount(index.tree[nodes], minlength=n_trees)
