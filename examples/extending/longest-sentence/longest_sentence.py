"""``spectralnlp longest``: the longest sentence of a treebank."""

from typing import Annotated

import typer


def longest(
    inputs: Annotated[list[str], typer.Argument(metavar="TREEBANK", help="Files, folders or globs.")],
    reader: Annotated[str, typer.Option(metavar="NAME", help="How to read them.")] = "auto",
) -> None:
    """Print the longest sentence of a treebank."""
    from spectralnlp import read_treebank
    from spectralnlp.errors import InputError

    words = max((tree.words() for tree in read_treebank(inputs, reader)), key=len, default=None)
    if words is None:
        raise InputError("no trees", path=inputs[0], hint="give a file of trees")
    print(len(words), *words)
