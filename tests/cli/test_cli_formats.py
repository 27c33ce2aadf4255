"""``--format``: one function and four names for every command that prints a table."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
import typer
from cli_fakes import Run

from spectralnlp import registry
from spectralnlp.cli.app import app
from spectralnlp.cli.formats import FORMATS, Rows, check_format
from spectralnlp.errors import ConfigError

# These print no table, but trees, tagged text, explanations, drawings, files or the steps of their work.
NO_TABLES = {
    "parse",
    "tag",
    "train",
    "update",
    "forget",
    "merge",
    "adapt",
    "explain",
    "convert",
    "rewrite",
    "inspect",
    "package",
    "plot",
    "transform",
    "warm-up",
    "annotate",
    "diff",
    "export",
    "leverage",
    "serve",
    "sketch",
}
TREES = (
    "(S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN gull))))\n(S (NP (NNS gulls)) (VP (VBP fly)))\n"
)


def commands() -> dict[str, object]:
    group = typer.main.get_command(app)
    context = typer.Context(group)
    names = [*group.list_commands(context), *(each.split(".")[0] for each in registry.commands.names())]
    return {name: group.get_command(context, name) for name in names}


def test_every_command_that_prints_a_table_has_the_formats() -> None:
    found = commands()
    assert found.keys() >= NO_TABLES
    for name in found.keys() - NO_TABLES:
        options = {option: each for each in found[name].params for option in each.opts}  # type: ignore[attr-defined]
        assert "--json" not in options, name
        assert {*FORMATS} <= {*options["--format"].help.rstrip(".").replace(" or ", ", ").split(", ")}, name
        assert options["--format"].default in (*FORMATS, "text"), name


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "t.mrg", "t.mrg"),
        ("score", "t.mrg", "t.mrg", "--per-sentence"),
        ("evaluate", "fake", "t.mrg"),
        ("compare", "t.mrg", "t.mrg"),
        ("measure", "t.mrg"),
        ("search", "NP=a < NN", "t.mrg"),
        ("plugins", "tasks"),
        ("info",),
    ],
    ids=lambda arguments: arguments[0],
)
def test_rows_are_the_same_in_all_formats(run: Run, work_folder: Path, arguments: tuple[str, ...]) -> None:
    Path("t.mrg").write_text(TREES)
    out = {form: run(*arguments, "--format", form) for form in FORMATS}
    assert {status for status, _, _ in out.values()} == {0}
    tables = {
        form: list(csv.reader(io.StringIO(out[form].out), delimiter=between))
        for form, between in (("tsv", "\t"), ("csv", ","))
    }
    assert len({len(row) for row in tables["csv"]}) <= 1
    if arguments[0] != "evaluate":  # which measures its speed
        assert tables["tsv"] == tables["csv"]
    for line in out["json"].out.splitlines():
        assert isinstance(json.loads(line), dict)
    status, printed, err = run(*arguments, "--format", "xml")
    assert (status, printed) == (2, "")
    assert "no output format 'xml'; choose from table, tsv, csv, json" in err


def test_rows_without_values_and_with_marks() -> None:
    lines: list[str] = []
    rows = Rows(lines.append, "csv", ["a", "b"])
    rows({"a": 'x "y"', "b": None})
    rows({"a": [1, 2], "b": 0.5})
    rows.finish()
    assert lines == ["a,b", '"x ""y""",', '"[1, 2]",0.5']
    lines.clear()
    rows = Rows(lines.append, "table")
    rows({"a": "long", "b": 1})
    rows.finish()
    assert lines == ["a     b\nlong  1"]
    with pytest.raises(ConfigError, match="choose from table, tsv, csv, json, html"):
        check_format("text", "html")


def test_matches_in_their_trees(run: Run, work_folder: Path) -> None:
    Path("t.mrg").write_text(TREES)
    status, out, err = run("search", "NP < (/^NN/=noun)", "t.mrg", "--format", "html")
    assert (status, err) == (0, "")
    assert out.startswith("<!DOCTYPE html>")
    assert out.rstrip().endswith("</html>")
    assert "<title>Matches of NP &lt; (/^NN/=noun)</title>" in out
    assert out.count("<section") == out.count("<svg") == 2
    assert out.count('class="phrase missing"') == 3
    assert out.count('class="word extra"') == 3
    assert run("search", "XP", "t.mrg", "--format", "html").out.count("<section") == 0
