from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent


@pytest.mark.parametrize("line", (TESTS / "slow.txt").read_text(encoding="utf-8").split())
def test_what_is_listed_as_slow_is_there(line: str) -> None:
    path, _, test = line.partition("::")
    file = TESTS.parent / path
    assert file.exists()
    assert not test or f"def {test.partition('[')[0]}(" in file.read_text(encoding="utf-8")
