"""Readers for bracketed trees in Penn Treebank style: PTB, GUM, CRAFT, and any other set of labels.

Notes in transcriptions (Switchboard, MASC) are not words and are removed: ``(CODE <TURN>)``, speakers
``(CODE (SYM SpeakerA1) (. .))``, ``(LINEBREAK <L>)``, and marks of disfluencies, ``(-DFL- E_S)``.
"""

from __future__ import annotations

import re

from spectralnlp.trees.readers.reader import TreeReader
from spectralnlp.trees.tree import Tree

_NOTES = frozenset(["CODE", "LINEBREAK", "-DFL-"])


def _without_notes(tree: Tree) -> Tree | None:
    if not any(node.label in _NOTES for node in tree.nodes()):
        return tree

    def text(node: Tree, children: list[Tree | None]) -> Tree | None:
        if node.label in _NOTES:
            return None
        if node.word is not None:
            return node
        kept = [child for child in children if child is not None]
        return Tree(node.label, kept) if kept else None

    return tree.fold(text)


def _looks_like_ptb(head: str) -> bool:
    return re.match(r"\s*\(\s*\([^\s()]", head) is not None


def _looks_like_gum(head: str) -> bool:
    return re.match(r"\s*\(ROOT\s", head) is not None


def _looks_like_craft(head: str) -> bool:
    # As PTB, but one tree a line with a blank before the last bracket.
    return re.match(r"\s*\( \(.*\)\) \)\r?(\n|$)", head) is not None


def _looks_like_brackets(head: str) -> bool:
    return head.lstrip().startswith("(")


BRACKETS = TreeReader("utf-8", _looks_like_brackets)
_NOTE = re.compile(rf"\((?:{'|'.join(sorted(_NOTES))})\s")
PTB = TreeReader("utf-8", _looks_like_ptb, adapt=_without_notes, note=_NOTE)
GUM = TreeReader("utf-8", _looks_like_gum)
CRAFT = TreeReader("utf-8", _looks_like_craft)
