from __future__ import annotations

import pytest

pytest.importorskip("sklearn")  # the estimators of the extra [sketch] are on the page

from benchmarks.reference import COMMANDS_PAGE, PAGE, commands_page, page


def test_the_reference_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m benchmarks.reference"


def test_the_page_on_the_command_line_is_up_to_date() -> None:
    pytest.importorskip("spacy")  # commands of the extras [spacy] and [serve] are on the page
    pytest.importorskip("starlette")
    assert COMMANDS_PAGE.read_text(encoding="utf-8") == commands_page(), "run: python -m benchmarks.reference"


def test_options_without_a_default_are_required() -> None:
    row = next(line for line in commands_page().splitlines() if "The .spacy file to write." in line)
    assert row.endswith("| required |")
