"""Penn Treebank style: PTB, GUM, CRAFT, and plain brackets of any label set."""

from __future__ import annotations

import re

from spectralnlp.trees.readers.reader import TreeReader


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
PTB = TreeReader("utf-8", _looks_like_ptb)
GUM = TreeReader("utf-8", _looks_like_gum)
CRAFT = TreeReader("utf-8", _looks_like_craft)
