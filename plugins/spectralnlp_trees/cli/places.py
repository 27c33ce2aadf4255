"""Read the input trees of commands, each with its file and number, from treebanks or by parsing text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spectralnlp.cli.console import note, progress
from spectralnlp.cli.kernels import announced_kernels
from spectralnlp.cli.options import Skipped
from spectralnlp.errors import ConfigError

if TYPE_CHECKING:
    from spectralnlp.trees import Tree
    from spectralnlp_trees.tregex.show import Place


def read_places(
    files: Sequence[str],
    reader: str,
    encoding: str | None,
    *,
    model: str | None,
    tokenized: bool,
    skip_bad: bool = False,
    clean: bool = True,
) -> Iterator[Place]:
    """Return an iterator over the unchanged trees of treebanks, or over the parses of texts.

    After the last tree of a treebank, notes on standard error say how the reader changed the trees.

    Args:
        files: files or folders of treebanks or texts; an empty list or ``-`` is standard input.
        reader: name of the treebank reader.
        encoding: encoding of treebanks; None for the reader's default.
        model: name of the parser for texts; None for treebanks.
        tokenized: whether texts have one sentence per line, with spaces between tokens.
        skip_bad: whether to skip and report invalid trees of treebanks, instead of stopping at the first.
        clean: whether the caller removes traces, so that the notes mention this, and functions.

    Raises:
        ConfigError: ``tokenized`` is set for treebanks, or ``skip_bad`` for texts.
    """
    if tokenized and model is None:
        raise ConfigError("--tokenized is for text only", hint="add --model NAME")
    if model is None:
        return _treebanks(files or ["-"], reader, encoding, skip_bad, clean)
    if skip_bad:
        raise ConfigError("--skip-bad is for treebanks only", hint="leave it out, or leave out --model")
    return _parsed(files, model, tokenized)


def is_model(path: str) -> bool:
    """Return whether a path is the name of a registered model, or a model folder."""
    from spectralnlp import registry

    return (Path(path) / "model.json").exists() or (not Path(path).exists() and path in registry.models)


def parsed_as(gold: Sequence[Tree], model: str) -> list[Tree | None]:
    """Parse the words of gold trees with a model; return one tree each, None for trees without words."""
    from spectralnlp.cli.models import load_parser
    from spectralnlp_trees.comparison.parsing import trees_over

    with announced_kernels():
        return trees_over(load_parser(model), gold)


def _treebanks(
    files: Sequence[str], reader: str, encoding: str | None, skip_bad: bool, clean: bool
) -> Iterator[Place]:
    from spectralnlp.runtime import expand_inputs, rereadable
    from spectralnlp.trees import read_trees
    from spectralnlp.trees.readers.recognition import changes_of
    from spectralnlp_trees.tregex.show import Place

    skipped = Skipped(note) if skip_bad else None
    read: list[str | Path] = []
    for file, path in zip(files, rereadable(files), strict=True):
        for expanded in expand_inputs([path]):
            read.append(expanded)
            name = str(expanded) if str(path) == file else "<stdin>"
            trees = read_trees(expanded, reader, on_bad=skipped, encoding=encoding, functions=not clean)
            for number, tree in enumerate(trees, 1):
                yield Place(name, number, tree)
    if skipped is not None:
        skipped.say_how_many()
    for line in changes_of(read, reader, encoding, clean=clean):
        note(line)


def _parsed(files: Sequence[str], model: str, tokenized: bool) -> Iterator[Place]:
    from spectralnlp.cli.models import load_parser
    from spectralnlp.cli.texts import called, sentences, sources
    from spectralnlp_trees.tregex.show import Place

    texts = sources(files)
    with progress(f"loading {model}"):
        parser = load_parser(model)
    for file in texts:
        parses = parser.parse_many(sentences(parser.tokenizer, [file], tokenized=tokenized))
        for number, parse in enumerate(parses, 1):
            if parse is not None:
                yield Place(called(file), number, parse.tree)
