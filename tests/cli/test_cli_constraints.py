"""``parse --constraints``: a line of JSON a sentence."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from cli_fakes import Run

TEXT = "a b c\n\nd e\n"
LINES = '{"brackets": [[0, 2, "S"], [2, 3]], "forbidden": [[1, 3]], "tags": {"0": "X"}}\n\n{}\n'


@pytest.mark.parametrize("jobs", [[], ["--jobs", "2"], ["--engine", "threads"]])
def test_each_sentence_has_its_line(run: Run, tmp_path: Path, jobs: list[str]) -> None:
    (tmp_path / "plain.jsonl").write_text(LINES + "\n")
    (tmp_path / "packed.gz").write_bytes(gzip.compress(LINES.encode()))
    for name in ("plain.jsonl", "packed.gz"):
        found = run("parse", "--tokenized", "--constraints", tmp_path / name, *jobs, stdin=TEXT)
        assert found == (0, "(TOP (S (X a) (X b) (X c)))\n\n(TOP (S (X d) (X e)))\n", "")


def test_they_go_with_tags(run: Run, tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text("{}\n")
    found = run("parse", "--tagged", "--constraints", tmp_path / "c.jsonl", stdin="a_B\n")
    assert found == (0, "(TOP (S (B a)))\n", "")


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ("{}\n", "c.jsonl: no line for sentence 2"),
        (LINES.replace("[2, 3]", "[2, 4]"), "c.jsonl:1: bracket (2, 4) reaches beyond the sentence"),
        (LINES.replace("[2, 3]", "[1, 3]"), "c.jsonl:1: brackets (0, 2, 'S') and (1, 3) cross"),
        (LINES.replace('"S"', '"NP"'), "c.jsonl:1: bracket (0, 2, 'NP'): 'NP' is no phrase of the model"),
        ('\n\n{"tags": {"1": "Z"}}\n', "c.jsonl:3: the model has no tag 'Z'"),
        ('\n{"tags": {"0": "X"}}\n\n', "c.jsonl:2: constraints for an empty line of the text"),
        ('\n\n\n\n{"tags": {"0": "X"}}\n', "c.jsonl:5: constraints without a sentence"),
        ("\n[[0, 3]]\n", "c.jsonl:2: constraints are an object, not list"),
        ('\n{"brackets": [[0, 3\n', "c.jsonl:2: no JSON; a line is {"),
        ("[" * 100_000, "c.jsonl:1: no JSON"),
        ('{"bracket": []}\n', "c.jsonl:1: constraints have no 'bracket'"),
    ],
)
def test_bad_lines_are_refused_with_file_and_line(
    run: Run, tmp_path: Path, lines: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c.jsonl").write_text(lines)
    status, _, err = run("parse", "--tokenized", "--constraints", "c.jsonl", stdin=TEXT)
    assert status == 2
    assert err.startswith(f"spectralnlp: {what}")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ([], "--constraints needs --tokenized or --tagged"),
        (["--tokenized", "--engine", "processes"], "--constraints takes no worker processes"),
        (
            ["--tokenized", "--checkpoint", "here"],
            "--constraints takes no worker processes and no checkpoint",
        ),
    ],
)
def test_what_does_not_go_with_constraints(run: Run, tmp_path: Path, options: list[str], what: str) -> None:
    (tmp_path / "c.jsonl").write_text("{}\n")
    status, out, err = run("parse", "--constraints", tmp_path / "c.jsonl", *options, stdin="a\n")
    assert (status, out) == (2, "")
    assert err.startswith(f"spectralnlp: {what}")


def test_a_missing_file_is_missed(run: Run) -> None:
    status, out, err = run("parse", "--tokenized", "--constraints", "nothing.jsonl", stdin="a\n")
    assert (status, out) == (2, "")
    assert "nothing.jsonl" in err
