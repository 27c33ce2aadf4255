"""Options of the commands that take a pattern, and reading the pattern."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from spectralnlp_trees.tregex.pattern import Pattern

PatternText = Annotated[
    str, typer.Argument(metavar="PATTERN", help="Pattern in Tregex's language: 'NP < PP'.")
]
Macros = Annotated[
    Path | None,
    typer.Option(
        "--macros",
        metavar="FILE",
        help="Replace matches of regular expressions in the pattern; a row is an expression, a tab and the "
        "replacement.",
    ),
]
PatternHeadRules = Annotated[
    str,
    typer.Option(
        "--head-rules",
        metavar="NAME",
        help="Head rules for <# and similar relations: english or neutral.",
    ),
]


def understood(text: str, macros: Path | None) -> Pattern:
    """Parse a pattern; if it is invalid, print it with a caret under the error, and raise the error.

    Args:
        text: the pattern.
        macros: file of macros, which are replaced first; None for none.
    """
    from spectralnlp_trees.tregex.macros import expand_macros, read_macros
    from spectralnlp_trees.tregex.pattern import read_pattern
    from spectralnlp_trees.tregex.pattern_error import PatternError

    try:
        return read_pattern(text if macros is None else expand_macros(text, read_macros(macros)))
    except PatternError as error:
        print(error.drawing, file=sys.stderr)
        raise
