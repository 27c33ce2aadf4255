"""Word vectors from the command line: train, neighbours, evaluate, plot."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cli_fakes import Run

import spectralnlp.api
from spectralnlp.estimators.eigenwords import Eigenwords
from spectralnlp.runtime import InMemoryCorpus


@pytest.fixture
def command(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line with the real `load`, and kernels compiled, of which it would speak."""
    few = InMemoryCorpus(["a b c", "c b a", "b a c"])
    Eigenwords(dimensions=1).fit(few)
    monkeypatch.setattr(spectralnlp, "load", spectralnlp.api.load, raising=False)
    return run


@pytest.fixture
def text(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    path = tmp_path / "text.tsv"
    subjects, verbs = ["he", "she", "they", "we"], ["saw", "took", "ate", "gave"]
    lines = [f"x\t{rng.choice(subjects)} {rng.choice(verbs)} it .\n" for _ in range(200)]
    path.write_text("".join(lines))
    return path


def test_from_text_to_neighbours_to_a_picture(command: Run, text: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    model = tmp_path / "model"
    arguments = ("train", "eigenwords", text, "-o", model, "--text-column", "2", "--set", "dimensions=3")
    status, out, err = command(*arguments)
    assert (status, err) == (0, "")
    assert "SVD:" in out
    status, out, _ = command("neighbours", model, "he", "shee", "-n", "3")
    assert status == 0
    first, second = out.splitlines()
    assert set(first.split()[1::2]) == {"she", "they", "we"}
    assert second.startswith("shee (by its spelling)")
    flat = json.loads(command("neighbours", model, "he", "-n", "1", "--format", "json").out)
    assert (flat["word"], flat["known"], len(flat["neighbours"])) == ("he", True, 1)
    labels = tmp_path / "labels.tsv"
    labels.write_text("he\tP\nshe\tP\nthey\tP\nwe\tP\nsaw\tV\ntook\tV\nate\tV\ngave\tV\n")
    assert json.loads(command("evaluate", model, labels, "--format", "json").out)["accuracy"] == 100.0
    status, _, err = command(
        "plot", model, "-o", tmp_path / "p.png", "--words", "he,she,we", "--words", "saw,ate"
    )
    assert status == 0
    assert (tmp_path / "p.png").exists()
    assert "vocabulary" in command("info", model).out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["evaluate", "MODEL", "TEXT", "--decoder", "mbr"], "--decoder means nothing to vectors"),
        (["evaluate", "MODEL", "LABELS", "--against", "MODEL"], "no test between two models"),
        (["plot", "MODEL", "-o", "x.gif"], "pictures are .png or .svg"),
        (["plot", "MODEL", "-o", "x.png", "--words", "no,such"], "three are needed"),
        (
            ["train", "eigenwords", "TEXT", "-o", "other", "--text-column", "7"],
            "2 columns, so there is no column 7",
        ),
        (
            ["train", "eigenwords", "TEXT", "-o", "other", "--reader", "ptb"],
            "no reader of text is called 'ptb'",
        ),
        (["train", "eigenwords", "TEXT", "-o", "other", "--set", "min_count=9999"], "lower min_count"),
        (["neighbours", "nowhere", "he"], "no model 'nowhere'"),
        (["parse", "--model", "MODEL", "TEXT"], "MODEL is a model for vectors, which cannot parse"),
        (["inspect", "MODEL"], "a model for vectors, which cannot be inspected"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    command: Run,
    text: Path,
    work_folder: Path,
    arguments: list[str],
    complaint: str,
) -> None:
    (work_folder / "LABELS").write_text("he P\nsaw V\n")
    command("train", "eigenwords", text, "-o", "MODEL", "--text-column", "2", "--set", "dimensions=2")
    status, _, err = command(*(str(text) if each == "TEXT" else each for each in arguments))
    assert status == 2
    assert complaint in err
    assert err.count("\n") == 1
    assert not (work_folder / "other").exists()


def test_a_warning_is_one_line(command: Run, text: Path, tmp_path: Path) -> None:
    status, _, err = command("train", "eigenwords", text, "-o", tmp_path / "model")
    assert status == 0
    assert err.startswith("spectralnlp: dimensions lowered from 50 to ")
    assert err.count("\n") == 1
