"""A report as a small table of two columns for readers."""

from __future__ import annotations

from collections.abc import Sequence


def two_columns(
    rows: Sequence[tuple[str, str]], signature: str, *, name_width: int = 12, value_width: int = 12
) -> str:
    """Lay out names and values below one another, and the signature below them.

    Args:
        rows: names with values.
        signature: how the values were counted.
        name_width: columns of names, which are set left.
        value_width: columns of values, which are set right.
    """
    return "\n".join([*(f"{name:<{name_width}}{value:>{value_width}}" for name, value in rows), signature])
