"""The real ``spacy`` command: the example project from conversion to package, and other commands."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("spacy")
pytest.importorskip("sklearn")

import spacy
from spacy.tokens import DocBin
from spacy.training.initialize import init_nlp
from spacy_texts import TEXT
from spectralnlp_spacy.constituents import gold_trees

from spectralnlp import registry
from spectralnlp.trees import clean, read_trees

pytestmark = pytest.mark.slow


def run(*command: str, cwd: Path) -> str:
    """Output of a command of this environment."""
    program, *arguments = command
    beside = Path(sys.executable).with_name(program)
    path = os.pathsep.join([str(beside.parent), os.environ.get("PATH", "")])  # as in an active environment
    done = subprocess.run(
        [str(beside if beside.exists() else shutil.which(program)), *arguments],
        cwd=cwd,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, own_corpora: Path) -> Path:
    """A copy of ``examples/spacy`` in which ``spacy project run all`` has run."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "corpora").symlink_to(own_corpora)
    there = folder / "examples" / "spacy"
    shutil.copytree(own_corpora.parent / "examples" / "spacy", there)
    run("spacy", "project", "run", "all", str(there), cwd=folder)
    return there


@pytest.fixture(scope="module")
def performance(project: Path) -> dict[str, float]:
    """Scores of the model as ``spacy train`` wrote them."""
    return json.loads((project / "training" / "model-best" / "meta.json").read_text())["performance"]


def test_convert_makes_gold_documents(project, own_treebank) -> None:
    vocab = spacy.blank("en").vocab
    docs = list(DocBin().from_disk(project / "corpus" / "dev" / "trees.spacy").get_docs(vocab))
    trees = [clean(tree) for tree in read_trees(own_treebank / "dev.mrg")]
    assert list(gold_trees(docs, "constituents")) == trees
    assert all(doc.has_unknown_spaces for doc in docs)
    texts = list(DocBin().from_disk(project / "corpus" / "dev" / "intents.spacy").get_docs(vocab))
    assert sum(sum(doc.cats.values()) for doc in texts) == len(texts) == 15


def test_spacy_train_reaches_the_cores_scores(project, performance, own_treebank) -> None:
    parsing = registry.tasks.get("parsing")()
    estimator = registry.estimators.get("lpcfg").from_preset("fast")
    core = parsing.train(estimator, parsing.read([own_treebank / "train.mrg"]))
    report = parsing.evaluate(core, parsing.read([own_treebank / "dev.mrg"]))
    assert performance["evalb_f"] == pytest.approx(report.overall.f1 / 100, abs=1e-9)
    assert performance["tag_acc"] > 0.95
    assert performance["cats_micro_f"] > 0.8
    for name in ("parser", "tagger", "textcat"):
        assert performance[f"spectral_{name}_loss"] == 0
    # A classifier that was told of the same texts.
    trained = spacy.load(project / "training" / "model-best").get_pipe("spectral_textcat").ready()
    assert trained.about["training texts"] == 50
    assert trained.about["unlabelled texts"] == 15 + 171  # the trees' sentences are such texts, too


def test_spacy_evaluate_finds_the_same(project, performance) -> None:
    scores = json.loads((project / "training" / "scores.json").read_text())
    for name in ("evalb_f", "constituents_f", "tag_acc", "cats_micro_f"):
        assert scores[name] == pytest.approx(performance[name], abs=1e-6)


def test_a_package_loads(project) -> None:
    (data,) = (folder for folder in project.glob("packages/*/en_lighthouse/*") if folder.is_dir())
    with pytest.warns(UserWarning, match="SW001"):
        doc = spacy.load(data)("When does the boat leave?")
    assert next(doc.sents)._.labels
    assert doc[0].tag_ == "WRB"
    assert doc._.intent == "timetable"


def test_configs_are_valid_when_filled(project) -> None:
    run("spacy", "init", "fill-config", "configs/lighthouse.cfg", "full.cfg", cwd=project)
    run("spacy", "debug", "config", "full.cfg", cwd=project)


def test_the_score_of_training_weighs_what_there_is(project, performance) -> None:
    config = spacy.load(project / "training" / "model-best").config
    weights = {name: weight for name, weight in config["training"]["score_weights"].items() if weight}
    assert sorted(weights) == ["cats_score", "evalb_f", "tag_acc"]
    score = sum(weight * performance[name] for name, weight in weights.items())
    assert score > 0.9


ASSEMBLED = """
[nlp]
lang = "en"
pipeline = ["sentencizer", "trained", "given"]

[components]

[components.sentencizer]
factory = "sentencizer"

[components.trained]
source = "training/model-best"
component = "spectral_parser"

[components.given]
factory = "spectral_parser"
model = "{model}"
spans_key = "given"
prefix = "given_"
"""


def test_spacy_assemble_keeps_models(project, parser_folder) -> None:
    (project / "assemble.cfg").write_text(ASSEMBLED.format(model=parser_folder))
    run("spacy", "assemble", "assemble.cfg", "assembled", cwd=project)
    sentence = next(spacy.load(project / "assembled")(TEXT).sents)
    assert sentence._.parse_string == sentence._.given_parse_string


def test_frozen_components_are_left_alone(project, parser_folder, monkeypatch) -> None:
    monkeypatch.chdir(project)
    config = spacy.util.load_config("configs/lighthouse.cfg")
    config["components"]["spectral_parser"] |= {"model": str(parser_folder), "estimator": "none"}
    config["training"]["frozen_components"] = ["spectral_parser"]
    config["nlp"]["pipeline"] = ["spectral_parser", "spectral_tagger"]
    del config["components"]["spectral_textcat"], config["initialize"]
    nlp = init_nlp(config)  # the part of `spacy train` that comes before its loop
    assert nlp.get_pipe("spectral_tagger").labels
    nlp.get_pipe("spectral_parser").to_disk(project / "frozen")
    saved = project / "frozen" / "model" / "arrays.safetensors"
    assert saved.read_bytes() == (parser_folder / "arrays.safetensors").read_bytes()
