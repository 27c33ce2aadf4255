from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import cli_fakes
import pytest
from cli_fakes import Outcome, Run

import spectralnlp
from spectralnlp import registry

HERE = Path(__file__).parent
ENTRY_POINTS = """
[spectralnlp.estimators]
copycat.v1 = cli_fakes:Copycat
shattered.v1 = cli_no_such_module:Shattered

[spectralnlp.tasks]
faking.v1 = cli_fakes:FakingTask

[spectralnlp.commands]
greet = cli_fakes:greet
fail = cli_fakes:fail
heavy = cli_heavy:app
shattered = cli_no_such_module:command

[spectralnlp.engines]
faraway = cli_no_such_module:Engine [far]
"""
METADATA = """\
Metadata-Version: 2.1
Name: tiny-plugin
Version: 0.3
Provides-Extra: far
Requires-Dist: surely-not-installed; extra == "far"
"""
HEAVY = """
import numpy
import typer

app = typer.Typer()

@app.command()
def lift(weight: int) -> None:
    print(f"lifted {weight}")

@app.command()
def drop() -> None:
    print("dropped")
"""


@pytest.fixture
def work_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which commands run in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A folder that, on the path, is an installed third-party distribution."""
    site = tmp_path / "site"
    info = site / "tiny_plugin-0.3.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(METADATA)
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    (site / "cli_heavy.py").write_text(HEAVY)
    return site


@pytest.fixture
def run(plugin: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Run the command line in this process, with the fakes installed."""
    from spectralnlp.cli import app

    monkeypatch.syspath_prepend(str(plugin))
    monkeypatch.setattr(spectralnlp, "load", cli_fakes.load, raising=False)
    monkeypatch.setattr("spectralnlp.models.folder_of", cli_fakes.folder_of)
    registry.refresh()

    def run_here(*arguments: str | Path, stdin: str | bytes = "") -> Outcome:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        status = app.run([str(argument) for argument in arguments])
        return Outcome(status, *capsys.readouterr())

    yield run_here
    monkeypatch.undo()
    registry.refresh()


@pytest.fixture
def start(plugin: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start the command line in a process of its own, with the fakes installed."""
    started: list[subprocess.Popen[str]] = []
    program = (
        "import sys, spectralnlp, cli_fakes, spectralnlp.cli;"
        "spectralnlp.load = cli_fakes.load; sys.exit(spectralnlp.cli.main())"
    )

    def start_process(*arguments: str | Path, code: str = program) -> subprocess.Popen[str]:
        path = os.pathsep.join([str(plugin), str(HERE)])
        process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )
        started.append(process)
        return process

    yield start_process
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
