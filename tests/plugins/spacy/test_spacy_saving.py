"""Saving and loading pipelines: disk, bytes, pickle, fresh processes; what is on disk."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("spacy")

import spacy
from spacy_texts import TEXT


@pytest.mark.slow
def test_a_saved_pipeline_needs_only_spacy(nlp, tmp_path) -> None:
    nlp.to_disk(tmp_path / "nlp")
    code = (
        "import spacy, sys; nlp = spacy.load(sys.argv[1]); doc = nlp(sys.argv[2]);"
        "print(next(doc.sents)._.parse_string)"
    )
    command = [sys.executable, "-W", "error", "-c", code, str(tmp_path / "nlp"), TEXT]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == next(nlp(TEXT).sents)._.parse_string


def test_disk_holds_safetensors_and_json_alone(nlp, tmp_path) -> None:
    nlp.to_disk(tmp_path / "nlp")
    files = {each.name for each in (tmp_path / "nlp" / "spectral_parser").rglob("*") if each.is_file()}
    assert files == {"arrays.safetensors", "model.json", "README.md"}
    # What was loaded is saved as it was, and can be saved over itself.
    again = spacy.load(tmp_path / "nlp")
    before = again.get_pipe("spectral_parser").to_bytes()
    again.to_disk(tmp_path / "nlp")
    assert spacy.load(tmp_path / "nlp").get_pipe("spectral_parser").to_bytes() == before


def test_a_model_whose_folder_is_gone_can_be_saved(nlp, parser_folder, tmp_path) -> None:
    shutil.copytree(parser_folder, tmp_path / "parser")
    pipe = nlp.get_pipe("spectral_parser")
    pipe.source = str(tmp_path / "parser")
    before = nlp(TEXT)
    shutil.rmtree(tmp_path / "parser")
    nlp.to_disk(tmp_path / "nlp")
    after = spacy.load(tmp_path / "nlp")(TEXT)
    assert [s._.parse_string for s in after.sents] == [s._.parse_string for s in before.sents]


def test_the_model_need_not_be_where_it_was(nlp, tmp_path, parser_folder) -> None:
    nlp.to_disk(tmp_path / "nlp")
    config = (tmp_path / "nlp" / "config.cfg").read_text()
    (tmp_path / "nlp" / "config.cfg").write_text(config.replace(str(parser_folder), "/gone"))
    assert spacy.load(tmp_path / "nlp")(TEXT).to_bytes() == nlp(TEXT).to_bytes()


def test_bytes(nlp, parser_folder) -> None:
    again = spacy.blank("en")
    again.add_pipe("sentencizer")
    again.add_pipe("spectral_parser")
    again.from_bytes(nlp.to_bytes())
    assert again(TEXT).to_bytes() == nlp(TEXT).to_bytes()


def test_pickle_for_worker_processes(nlp) -> None:
    pipe = nlp.get_pipe("spectral_parser")
    lazy = pickle.loads(pickle.dumps(pipe))
    assert lazy.model is None  # not loaded before, so not loaded now
    expected = nlp(TEXT)
    travelled = pickle.loads(pickle.dumps(pipe))
    assert travelled(nlp.get_pipe("sentencizer")(nlp.make_doc(TEXT))).to_bytes() == expected.to_bytes()


def test_a_pipe_without_a_model_can_be_saved(tmp_path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("spectral_parser", config={"model": None})
    nlp.to_disk(tmp_path / "nlp")
    assert spacy.load(tmp_path / "nlp").get_pipe("spectral_parser").model is None
    assert spacy.blank("en").from_bytes(spacy.blank("en").to_bytes()).pipe_names == []


def test_models_can_be_left_out(nlp, tmp_path) -> None:
    pipe = nlp.get_pipe("spectral_parser")
    pipe.to_disk(tmp_path / "pipe", exclude=["model"])
    assert not list((tmp_path / "pipe").rglob("*.safetensors"))
    assert len(pipe.to_bytes(exclude=["model"])) < 100


@pytest.mark.slow
def test_factories_are_light() -> None:
    code = (
        "import spacy, sys; before = set(sys.modules); import spectralnlp_spacy.factories;"
        "new = set(sys.modules) - before;"
        "assert not {n for n in new if n.split('.')[0] in ('numba', 'scipy', 'sklearn', 'nltk')}, new"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
