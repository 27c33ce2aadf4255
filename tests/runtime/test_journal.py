"""A map that can be taken up again."""

from __future__ import annotations

from pathlib import Path

import pytest

from spectralnlp.errors import ConfigError, ModelError
from spectralnlp.runtime import map_resumable, use_checkpoint

calls: list[int] = []


def square(x: int) -> list[int]:
    calls.append(x)
    return [x * x]


ABOUT = {"model": "m", "k": 1}
ALL = [[i * i] for i in range(9)]


def taken(folder: Path, n: int, about: dict[str, object] = ABOUT, examples: object = None) -> list[list[int]]:
    """The first results of a run that is then cut off."""
    calls.clear()
    with use_checkpoint(folder):
        results = map_resumable(square, examples or range(9), about)  # type: ignore[arg-type]
        return [each for each, _ in zip(results, range(n), strict=False)]


def test_without_a_checkpoint_it_is_a_map() -> None:
    assert list(map_resumable(square, range(9), ABOUT)) == ALL


def test_results_that_are_there_are_not_made_again(tmp_path: Path) -> None:
    assert taken(tmp_path, 4) == ALL[:4]
    assert taken(tmp_path, 9) == ALL
    assert calls[0] >= 4
    assert taken(tmp_path, 99) == ALL
    assert calls == []


def test_a_torn_last_line_is_made_again(tmp_path: Path) -> None:
    taken(tmp_path, 4)
    journal = tmp_path / "map-1.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-3])
    assert taken(tmp_path, 9) == ALL


@pytest.mark.parametrize(
    ("about", "examples", "problem"),
    [
        ({"model": "other", "k": 1}, range(9), "a journal of another model"),
        (ABOUT, [0, 1, 7, 3, 4], "a journal of other input, from example 3 on"),
        (ABOUT, [0, 1], "a journal of other input, from example 3 on"),
    ],
)
def test_a_journal_of_something_else_is_refused(
    tmp_path: Path, about: dict[str, object], examples: object, problem: str
) -> None:
    taken(tmp_path, 5)
    with pytest.raises(ConfigError, match=problem):
        taken(tmp_path, 9, about, examples)


@pytest.mark.parametrize("content", ["", "my own notes\n", "[1]\n", '["spectralnlp-journal-1", {}'])
def test_a_file_that_is_no_journal_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "map-1.jsonl").write_text(content)
    with pytest.raises(ModelError, match=r"map-1\.jsonl: truncated or no journal"):
        taken(tmp_path, 9)
