"""Text tables with two columns, for reports."""

from __future__ import annotations

from collections.abc import Sequence


def two_columns(
    rows: Sequence[tuple[str, str]], signature: str, *, name_width: int = 12, value_width: int = 12
) -> str:
    """Format names and values as a table with one row each, followed by the signature.

    Args:
        rows: pairs of a name and a value.
        signature: string that identifies how the values were computed.
        name_width: width of the left-aligned names, in characters.
        value_width: width of the right-aligned values, in characters.
    """
    return "\n".join([*(f"{name:<{name_width}}{value:>{value_width}}" for name, value in rows), signature])
