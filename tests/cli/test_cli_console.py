from __future__ import annotations

import io
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from spectralnlp.cli import console, texts, wording


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "shown"), [(Terminal(), True), (io.StringIO(), False)])
def test_progress_of_long_work_is_shown_on_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, shown: bool
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(console, "PATIENCE", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    with console.progress("digging") as step:
        step()
        time.sleep(0.3)
    assert ("digging 1" in stream.getvalue()) == shown
    assert bool(stream.getvalue()) == shown


def test_progress_through_files_says_about_when_it_ends(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("höher ☀\n" * 100, encoding="utf-8")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(console, "PATIENCE", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    meter = texts.Meter([str(text)])
    with console.progress("digging", meter=meter) as step:
        for _ in meter.counted(["höher ☀"] * 50):
            time.sleep(0.002)
            step()
        time.sleep(0.3)
    assert "50%" in terminal.getvalue()
    assert "left" in terminal.getvalue()
    for files in (["-"], [str(tmp_path / "text.txt.gz")], []):
        assert texts.Meter(files).size() is None


def test_a_share_of_the_work_says_how_long_the_rest_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    shown = console.Shown("training", lambda **news: lines.append(str(news["description"])))
    started = console.perf_counter()
    monkeypatch.setattr(console, "perf_counter", lambda: started + 30)
    shown.show_share(0.0)
    shown.show_share(0.25)
    assert lines == ["training 25%, about 1:30 left"]


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with console.progress("digging") as step:
        step()
    assert terminal.getvalue() == ""


def test_parameters_of_the_library_are_options_of_the_command_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    verb = SimpleNamespace(
        params=[SimpleNamespace(opts=["--skip-known"]), SimpleNamespace(opts=["FILE", "-o"])]
    )
    group = SimpleNamespace(params=[SimpleNamespace(opts=["--version"])], commands={"verb": verb})
    wording.commands.set(lambda: [group])
    assert (
        wording.with_options("give `skip_known`, `max_pairs` or ``o``")
        == "give --skip-known, max_pairs or ``o``"
    )
    console.say("see `version`")
    console.note("see `nothing`")
    assert capsys.readouterr() == ("see --version\n", "spectralnlp: see nothing\n")


def test_results_of_failed_work_leave_no_file(tmp_path: Path) -> None:
    def interrupted() -> None:
        with console.results(tmp_path / "out") as write:
            write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_table_and_fields() -> None:
    assert console.table(("a", "b"), [("long", ""), ("x", "y")]) == "a     b\nlong\nx     y"
    assert console.fields({"one": 1, "more": {"x": 2}}) == "one   1\nmore\n  x  2"
