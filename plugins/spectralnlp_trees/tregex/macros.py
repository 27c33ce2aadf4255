"""Macros: texts that stand for parts of search patterns, read from files in the format of Tregex."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from spectralnlp.errors import InputError
from spectralnlp.runtime import open_text
from spectralnlp_trees.tregex.labels import compile_expression

Macro = tuple[re.Pattern[str], str]

# A group of the original, or any other character after a backslash, in a replacement.
_SPECIAL = re.compile(r"\$(\d)|\\(.)")
_HINT = "a row is a regular expression, a tab and what replaces its matches in the pattern"


def read_macros(path: str | Path) -> list[Macro]:
    r"""Read macros from a file; a row is a regular expression, a tab and the replacement of its matches.

    In a replacement, ``$1`` is the text of the first group, and ``\$`` a dollar sign. Empty lines and lines
    that begin with ``#`` are ignored.

    Args:
        path: path of the file.

    Returns:
        The expression and the replacement of each macro.

    Raises:
        InputError: the file cannot be read, or a row is invalid; the message names the line.
    """
    macros: list[Macro] = []
    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            original, tab, replacement = line.partition("\t")
            if not original or not tab:
                raise InputError("not a row of macros", path=path, line=number, hint=_HINT)
            try:
                expression = compile_expression(original)
            except re.error as error:
                what = f"invalid regular expression: {error}"
                raise InputError(what, path=path, line=number, hint=_HINT) from None
            for group, _ in _SPECIAL.findall(replacement):
                if group and int(group) > expression.groups:
                    what = f"the expression has no group {group}"
                    raise InputError(what, path=path, line=number, hint=r"write a dollar sign as \$")
            macros.append((expression, replacement))
    return macros


def expand_macros(pattern: str, macros: Iterable[Macro]) -> str:
    """Replace the macros in a pattern, one macro after another."""
    for expression, replacement in macros:
        pattern = expression.sub(lambda found, text=replacement: _filled(text, found), pattern)  # type: ignore[misc]
    return pattern


def _filled(replacement: str, found: re.Match[str]) -> str:
    return _SPECIAL.sub(lambda each: each[2] or found[int(each[1])] or "", replacement)
