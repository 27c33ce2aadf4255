from __future__ import annotations

import pytest

pytest.importorskip("sklearn")  # the estimators of the extra [sketch] are on the page

from benchmarks.reference import COMMANDS_PAGE, PAGE, commands_page, page


def test_the_reference_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m benchmarks.reference"


def test_the_page_on_the_command_line_is_up_to_date() -> None:
    pytest.importorskip("spacy")  # commands of the extras [spacy] and [serve] are on the page
    pytest.importorskip("fastapi")
    assert COMMANDS_PAGE.read_text(encoding="utf-8") == commands_page(), "run: python -m benchmarks.reference"


@pytest.mark.parametrize(
    ("words", "default"),
    [("A .npy, a sparse .npz or a .parquet file.", "required"), ("Seed of the sketch.", "`0`")],
)
def test_the_default_of_an_option_is_shown(words: str, default: str) -> None:
    row = next(line for line in commands_page().splitlines() if words in line)
    assert row.endswith(f"| {default} |")
