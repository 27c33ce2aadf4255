"""The papers' figures stand beside ours: columns of tables, sentences of lessons, excerpts of results."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("grimp")

from benchmarks.readme import printed_by
from benchmarks.stamps import ROOT, TABLE, pages_of

EXCERPTS = [
    (page, table["command"], table["body"])
    for page in pages_of(ROOT)
    for table in TABLE.finditer(page.read_text(encoding="utf-8"))
    if table["command"].startswith("awk ") and table["body"].strip()
]


@pytest.mark.parametrize(("page", "command", "body"), EXCERPTS, ids=lambda value: getattr(value, "stem", ""))
def test_excerpts_are_what_the_results_say(page: Path, command: str, body: str) -> None:
    hint = f"run python -m benchmarks.readme --tables {page.relative_to(ROOT)} --only awk"
    assert body.strip() == printed_by(command, ROOT).strip(), hint


@pytest.mark.parametrize("part", ["leverage table-", "training_order table-"])
def test_tables_of_the_leverage_paper_have_its_figures(part: str) -> None:
    text = (ROOT / "benchmarks" / "results" / "sketches.md").read_text(encoding="utf-8")
    tables = [table["body"] for table in TABLE.finditer(text) if part in table["command"]]
    assert len(tables) == (4 if "leverage" in part else 2)
    for body in tables:
        headers = re.findall(r"^(\|.*\|)\n\| ---", body, re.MULTILINE)
        assert headers
        assert all("| paper" in header for header in headers)


def test_the_lesson_of_em_is_that_of_the_ladder() -> None:
    ladder = (ROOT / "benchmarks" / "experiments" / "tutorial.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| EM from random states \|(.*)\|$", ladder, re.MULTILINE)
    _, _, f1, _, _, seconds, _ = (cell.strip() for cell in row.split("|"))
    lessons = " ".join((ROOT / "docs" / "lessons.md").read_text(encoding="utf-8").split())
    assert f"Today EM takes {seconds} for {float(f1):.1f} ([ladder]" in lessons
