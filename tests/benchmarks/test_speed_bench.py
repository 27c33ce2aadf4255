from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import speed


def test_the_table_of_speed_is_printed(
    own_treebank: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(speed, "LONG", 5)
    monkeypatch.setattr(sys, "argv", ["speed", "en", str(own_treebank / "dev.mrg"), "--lengths", "12"])
    speed.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" ")[1] for line in lines if line.startswith(("| open", "| closed"))] == [
        "open",
        "closed",
    ]
    assert any(line.startswith("| 12 |") for line in lines)
