"""Count clauses, T-units, complex nominals and other structures of second-language writing, by patterns.

Source of the structures and their Tregex patterns: X. Lu (2010), Automatic analysis of syntactic complexity
in second language writing, International Journal of Corpus Linguistics 15(4).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from spectralnlp.errors import InputError, SpectralError
from spectralnlp.runtime import open_text
from spectralnlp_trees.dependencies.words import PENN_TAGS
from spectralnlp_trees.tregex.columns import Integers, TreeColumns
from spectralnlp_trees.tregex.matches import matching_nodes
from spectralnlp_trees.tregex.pattern import read_pattern

# Root label that the patterns expect.
ROOT = "ROOT"

_FINITE = "<# MD|VBP|VBZ|VBD"
_CLAUSE = f"S|SINV|SQ [> ROOT <, (VP <# VB) | {_FINITE} | < (VP [{_FINITE} | < CC < (VP {_FINITE})])]"
_T_UNIT = "S|SBARQ|SINV|SQ [> ROOT | [$-- S|SBARQ|SINV|SQ !>> SBAR|VP]]"
_DEPENDENT = f"SBAR < ({_CLAUSE})"

# Lu's structures in his order. A count is the sum over the patterns; words (W) have no pattern.
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
# The fourteen measures of Lu: numerator and denominator.
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
# Lu's patterns apply to a text if at least this share of its tokens have tags of the Penn treebank.
_MIN_KNOWN = 0.9
_HINT = "a row is a structure's name, a tab and a pattern of `search`: C<tab>fcl"

Structures = Mapping[str, Sequence[str]]


def read_structures(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Read a table of structures: each line is a name, a tab and a pattern of `search`.

    The counts of several lines with one name add up. Empty lines and lines that begin with ``#`` are ignored.

    Args:
        path: path of the table.

    Returns:
        The patterns of each structure, by name.

    Raises:
        InputError: the file cannot be read or has no rows, or a line is invalid; the message names the line.
    """
    patterns: dict[str, tuple[str, ...]] = {}
    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            name, _, pattern = (each.strip() for each in line.partition("\t"))
            try:
                if not name or not pattern or name == "W":
                    raise InputError("not a row of a table of structures", hint=_HINT)
                read_pattern(pattern)
            except SpectralError as error:
                raise InputError(error.what, path=path, line=number, hint=error.hint) from error
            patterns[name] = (*patterns.get(name, ()), pattern)
    if not patterns:
        raise InputError("the table of structures is empty", path=path, hint=_HINT)
    return patterns


def count_structures(index: TreeColumns, structures: Structures | None) -> dict[str, Integers]:
    """Count the structures in each tree.

    Args:
        index: index of trees without traces and function tags, under roots labelled ``ROOT``.
        structures: patterns by structure name. None for those of Lu (2010) if the trees have Penn treebank
            tags (`has_penn_tags`), and otherwise for words and sentences only.

    Returns:
        By structure name, integer counts of shape (n_trees,). Words and sentences are always counted.
    """
    penn = structures is None and has_penn_tags(index)
    if penn:
        structures = STRUCTURES
    wanted = {"W": (), "S": STRUCTURES["S"], **(structures or {})}
    words = _words(index) if penn else np.flatnonzero((index.arity == 0) & spoken(index))
    counts = {"W": _in_trees(index, words)}
    for name, patterns in wanted.items():
        if name != "W":
            nodes = [matching_nodes(index, pattern) for pattern in patterns]
            counts[name] = _in_trees(index, np.concatenate(nodes))
    return counts


def has_penn_tags(index: TreeColumns) -> bool:
    """Return whether at least 90% of the tokens have tags of the Penn treebank for English."""
    known = np.array([each in PENN_TAGS for each in index.vocabulary], bool)
    tags = index.label[index.parent[index.arity == 0]]
    return not len(tags) or bool(known[tags].mean() >= _MIN_KNOWN)


def spoken(index: TreeColumns) -> npt.NDArray[np.bool_]:
    """Return a mask of the nodes whose label or word has a letter or digit; other tokens are punctuation."""
    return np.array([any(map(str.isalnum, each)) for each in index.vocabulary], bool)[index.label]


def is_word(tag: str, token: str) -> bool:
    """Return whether a token counts as a word: its tag is in capital letters and it is not made of dashes."""
    return _WORD_TAG.fullmatch(tag) is not None and not _DASHES.issuperset(token)


def _words(index: TreeColumns) -> Integers:
    """Return the node numbers of the tokens that count as words by `is_word`; ascending integers."""
    tokens = np.flatnonzero(index.arity == 0)
    pairs, which = np.unique(
        np.stack([index.label[index.parent[tokens]], index.label[tokens]]), axis=1, return_inverse=True
    )
    names = index.vocabulary
    counted = [is_word(names[tag], names[token]) for tag, token in pairs.T.tolist()]
    return tokens[np.array(counted, bool)[which.ravel()]]


def _in_trees(index: TreeColumns, nodes: Integers) -> Integers:
    return np.bincount(index.tree[nodes], minlength=len(index.trees))
