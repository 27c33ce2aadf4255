"""Reader for Penn–Helsinki ``.psd`` files: treebanks of historical English, Icelandic, Faroese, Japanese, …

    ( (IP-MAT (CODE <P_12>)
              (NP-SBJ (N-N skip$-skip) (D-N $ið-hinn))
              (VBDI sigldi-sigla)
              (ADVP-DIR *T*-1)
              (. .-.)) (ID SAMPLE,.1))

Source: B. Santorini, Annotation manual for the Penn historical corpora
(https://www.ling.upenn.edu/hist-corpora/annotation); for lemmas and clitics J. C. Wallenberg,
A. K. Ingason, E. F. Sigurðsson and E. Rögnvaldsson (2011), Icelandic Parsed Historical Corpus (IcePaHC).

- ``ID``, ``CODE``, ``LINEBREAK``, ``METADATA``, ``VERSION`` and ``COM`` nodes hold metadata, not text. They
  are removed, together with phrases that contain nothing else.
- ``0``, leaves that begin with a star, and empty brackets are empty elements directly under a phrase,
  ``(NP-SBJ *con*)``. They are converted to Penn Treebank style, ``(NP-SBJ (-NONE- *con*))``, which `clean`
  removes.
- A leaf is ``word-lemma`` in lemmatised treebanks, otherwise a word, which may contain hyphens. The beginning
  of a file decides which. Lemmas of punctuation (``,-,`` in FarPaHC) are always removed.
- ``$`` marks the side on which a word was joined to its neighbour: ``skip$ $ið`` for *skipið*. It is kept as
  part of the form, as it distinguishes the suffixed article ``$inn`` from the adverb *inn*.
- ``<dash/>`` and the like stand for characters that are reserved in the format.
- Labels are kept. `clean` cuts labels of phrases at the first hyphen (``IP-MAT-SPE``, ``CP-REL``, ``NP-SBJ``
  become ``IP``, ``CP``, ``NP``), but keeps tags of words whole (``NS-D`` includes the case). Only indices are
  removed from tags: ``CONJ-1`` becomes ``CONJ``. Keyaki's ``NP;*SBJ*`` becomes ``NP-SBJ``, and ``PP;*``
  becomes ``PP``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

from spectralnlp.errors import InputError
from spectralnlp.runtime import OnBad, read_ahead
from spectralnlp.trees.readers.reader import TreeReader
from spectralnlp.trees.tree import Tree

_HEAD_LINES = 400  # enough to see whether there are lemmas
_ABOUT_THE_TEXT = frozenset(["ID", "CODE", "LINEBREAK", "METADATA", "VERSION", "COM", "COMMENT"])
_NOTE = re.compile(rf"\((?:{'|'.join(sorted(_ABOUT_THE_TEXT))})[\s-]")
_EMPTY_ELEMENT = re.compile(r"\([^()\s]+(?:\s+(?:0|\*(?!-\*\))[^()\s]*))?\s*\)")
_MARKED = re.compile(r"\(ID\s+[^\s()]|\((?:METADATA|VERSION)\s")
_CODED = re.compile(r"\(CODE\s.*\((?:IP|CP)-[A-Z]", re.DOTALL)  # Penn's own transcriptions have CODE, not IP
_CLAUSE = re.compile(r"\((?:IP|CP|NP)-[A-Z]")
_LEAF = re.compile(r"\(([^()\s]+)\s+([^()\s]+)\s*\)")
_EMPTY = re.compile(r"0?$|\*(?!-\*$)")  # but *-* is the word * with its lemma
_LEMMATISED = 0.5  # of the leaves, at least: few words have a hyphen, but metadata has no lemmas
_ESCAPED = re.compile(r"</?([a-z]+)/?>")
_INDEX = re.compile(r"-\d+$")
_PUNCTUATION = re.compile(r"(?!-+$)([^\w\s]+)-\1$")  # with its lemma
_FUNCTION = re.compile(r";(?:\*([^\s*]*)\*?)?.*")  # of a phrase, in Keyaki
_CHARACTERS = {
    "apostrophe": "'",
    "at": "@",
    "closeparen": "-RRB-",
    "dash": "-",
    "ellipsis": "...",
    "hash": "#",
    "numbersign": "#",
    "openparen": "-LRB-",
    "percent": "%",
    "slash": "/",
    "threedots": "...",
}


@dataclass(frozen=True)
class PennHelsinkiReader(TreeReader):
    """Reader for Penn–Helsinki files, with or without lemmas."""

    def trees(self, lines: Iterable[str], path: str | Path | None, on_bad: OnBad | None) -> Iterator[Tree]:
        """Return an iterator over the trees in the lines of a file, without trees that hold only metadata."""
        head, rest = read_ahead(iter(lines), _HEAD_LINES)
        adapt = partial(_text_of, lemmas=_has_lemmas(" ".join(head)))
        return TreeReader.trees(replace(self, adapt=adapt), chain(head, rest), path, on_bad)


def _text_of(tree: Tree, lemmas: bool) -> Tree | None:
    """Return a tree in Penn Treebank style, without metadata; None if the tree holds only metadata.

    Args:
        tree: a tree whose leaves are as in the file.
        lemmas: whether leaves are ``word-lemma``.
    """

    def adapt(node: Tree, children: list[Tree | None]) -> Tree | None:
        if node.label.partition("-")[0] in _ABOUT_THE_TEXT:
            return None
        if node.word is None:
            kept = [child for child in children if child is not None]
            return Tree(_phrase(node.label), kept) if kept else None
        if _EMPTY.match(node.word):
            return Tree(_phrase(node.label), [Tree("-NONE-", word=node.word or "0")])
        return Tree(_INDEX.sub("", node.label), word=_word(node.word, lemmas))

    text = tree.fold(adapt)
    several = None if text is None else next((word for word in text.words() if " " in word), None)
    if several is not None:
        what = f"not a leaf of this treebank: {several!r}"
        raise InputError(what, hint="give each word a bracket of its own")
    return text


def _phrase(label: str) -> str:
    if ";" not in label[1:]:
        return label
    return _FUNCTION.sub(lambda found: f"-{found[1]}" if found[1] else "", label)


def _word(leaf: str, lemmas: bool) -> str:
    if not lemmas:
        leaf = _PUNCTUATION.sub(r"\1", leaf)
    elif " " not in leaf:
        half = len(leaf) // 2
        # A hyphen may be part of both word and lemma: "---" is the word "-" with its lemma.
        same = len(leaf) > 2 and leaf[half] == "-" and leaf[:half] == leaf[half + 1 :]
        leaf = leaf[:half] if same else leaf.rpartition("-")[0] or leaf
    return _ESCAPED.sub(lambda found: _CHARACTERS.get(found[1], found[0]), leaf) if "<" in leaf else leaf


def _has_lemmas(head: str) -> bool:
    leaves = [
        word
        for tag, word in _LEAF.findall(head)
        if tag.partition("-")[0] not in _ABOUT_THE_TEXT and not _EMPTY.match(word)
    ]
    with_lemma = sum("-" in word[1:-1] for word in leaves)
    return bool(leaves) and with_lemma >= _LEMMATISED * len(leaves)


def _looks_like_penn_helsinki(head: str) -> bool:
    if not head.lstrip().startswith("("):
        return False
    marked = _MARKED.search(head) or _CODED.search(head)
    return marked is not None or (_CLAUSE.search(head) is not None and _has_lemmas(head))


PENN_HELSINKI = PennHelsinkiReader(
    "utf-8", _looks_like_penn_helsinki, leaf=" ".join, note=_NOTE, empty=_EMPTY_ELEMENT
)
