"""Tables of pages: ``benchmarks.readme`` stamps those that it fills, and finds those that are stale."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("grimp")

from benchmarks import readme, stamps


def check(page: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return the exit status of ``--check`` for a page."""
    monkeypatch.setattr(sys, "argv", ["readme", "--check", str(page)])
    with pytest.raises(SystemExit) as stopped:
        readme.main()
    assert isinstance(stopped.value.code, int)
    return stopped.value.code


@pytest.fixture
def source(tmp_path: Path) -> Path:
    page = tmp_path / "source.md"
    page.write_text("Words.\n\n<!-- table: echo -->\n\n| 1 |\n\n<!-- end -->\n", encoding="utf-8")
    return page


@pytest.fixture
def page(tmp_path: Path, source: Path) -> Path:
    page = tmp_path / "page.md"
    page.write_text(
        f"# Page\n\n<!-- table: grep 1 {source} -->\n\nold\n\n<!-- end -->\n\nWords.\n", encoding="utf-8"
    )
    return page


def test_a_filled_table_is_up_to_date_until_its_source_changes(
    page: Path, source: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(page, monkeypatch) == 1
    assert capsys.readouterr().out == f"{page}:3: not known: grep 1 {source}\n"

    readme.fill_page(page, tables=True, only="grep")
    lines = page.read_text(encoding="utf-8").splitlines()
    assert lines[4] == "| 1 |"
    assert lines[6].startswith("<!-- end: 20")
    assert lines[8] == "Words."
    assert check(page, monkeypatch) == 0
    source.write_text(source.read_text(encoding="utf-8").replace("Words", "Others"), encoding="utf-8")
    assert check(page, monkeypatch) == 0

    capsys.readouterr()
    source.write_text(source.read_text(encoding="utf-8").replace("| 1 |", "| 21 |"), encoding="utf-8")
    assert check(page, monkeypatch) == 1
    assert "page.md:3: stale, made on 20" in capsys.readouterr().out

    readme.fill_page(page, tables=True, only="grep")
    assert "| 21 |" in page.read_text(encoding="utf-8")
    assert check(page, monkeypatch) == 0


def test_only_stamps_the_tables_that_it_fills(page: Path) -> None:
    before = page.read_text(encoding="utf-8")
    readme.fill_page(page, tables=True, only="another command")
    assert page.read_text(encoding="utf-8") == before


def test_code_without_docstrings_and_comments(tmp_path: Path) -> None:
    def code(text: str) -> str:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.py"
        path.write_text(text, encoding="utf-8")
        return stamps.code_of(path)

    plain = code("class A:\n    def f(self):\n        return 1\n")
    assert plain == code(
        '"""M."""\nclass A:\n    """C."""\n\n    def f(self):  # 1\n        "D"\n        return 1'
    )
    assert plain != code("class A:\n    def f(self):\n        return 2\n")
    assert plain != code("class A:\n    def g(self):\n        return 1\n")
    assert code("x = 'a'\n") != code("x = 'b'\n")


def test_code_without_descriptions_and_limits_of_settings(tmp_path: Path) -> None:
    def code(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return stamps.code_of(path)

    plain = code("1.py", 'from m import Ge\nn: Annotated[int, Ge(1), Doc("Number.")] = 2')
    assert plain == code("2.py", 'from m import Ge, Le\nn: Annotated[int, Ge(1), Le(9), Doc("Size.")] = 2')
    assert plain != code("3.py", 'from m import Ge\nn: Annotated[int, Ge(1), Doc("Number.")] = 3')
    assert plain != code("4.py", 'from m import Ge\nn: Annotated[float, Ge(1), Doc("Number.")] = 2')
    assert plain != code("5.py", "from m import Ge\nn: Annotated[int, Shape(1)] = 2")


def test_dependencies_of_a_benchmark() -> None:
    parsing = stamps.dependencies(["benchmarks.parsing"])
    # imported; found by an entry point
    assert {"benchmarks.report", "spectralnlp.trees.tree"} < parsing
    assert "spectralnlp.estimators.parser.open_cells" in parsing
    assert not any(name.startswith(("spectralnlp.cli", "spectralnlp_sketch")) for name in parsing)
    assert "spectralnlp_sketch.linear.estimators" in stamps.dependencies(["benchmarks.sketches"])

    everything = stamps.dependencies([])
    assert {"spectralnlp.cli.parse", "spectralnlp_spacy.parser"} < everything
    assert not any(name.startswith("benchmarks") for name in everything)
    assert all(stamps.path_of(name).is_file() for name in parsing | everything)


def test_pages_of_the_repository_have_tables() -> None:
    names = {page.relative_to(stamps.ROOT).as_posix() for page in stamps.pages_of(stamps.ROOT)}
    assert {"README.md", "docs/benchmarks.md", "benchmarks/results/parsing.md", "grammars/en.card.md"} < names
