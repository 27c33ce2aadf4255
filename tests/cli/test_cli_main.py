"""Behaviour of all commands: help, exit statuses, errors on one line, plugins."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_fakes import Run

Start = Callable[..., "subprocess.Popen[str]"]

HELP_IMPORTS = """
import sys
from spectralnlp.cli import main
sys.argv = ["spectralnlp", "--help"]
assert main() == 0
heavy = "numpy scipy numba rich nltk sklearn spacy confection pydantic cli_heavy".split()
print("HEAVY:", *(name for name in heavy if name in sys.modules))
"""


def test_help_imports_nothing_heavy_and_no_plugin(start: Start) -> None:
    out, err = start(code=HELP_IMPORTS).communicate(timeout=60)
    assert err == ""
    assert out.endswith("HEAVY:\n")
    for name in ("parse", "train", "evaluate", "score", "info", "plugins", "inspect"):
        assert f"\n  {name}" in out
    assert "heavy" in out
    assert "from tiny-plugin 0.3" in out
    assert "Classify texts, one per line or in a column" in out


def test_version(run: Run) -> None:
    assert run("--version") == (0, "spectralnlp 0.1.0\n", "")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "Missing command"),
        (("pasre",), "Did you mean 'parse'"),
        (("parse", "--bogus"), "--bogus"),
        (("parse", "--jobs", "0"), "--jobs"),
        (("train", "copycat"), "INPUT"),
        (("info", "nosuch"), "nosuch: no such model"),
        (("plugins", "nosuch"), "no registry is called 'nosuch'"),
        (("fail",), "/dev/null:3: bad"),
        (("shattered",), "cli_no_such_module"),
    ],
)
def test_a_users_error_is_one_line_and_status_2(run: Run, arguments: tuple[str, ...], complaint: str) -> None:
    status, out, err = run(*arguments)
    assert status == 2
    assert out == ""
    assert err.startswith("spectralnlp: ")
    assert err.count("\n") == 1
    assert complaint in err


def test_plugins_add_commands(run: Run) -> None:
    assert run("greet", "--name", "Ada") == (0, "hello Ada\n", "")
    assert run("heavy", "lift", "7") == (0, "lifted 7\n", "")
    assert run("heavy", "drop") == (0, "dropped\n", "")


def test_plugins_lists_what_works_what_is_broken_and_what_is_not_installed(run: Run) -> None:
    status, out, err = run("plugins")
    assert (status, err) == (0, "")
    rows = {tuple(line.split()[:2]): " ".join(line.split()) for line in out.splitlines()}
    assert "tiny-plugin 0.3 ok" in rows["estimators", "copycat"]
    assert "broken" in rows["estimators", "shattered"]
    assert "cli_no_such_module" in rows["estimators", "shattered"]
    assert "not installed" in rows["engines", "faraway"]
    assert "surely-not-installed" in rows["engines", "faraway"]
    assert all(row.startswith(("registry", "engines")) for row in run("plugins", "engines").out.splitlines())
    assert ".v1" not in out


def test_a_reader_who_leaves_is_no_error(start: Start) -> None:
    process = start("parse", "--tokenized")
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write("one\n")
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()
    process.stdin.write("two\n" * 10)
    process.stdin.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=60) == 141


@pytest.mark.slow
def test_interrupt_is_quiet_status_130_and_leaves_nothing(start: Start, tmp_path: Path) -> None:
    gold = tmp_path / "gold.mrg"
    gold.write_text("(S (NN a))\n")
    process = start("train", "copycat", gold, "-o", tmp_path / "model", "--set", "trouble=wait")
    assert process.stdout is not None
    assert any("waiting" in line for line in iter(process.stdout.readline, ""))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gold.mrg", "site"]


def test_info_names_without_versions(run: Run) -> None:
    status, out, _ = run("info")
    assert status == 0
    assert "copycat" in out
    assert ".v1" not in out
