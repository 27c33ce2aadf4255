"""Lines of code and walks: that they count what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import sizes, walk


def test_docstrings_comments_and_blank_lines_are_no_code() -> None:
    code = 'X = """a\nb"""  # two\n\n\ndef f():\n    """Doc."""\n    # why\n    return (\n        1\n    )\n'
    text = f'"""Module.\n\nMore."""\n\n{code}'
    assert sizes.lines_of_code(text) == 2 + 1 + 3


def test_a_walk_turns_back_where_it_enters_a_file_again() -> None:
    assert walk.turns(["a", "a", "b", "a", "b", "c"]) == 2
    assert walk.turns([]) == 0


@pytest.mark.parametrize(
    ("name", "door"),
    [("sentence", "spectralnlp/models/text_parser.py"), ("parse", "spectralnlp/cli/__init__.py")],
)
def test_a_walk_begins_at_its_door(name: str, door: str, tmp_path: Path) -> None:
    first, *_ = walk.walk(name, "en", tmp_path)
    assert first[0] == door
