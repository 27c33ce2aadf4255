from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import spectralnlp
from spectralnlp.cli.app import run
from spectralnlp.errors import ConfigError

SEA = ["the tide and the boat", "a boat on the tide with sails", "sails of the boat at high tide"]
FARM = ["the cow eats hay", "hay and a field for the cow", "a field of hay where a cow stands"]
SETTINGS = ["--set", "n_topics=2", "--set", "min_documents=2", "--set", "max_share=0.6"]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n".join((SEA + FARM) * 4) + "\n\n")
    return path


def test_the_command_line(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(tmp_path / "model")
    assert run(["train", "topics", str(text), "-o", model, *SETTINGS]) == 0
    capsys.readouterr()
    assert run(["topics", model, "--words", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert {"boat", "tide"} <= set(lines[0].split()) | set(lines[1].split())
    assert run(["topics", model, str(text)]) == 0
    shown = [line.split("\t")[1].split(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert len(shown) == 24
    assert shown[0] == shown[1] == shown[2] != shown[3] == shown[4] == shown[5]
    assert run(["evaluate", model, str(text), "--format", "json"]) == 0
    flat = json.loads(capsys.readouterr().out)
    assert flat["documents"] == 24
    assert -1 <= flat["coherence"] <= 1


def test_python(text: Path, tmp_path: Path) -> None:
    assert run(["train", "topics", str(text), "-o", str(tmp_path / "model"), *SETTINGS]) == 0
    topics = spectralnlp.load(tmp_path / "model")
    assert len(topics) == 2
    of_text = topics.mixture_of("A boat, the TIDE!")
    np.testing.assert_allclose(of_text, topics.mixture_of(["boat", "tide"]))
    assert of_text.sum() == pytest.approx(1)
    word, probability = topics.top_words(int(of_text.argmax()), 1)[0]
    assert word in {"boat", "tide", "sails"}
    assert 0 < probability < 1
    with pytest.raises(ConfigError, match="no topic 2; topics are numbered from 0 to 1"):
        topics.top_words(2)
