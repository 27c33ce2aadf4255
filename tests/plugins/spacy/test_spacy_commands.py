"""The real ``spacy`` command, from data converted by ``spectralnlp convert`` to a packaged pipeline."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("spacy")

import spacy
from spacy.tokens import DocBin
from spacy_texts import TEXT

CONFIG = """
[nlp]
lang = "en"
pipeline = ["spectral_parser"]

[components]

[components.spectral_parser]
factory = "spectral_parser"

[components.spectral_parser.settings]
preset = "fast"

[corpora]

[corpora.train]
@readers = "spectralnlp.GoldTokens.v1"
path = "train.spacy"

[corpora.dev]
@readers = "spectralnlp.GoldTokens.v1"
path = "dev.spacy"

[training]
max_steps = 1
eval_frequency = 1000
seed = 0
gpu_allocator = null
"""


def run(*command: str, cwd: Path) -> str:
    """What a command of this environment prints."""
    program, *arguments = command
    beside = Path(sys.executable).with_name(program)
    done = subprocess.run(
        [str(beside if beside.exists() else shutil.which(program)), *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, own_treebank: Path) -> Path:
    """A folder in which ``spacy train`` has run."""
    folder = tmp_path_factory.mktemp("training")
    for name in ("train", "dev"):
        run("spectralnlp", "convert", str(own_treebank / f"{name}.mrg"), "-o", f"{name}.spacy", cwd=folder)
    (folder / "config.cfg").write_text(CONFIG)
    run("spacy", "train", "config.cfg", "-o", "out", cwd=folder)
    return folder


def test_convert_makes_gold_documents(trained, own_treebank) -> None:
    from spectralnlp_spacy.constituents import gold_trees

    from spectralnlp.trees import clean, read_trees

    docs = list(DocBin().from_disk(trained / "dev.spacy").get_docs(spacy.blank("en").vocab))
    trees = [clean(tree) for tree in read_trees(own_treebank / "dev.mrg")]
    assert list(gold_trees(docs, "constituents")) == trees
    assert all(doc.has_unknown_spaces for doc in docs)


def test_spacy_train_reaches_the_cores_score(trained, own_treebank) -> None:
    from spectralnlp import registry

    meta = json.loads((trained / "out" / "model-best" / "meta.json").read_text())
    task = registry.tasks.get("parsing")()
    estimator = registry.estimators.get("lpcfg").from_preset("fast")
    core = task.train(estimator, task.read([own_treebank / "train.mrg"]))
    report = task.evaluate(core, task.read([own_treebank / "dev.mrg"]))
    assert meta["performance"]["evalb_f"] == pytest.approx(report.overall.f1 / 100, abs=1e-9)
    assert meta["performance"]["spectral_parser_loss"] == 0
    assert "NP" in meta["labels"]["spectral_parser"]


def test_spacy_evaluate(trained) -> None:
    run("spacy", "evaluate", "out/model-best", "dev.spacy", "--output", "scores.json", cwd=trained)
    scores = json.loads((trained / "scores.json").read_text())
    meta = json.loads((trained / "out" / "model-best" / "meta.json").read_text())
    assert scores["evalb_f"] == pytest.approx(meta["performance"]["evalb_f"], abs=1e-6)


def test_spacy_debug_config(trained) -> None:
    run("spacy", "init", "fill-config", "config.cfg", "full.cfg", cwd=trained)
    run("spacy", "debug", "config", "full.cfg", cwd=trained)


def test_spacy_assemble_and_package(trained) -> None:
    """A pipeline with a grammar that is there already, and a trained component of another pipeline."""
    assembled = """
[nlp]
lang = "en"
pipeline = ["sentencizer", "trained", "shipped"]

[components]

[components.sentencizer]
factory = "sentencizer"

[components.trained]
source = "out/model-best"
component = "spectral_parser"

[components.shipped]
factory = "spectral_parser"
spans_key = "shipped"
prefix = "shipped_"
"""
    (trained / "assemble.cfg").write_text(assembled)
    run("spacy", "assemble", "assemble.cfg", "assembled", cwd=trained)
    (trained / "packages").mkdir()
    run("spacy", "package", "assembled", "packages", "--build", "none", "--name", "own", cwd=trained)
    (module,) = trained.glob("packages/*/en_own")
    (data,) = (folder for folder in module.iterdir() if folder.is_dir())
    sentence = next(spacy.load(data)(TEXT).sents)
    assert sentence._.labels == sentence._.shipped_labels == ("S",)


def test_frozen_components_keep_their_model(trained) -> None:
    frozen = CONFIG.replace("[training]", '[training]\nfrozen_components = ["spectral_parser"]')
    (trained / "frozen.cfg").write_text(frozen.replace('preset = "fast"', 'preset = "no-such-preset"'))
    out = run("spacy", "train", "frozen.cfg", "-o", "frozen", cwd=trained)
    assert "Saved pipeline" in out
