from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from spectralnlp.trees.tree import Tree

_TOKEN = re.compile(r"[()]|[^\s()]+")


def _read(text: str) -> list[Tree]:
    """Bracketed trees, in which a bracket may lack a label; no error handling."""
    trees: list[Tree] = []
    opened: list[tuple[list[str], list[Tree]]] = []
    for token in _TOKEN.findall(text):
        if token == "(":
            opened.append(([], []))
        elif token != ")":
            opened[-1][0].append(token)
        else:
            (label, word, *_), children = [*opened[-1][0], "", ""][:2], opened.pop()[1]
            tree = Tree(label, children, None if children else word)
            (opened[-1][1] if opened else trees).append(tree)
    return trees


@pytest.fixture(scope="session")
def read_trees() -> Callable[[str], list[Tree]]:
    return _read


@pytest.fixture(scope="session")
def tree() -> Callable[[str], Tree]:
    return lambda text: _read(text)[0]
