"""Reader for ``.ptb`` files of the SPMRL shared tasks, whose tags include features between ``##``.

    (S (NP-SB (ART-NK##case=nom|number=sg## Der) (NN-NK##case=nom## Hafen)) (VAFIN-HD##tense=pres## ist) …)

Source: D. Seddah et al. (2013), Overview of the SPMRL 2013 shared task, section 4
(https://aclanthology.org/W13-4917).

The features are removed. From a tag with features, the function after the first hyphen (``NN-NK``) is removed
too, as `clean` does for phrases; a label that begins with a hyphen is kept.
"""

from __future__ import annotations

import re
from functools import lru_cache

from spectralnlp.trees.readers.reader import TreeReader
from spectralnlp.trees.tree import Tree

_FEATURES = re.compile(r"##[^\s()]*$")
_MARKED = re.compile(r"\(([^\s()#]+)##[^\s()]*##[ \t]+[^\s()]+[ \t]*\)")


@lru_cache(maxsize=65536)
def _category(label: str) -> str:
    plain = _FEATURES.sub("", label) or label
    return plain if plain == label or plain.startswith("-") else plain.partition("-")[0]


def _without_features(tree: Tree) -> Tree:
    return tree.fold(lambda node, children: Tree(_category(node.label), children, node.word))


def _looks_like_spmrl(head: str) -> bool:
    return head.lstrip().startswith("(") and _MARKED.search(head) is not None


SPMRL = TreeReader("utf-8", _looks_like_spmrl, adapt=_without_features)
