"""Treebanks by name, or recognised by how their files begin."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from spectralnlp.errors import InputError
from spectralnlp.registry import readers
from spectralnlp.runtime import OnBad, is_address, open_text
from spectralnlp.trees.brackets import Leaf, read_brackets, single_word
from spectralnlp.trees.tree import Tree

_HEAD_LINES, _HEAD_CHARACTERS = 200, 20_000


@dataclass(frozen=True)
class TreeReader:
    """How the files of one treebank are read.

    Args:
        encoding: of its files; a UTF-8 byte order mark and gzip are dealt with.
        sniff: whether a file with this beginning looks like one of the treebank's.
        leaf: makes a word of what stands under a preterminal; see `read_brackets`.
    """

    encoding: str
    sniff: Callable[[str], bool]
    leaf: Leaf = single_word

    def read(self, path: str | Path, on_bad: OnBad | None = None) -> Iterator[Tree]:
        """The trees of a file, one after the other, as they stand there; see `read_brackets`.

        Raises:
            InputError: the file cannot be read, or a tree is bad and there is no ``on_bad``.
        """
        with open_text(path, self.encoding) as lines:
            yield from read_brackets(lines, path=path, on_bad=on_bad, leaf=self.leaf)


def _looks_like_ptb(head: str) -> bool:
    return re.match(r"\s*\(\s*\([^\s()]", head) is not None


def _looks_like_gum(head: str) -> bool:
    return re.match(r"\s*\(ROOT\s", head) is not None


def _looks_like_craft(head: str) -> bool:
    # As PTB, but one tree a line with a blank before the last bracket.
    return re.match(r"\s*\( \(.*\)\) \)\r?(\n|$)", head) is not None


def _looks_like_brackets(head: str) -> bool:
    return head.lstrip().startswith("(")


_CESS_PHRASE = re.compile(r"\((?:sn|sp|sa|s\.a|S\.|grup\.|espec|prep|coord|relatiu)\b")
_LEAF = re.compile(r"\(([^()\s]+)[ \t]+([^()\s]+)(?:[ \t]+([^()\s]+))?\)")


def _looks_like_cess(head: str) -> bool:
    # Two parts under every tag but the elided subject's, and tags in EAGLES style such as da0ms0 or Fp.
    leaves = [found.groups() for found in _LEAF.finditer(head)]
    tags = [tag for tag, word, _ in leaves if word != "*0*"]
    return (
        _CESS_PHRASE.search(head) is not None
        and bool(tags)
        and all(lemma or word == "*0*" for _, word, lemma in leaves)
        and all(re.fullmatch(r"[a-z][a-z0-9]*|[A-Z][a-z]*", tag) for tag in tags)
    )


# What CESS writes for characters that its format or its encoding made awkward.
_CESS_WORDS = {"-Fpa-": "-LRB-", "-Fpt-": "-RRB-", "-fe-": '"'}


def _word_before_lemma(parts: list[str]) -> str | None:
    """The leaf of CESS, ``word lemma``, or the elided ``*0*``, which has no lemma.

    Words that were joined, ``51_por_ciento``, stay one token: they have one tag.
    """
    if len(parts) == 2 or parts == ["*0*"]:
        return _CESS_WORDS.get(parts[0], parts[0])
    return None


BRACKETS = TreeReader("utf-8", _looks_like_brackets)
PTB = TreeReader("utf-8", _looks_like_ptb)
GUM = TreeReader("utf-8", _looks_like_gum)
CRAFT = TreeReader("utf-8", _looks_like_craft)
CESS_ESP = TreeReader("iso-8859-15", _looks_like_cess, _word_before_lemma)

_MOST_PARTICULAR_FIRST = (CESS_ESP, GUM, CRAFT, PTB)


def recognise(path: str | Path) -> TreeReader:
    """The reader for a file, by how it begins; `BRACKETS` if it looks like no treebank in particular.

    A pipe can be read only once and is taken for brackets unseen.

    Raises:
        InputError: the file cannot be read.
    """
    if not is_address(path) and _is_a_pipe(Path(path)):
        return BRACKETS
    head, n_characters = [], 0
    with open_text(path, "iso-8859-1") as lines:  # decodes any bytes; the marks looked for are ASCII
        for line in islice(lines, _HEAD_LINES):
            head.append(line)
            n_characters += len(line)
            if n_characters > _HEAD_CHARACTERS:
                break
    beginning = "\n".join(head)
    return next((reader for reader in _MOST_PARTICULAR_FIRST if reader.sniff(beginning)), BRACKETS)


def _is_a_pipe(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


def read_trees(
    path: str | Path, reader: str | TreeReader = "auto", on_bad: OnBad | None = None
) -> Iterator[Tree]:
    """The trees of a treebank file.

    Args:
        path: the file, plain or gzipped.
        reader: a reader, the name of a registered one (``ptb``), or ``auto`` for `recognise`.
        on_bad: called with the error of every bad tree, which is then skipped; see `read_brackets`.

    Raises:
        InputError: the file cannot be read, or a tree is bad and there is no ``on_bad``.
        RegistryError: no reader has this name.
    """
    if isinstance(reader, str):
        reader = recognise(path) if reader == "auto" else readers.get(reader)
    yield from reader.read(path, on_bad)


def from_nltk_corpus(corpus: Any) -> Iterator[Tree]:
    """The trees of any NLTK corpus reader object that has ``parsed_sents()``.

    Raises:
        InputError: the object has no parsed sentences, or a tree has a leaf without a preterminal.
    """
    if not hasattr(corpus, "parsed_sents"):
        raise InputError(f"a {type(corpus).__name__} has no parsed_sents()", hint="give a treebank's reader")
    for number, parsed in enumerate(corpus.parsed_sents(), 1):
        try:
            yield Tree.from_nltk(parsed)
        except ValueError as error:
            raise InputError(str(error), sentence=number) from error
