"""Parsers of more trees than memory: the same as without a limit, to the byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from grammar_bytes import fingerprint, own_trees

from spectralnlp import InMemoryCorpus
from spectralnlp.cli.app import run
from spectralnlp.estimators.parser.open_cells import OpenCells
from spectralnlp.estimators.parser.parsers import LPCFGParser
from spectralnlp.estimators.parser.span_scorer import SpanScoring
from spectralnlp.runtime import scratch, use_memory

MUCH = 1 << 40


@pytest.fixture(autouse=True)
def all_is_spilled_and_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "MIN_SPILLED", 1)
    for component in (OpenCells, SpanScoring):
        monkeypatch.setattr(component, "least_trees", 1)


def test_what_is_spilled_gives_the_same_bytes(
    own_treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trees = InMemoryCorpus(own_trees(own_treebank))
    kinds = {"grammars": "tensors+clusters", "n_states": 4}
    free = fingerprint(LPCFGParser(**kinds).fit(trees))  # type: ignore[arg-type]
    sizes, new_map = [], scratch._new_map

    def counted(memory: object, n_bytes: int) -> object:
        sizes.append(n_bytes)
        return new_map(memory, n_bytes)  # type: ignore[arg-type]

    monkeypatch.setattr(scratch, "_new_map", counted)
    with use_memory(MUCH, folder=tmp_path):
        bound = LPCFGParser(**kinds).fit(trees)  # type: ignore[arg-type]
    assert len(sizes) > 100
    assert {"span_scorer", "open_cells"} <= bound.components_.keys()
    assert fingerprint(bound) == free
    assert list(tmp_path.iterdir()) == []


def test_a_limit_that_does_not_suffice_is_one_line(
    own_treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scratch, "resident_bytes", lambda: 900 << 20)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    arguments = ["train", "lpcfg", str(own_treebank / "train.mrg"), "-o", str(tmp_path / "model")]
    assert run([*arguments, "--memory", "800MB"]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert "800 MB of memory is too little: 900 MB cannot go to disk; raise --memory" in error
    assert list(tmp_path.iterdir()) == []
