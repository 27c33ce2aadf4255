"""Bad input of the tasks whose examples are lines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import spectralnlp
from spectralnlp.cli.app import run
from spectralnlp.errors import ModelError
from spectralnlp.storage import save_model


@pytest.mark.parametrize(
    ("estimator", "content"),
    [
        ("hmm", b""),
        ("hmm", b"\n \n"),
        ("hmm", b"a b\n\xff\xfe c\n"),
        ("topics", b""),
        ("topics", b"one two\n"),
        ("topics", b"a\xff\n"),
    ],
)
def test_bad_files_end_in_one_line(
    estimator: str, content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    assert run(["train", estimator, str(path), "-o", str(tmp_path / "model")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("kind", "metadata", "complaint"),
    [
        ("sequences", {"filter": {}}, "value filter.kind is missing"),
        ("topics", {"words": ["a"]}, "value alpha0 is missing"),
    ],
)
def test_another_model_is_refused(
    kind: str, metadata: dict[str, object], complaint: str, tmp_path: Path
) -> None:
    save_model(tmp_path / "odd", kind=kind, metadata=metadata, arrays={"a": np.ones(1)}, card="")
    with pytest.raises(ModelError, match=complaint):
        spectralnlp.load(tmp_path / "odd")
