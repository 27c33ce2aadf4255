"""Error for an invalid search pattern, with the column of the error."""

from __future__ import annotations

import re

from spectralnlp.errors import ConfigError

_MAX_DRAWN = 60  # characters before the column, and after it


class PatternError(ConfigError):
    """Error for an invalid search pattern; the message names the column.

    Attributes:
        pattern: the whole pattern.
        column: column of the error, from 1.

    Examples:
        >>> from spectralnlp_trees import PatternError, count
        >>> try:
        ...     count([], "NP < (VP")
        ... except PatternError as error:
        ...     print(error)
        ...     print(error.drawing)
        ...
        pattern, column 9: a closing ) is missing
        NP < (VP
                ^
    """

    def __init__(self, what: str, pattern: str, column: int, hint: str | None = None) -> None:
        super().__init__(f"pattern, column {column}: {what}", hint=hint)
        self.pattern, self.column = pattern, column

    def __reduce__(self) -> tuple[object, ...]:
        what = self.what.partition(": ")[2]
        return type(self), (what, self.pattern, self.column, self.hint)

    @property
    def drawing(self) -> str:
        """The line of the pattern with the error, shortened if it is long, and a caret under the error."""
        before = self.pattern[: self.column - 1]
        start = max(before.rfind("\n") + 1, len(before) - _MAX_DRAWN)
        line = self.pattern[start:].partition("\n")[0][: 2 * _MAX_DRAWN]
        indent = re.sub(r"[^\t]", " ", before[start:])
        return f"{line}\n{indent}^"
