"""``spectralnlp export spacy``: eigenwords as vectors that spaCy looks up and trains with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("spacy")

import spacy
from spacy.training.initialize import load_vectors_into_model
from spectralnlp_spacy.vectors import write_vectors

import spectralnlp
from spectralnlp.cli.app import run
from spectralnlp.errors import ConfigError


@pytest.fixture(scope="module")
def eigenwords(tmp_path_factory: pytest.TempPathFactory, own_corpora: Path) -> Path:
    folder = tmp_path_factory.mktemp("eigenwords") / "own"
    text = str(own_corpora / "text" / "lighthouse.txt")
    settings = ["--set", "dimensions=8", "--set", "min_count=1"]
    assert run(["train", "eigenwords", text, "-o", str(folder), *settings]) == 0
    return folder


def test_vectors_are_the_eigenwords(eigenwords, tmp_path, capsys) -> None:
    assert run(["export", "spacy", str(eigenwords), str(tmp_path / "vectors")]) == 0
    assert "8 dimensions" in capsys.readouterr().out
    core = spectralnlp.load(eigenwords)
    nlp = spacy.load(tmp_path / "vectors")
    doc = nlp("The lighthouse has no road")
    for token in doc:
        assert token.has_vector == (token.text in core)
        if token.text in core:
            assert np.allclose(token.vector, core.vector(token.text))
    assert doc[1].has_vector


@pytest.mark.slow
def test_spacy_train_can_start_from_them(eigenwords, tmp_path) -> None:
    assert run(["export", "spacy", str(eigenwords), str(tmp_path / "vectors")]) == 0
    nlp = spacy.blank("en")
    load_vectors_into_model(nlp, str(tmp_path / "vectors"))  # what [initialize] vectors = … does
    assert nlp.vocab.vectors.shape[1] == 8


def test_what_cannot_be_exported_is_refused(eigenwords, parser_folder, tmp_path, capsys) -> None:
    assert run(["export", "spacy", str(parser_folder), str(tmp_path / "vectors")]) == 2
    assert "vectors or a tagger are needed" in capsys.readouterr().err
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    with pytest.raises(ConfigError, match="holds something other"):
        write_vectors(spectralnlp.load(eigenwords), tmp_path / "mine", "en")
