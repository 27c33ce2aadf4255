"""Checks for treebank readers."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from spectralnlp.errors import InputError
from spectralnlp.testing.asserting import refusal, require
from spectralnlp.trees.tree import Tree


def check_reader(
    reader: Any,
    text: str,
    *,
    words: Sequence[Sequence[str]] | None = None,
    bad_text: str | None = None,
    encoding: str = "utf-8",
) -> None:
    """Check that a treebank reader yields trees, reads gzipped files and reports errors.

    Args:
        reader: an object with ``read(path, on_bad=None)``.
        text: content of a small treebank file with two or more trees.
        words: words of each tree, in order; None to skip their comparison.
        bad_text: content of a file whose *first* tree is bad and whose last is good; None to skip the check
            of errors.
        encoding: encoding of the files.

    Raises:
        AssertionError: a requirement is violated.

    Examples:
        >>> from spectralnlp.testing import check_reader
        >>> from spectralnlp.trees.readers import BRACKETS
        >>> text = "(S (NP (NNS Gulls)) (VP (VBP fly))) (S (NP (PRP It)) (VP (VBZ rains)))"
        >>> check_reader(BRACKETS, text, words=[["Gulls", "fly"], ["It", "rains"]])
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / "sample.txt"
        path.write_bytes(text.encode(encoding))
        stream = reader.read(path)
        require(isinstance(stream, Iterator), "read gives a stream (a generator), not a list")
        trees = list(stream)
        require(len(trees) >= 2, f"read gives a tree after the other; there are {len(trees)} in the sample")
        require(all(isinstance(tree, Tree) for tree in trees), "read gives spectralnlp.Tree")
        require(all(tree.words() for tree in trees), "every tree has words")
        if words is not None:
            found = [tree.words() for tree in trees]
            require(found == [list(each) for each in words], f"the words are right, not {found}")
        require(list(reader.read(path)) == trees, "reading again gives the same trees")
        zipped = Path(folder) / "sample.txt.gz"
        zipped.write_bytes(gzip.compress(text.encode(encoding)))
        require(list(reader.read(zipped)) == trees, "a gzipped file gives the same trees: use open_text")
        _check_errors(reader, Path(folder), bad_text, encoding)


def _check_errors(reader: Any, folder: Path, bad_text: str | None, encoding: str) -> None:
    missing = folder / "missing.txt"
    message = refusal(lambda: list(reader.read(missing)), "a missing file is an InputError", InputError)
    require("missing.txt" in message, f"the error names the file: {message}")
    if bad_text is None:
        return
    bad = folder / "bad.txt"
    bad.write_bytes(bad_text.encode(encoding))
    message = refusal(lambda: list(reader.read(bad)), "a bad tree is an InputError", InputError)
    require("bad.txt" in message, f"the error names the file: {message}")
    errors: list[InputError] = []
    trees = list(reader.read(bad, errors.append))
    require(errors, "on_bad is called with the error of each bad tree")
    require(trees, "with on_bad, reading goes on after a bad tree")
    located = all(error.line is not None or error.sentence is not None for error in errors)
    require(located, "an error says the line or the number of the sentence")
