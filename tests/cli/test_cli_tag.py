"""Tagging from the command line: train, evaluate, tag; what it refuses, in one line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from cli_fakes import Run

import spectralnlp.api
from spectralnlp.estimators.tagger import CRFTagger
from spectralnlp.inference.chains.linear_chains import best_tags, tag_marginals
from spectralnlp.models.tagger import Scorer
from spectralnlp.tasks.tagging import TaggingTask
from spectralnlp.text.conll import read_annotated

Folders = dict[str, Path]

CONLLU = "".join(
    "# a comment\n"
    + "".join(
        f"{i}\t{word}\t_\t{upos}\t{xpos}\t_\t_\t_\t_\t_\n"
        for i, (word, upos, xpos) in enumerate((row.split("/") for row in rows.split()), 1)
    )
    + "\n"
    for rows in [
        "The/DET/DT cat/NOUN/NN saw/VERB/VBD the/DET/DT dogs/NOUN/NNS ./PUNCT/.",
        "A/DET/DT dog/NOUN/NN barked/VERB/VBD !/PUNCT/.",
        "this/DET/DT owl/NOUN/NN met/VERB/VBD a/DET/DT fox/NOUN/NN",
    ]
    * 5
)
SPANS = (
    "-DOCSTART- -X- O\n\nAda NNP B-PER\nKing NNP I-PER\nmet VBD O\nBo NNP B-PER\n\nit PRP O\nrained VBD O\n\n"
    * 6
)


@pytest.fixture
def command(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line with the real `load`, and kernels compiled, of which it would speak."""
    learner = CRFTagger(epochs=2).fit([(("a", "b"), ("X", "Y"))] * 3)
    emissions, starts = Scorer(learner.weights_, learner.features_).emissions([("a",)])
    chain = learner.weights_.transitions, learner.weights_.start, learner.weights_.end
    best_tags(emissions, starts, *chain)
    tag_marginals(emissions, starts, *chain)
    monkeypatch.setattr(spectralnlp, "load", spectralnlp.api.load, raising=False)
    return run


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.conllu"
    path.write_text(CONLLU)
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tagger of universal tags."""
    folder = tmp_path_factory.mktemp("tagger")
    (folder / "gold.conllu").write_text(CONLLU)
    task = TaggingTask()
    trained = task.train(CRFTagger(), task.read([folder / "gold.conllu"]), report=lambda line: None)
    trained.save(folder / "model")
    return folder / "model"


def test_from_a_treebank_to_its_score(command: Run, model: Path, gold: Path) -> None:
    flat = json.loads(command("evaluate", model, gold, "--format", "json").out)
    assert flat["accuracy"] == 100.0
    assert (flat["words"], flat["unknown"], flat["sentences"], flat["new_tags"]) == (75, 0, 15, 0)
    assert flat["signature"].startswith("TAGS|unknown:not-in-train|v:")
    assert flat["words_per_second"] > 0
    assert "f1" not in flat
    table = command("evaluate", model, gold).out
    assert "accuracy" in table
    assert "100.00" in table
    assert "scheme" in command("info", model).out


def test_xpos_and_other_columns(command: Run, gold: Path, tmp_path: Path) -> None:
    assert command("train", "tagger", gold, "-o", tmp_path / "x", "--set", "column=xpos").status == 0
    out = command("tag", "-m", tmp_path / "x", "--tokenized", stdin="The cat saw the dogs .\n").out
    assert out == "The_DT cat_NN saw_VBD the_DT dogs_NNS ._.\n"
    columns = tmp_path / "spans.txt"
    columns.write_text(SPANS)
    command("train", "tagger", columns, "-o", tmp_path / "two", "--set", "column=2")
    assert (
        command("tag", "-m", tmp_path / "two", "--tokenized", stdin="it rained\nAda met Bo\n").out
        == "it_PRP rained_VBD\nAda_NNP met_VBD Bo_NNP\n"
    )


def test_against_another_model(command: Run, model: Path, gold: Path, tmp_path: Path) -> None:
    few = tmp_path / "few.conllu"
    few.write_text(CONLLU.split("\n\n")[1] + "\n\n")
    command("train", "tagger", few, "-o", tmp_path / "other", "--set", "epochs=1")
    flat = json.loads(
        command("evaluate", model, gold, "--against", tmp_path / "other", "--format", "json").out
    )
    assert flat["accuracy_delta"] > 0
    assert flat["p_value"] < 0.05
    assert flat["accuracy_against"] == pytest.approx(100 - flat["accuracy_delta"])
    shown = command("evaluate", model, gold, "--against", tmp_path / "other").out
    assert "accuracy 100.00 against" in shown


def test_the_recognised_format_is_told(command: Run, gold: Path, tmp_path: Path) -> None:
    told = f"{gold}: read as CoNLL-U or CoNLL-X"
    assert told in command("train", "tagger", gold, "-o", tmp_path / "m").out
    named = command("train", "tagger", gold, "-o", tmp_path / "n", "--reader", "conllu")
    assert "read as" not in named.out


def test_spans_from_columns(command: Run, tmp_path: Path) -> None:
    train, odd = tmp_path / "train.txt", tmp_path / "odd.txt"
    train.write_text(SPANS)
    status, _, err = command("train", "tagger", train, "-o", tmp_path / "m")
    assert (status, err) == (0, "")
    flat = json.loads(command("evaluate", tmp_path / "m", train, "--format", "json").out)
    assert (flat["precision"], flat["recall"], flat["f1"], flat["spans"]) == (100.0, 100.0, 100.0, 12)
    assert "scheme:bio" in flat["signature"]
    odd.write_text("Ada NNP I-PER\nKing NNP I-PER\nmet VBD B-NEW\n")
    flat = json.loads(command("evaluate", tmp_path / "m", odd, "--format", "json").out)
    assert (flat["invalid"], flat["new_tags"], flat["spans"]) == (1, 1, 2)
    table = command("evaluate", tmp_path / "m", odd).out
    assert "B-NEW (1)" in table
    assert "invalid gold tags" in table
    given = json.loads(command("tag", "-m", tmp_path / "m", "--format", "json", stdin="Ada King met Bo").out)
    assert given["spans"] == [
        {"label": "PER", "start": 0, "end": 8},
        {"label": "PER", "start": 13, "end": 15},
    ]


def test_tags_out_of_place_in_training_are_told(command: Run, tmp_path: Path) -> None:
    path = tmp_path / "iob1.txt"
    path.write_text("Ada I-PER\nmet O\n\n" * 3)
    status, out, _ = command("train", "tagger", path, "-o", tmp_path / "m")
    assert status == 0
    assert "3 tags cannot follow the tag before" in out
    assert command("tag", "-m", tmp_path / "m", "--tokenized", stdin="Ada met\n").out == "Ada_B-PER met_O\n"


def test_raw_text_in_every_format(command: Run, model: Path, tmp_path: Path) -> None:
    text = tmp_path / "raw.txt"
    text.write_text("The cat saw the dogs. A dog barked!\n\nthis owl met a fox\n")
    tagged = command("tag", text, "-m", model)
    assert tagged == (
        0,
        "The_DET cat_NOUN saw_VERB the_DET dogs_NOUN ._PUNCT\nA_DET dog_NOUN barked_VERB !_PUNCT\n"
        "this_DET owl_NOUN met_VERB a_DET fox_NOUN\n",
        "",
    )
    assert command("tag", "-m", model, stdin=text.read_text()) == tagged
    assert command("tag", "-", "-m", model, stdin=text.read_text()) == tagged
    assert command("tag", text, "-m", model, "-o", tmp_path / "out.txt").out == ""
    assert (tmp_path / "out.txt").read_text() == tagged.out
    (tmp_path / "back.conllu").write_text(command("tag", text, "-m", model, "--format", "conllu").out)
    back = list(read_annotated(tmp_path / "back.conllu", "conllu"))
    assert [" ".join(f"{w}_{t}" for w, t in zip(*each.tagged(), strict=True)) for each in back] == (
        tagged.out.splitlines()
    )
    objects = [
        json.loads(line) for line in command("tag", text, "-m", model, "--format", "json").out.splitlines()
    ]
    assert len(objects) == 3
    for token in (token for each in objects for token in each["tokens"]):
        assert text.read_text()[token["start"] : token["end"]] == token["text"]


def test_tokenized_text_keeps_its_lines(command: Run, model: Path) -> None:
    text = "\nThe dogs .\n\n\n a  fox  \nx"
    status, out, err = command("tag", "-m", model, "--tokenized", stdin=text)
    assert (status, err) == (0, "")
    lines = out.split("\n")
    assert [len(line.split()) for line in lines] == [0, 3, 0, 0, 2, 1, 0]
    assert lines[1] == "The_DET dogs_NOUN ._PUNCT"
    assert command("tag", "-m", model, "--tokenized", stdin="").out == ""
    assert command("tag", "-m", model, stdin="\n \n").out == ""


def test_confidence(command: Run, model: Path) -> None:
    given = command("tag", "-m", model, "--tokenized", "--scores", stdin="\nThe cat\n")
    assert given.status == 0
    words = given.out.split()
    assert [word.split(":")[0] for word in words] == ["The_DET", "cat_NOUN"]
    assert all(0 < float(word.split(":")[1]) <= 1 for word in words)


def test_many_and_long_sentences(command: Run, model: Path) -> None:
    text = "The cat saw the dogs .\n" * 1100 + "the dog " * 2500 + "\n"
    status, out, _ = command("tag", "-m", model, "--tokenized", stdin=text)
    assert status == 0
    lines = out.splitlines()
    assert len(lines) == 1101
    assert set(lines[:-1]) == {"The_DET cat_NOUN saw_VERB the_DET dogs_NOUN ._PUNCT"}
    assert len(lines[-1].split()) == 5000


def test_vectors_travel_with_the_model(
    command: Run, gold: Path, word_folders: Folders, tmp_path: Path
) -> None:
    shutil.copytree(word_folders["words"], tmp_path / "words")
    arguments = ("train", "tagger", gold, "--set", f"eigenwords={tmp_path / 'words'}")
    assert command(*arguments, "-o", tmp_path / "model").status == 0
    shown = command("tag", "-m", tmp_path / "model", "--scores", stdin="the hen fed this cow .")
    shutil.rmtree(tmp_path / "words")
    assert command("tag", "-m", tmp_path / "model", "--scores", stdin="the hen fed this cow .") == shown
    assert shown.out.startswith("the_DET:")
    listed = f'eigenwords=["{word_folders["words"]}","{word_folders["plain"]}"]'
    again = command("train", "tagger", gold, "-o", tmp_path / "two", "--set", listed)
    assert again.status == 0, again.err
    assert spectralnlp.api.load(tmp_path / "two").info["numbers of a word"] == 7


def test_unlabelled_text_is_learned_from(command: Run, gold: Path, own_corpora: Path, tmp_path: Path) -> None:
    text = own_corpora / "text" / "tokenized.txt"
    learned = command("train", "tagger", gold, "-o", tmp_path / "model", "--unlabelled", text)
    assert learned.status == 0, learned.err
    assert 'unlabelled = ["' in learned.out
    model = spectralnlp.api.load(tmp_path / "model")
    assert model.info["numbers of a word"] > 2
    assert model.info["parameters"]["unlabelled"] == ["tokenized.txt"]
    config = tmp_path / "settings.cfg"
    config.write_text(learned.out)
    assert command("train", "tagger", gold, "-o", tmp_path / "again", "--config", config).status == 0
    for name in ("arrays.safetensors", "model.json"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "model" / name).read_bytes()


def test_the_same_seed_gives_the_same_folder(command: Run, model: Path, gold: Path, tmp_path: Path) -> None:
    status, out, err = command("train", "tagger", gold, "-o", tmp_path / "again")
    assert (status, err) == (0, "")
    assert "weights:" in out
    for name in ("arrays.safetensors", "model.json", "README.md"):
        assert (tmp_path / "again" / name).read_bytes() == (model / name).read_bytes()


def test_bad_sentences_can_be_left_out(command: Run, gold: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.conllu"
    bad.write_text("# text = x\n1\tx\t_\n\n" + CONLLU)
    status, _, err = command("train", "tagger", bad, "-o", tmp_path / "m")
    assert status == 2
    assert "bad.conllu:2: 3 columns" in err
    assert err.count("\n") == 1
    assert not (tmp_path / "m").exists()
    status, out, _ = command("train", "tagger", bad, "-o", tmp_path / "m", "--skip-bad")
    assert status == 0
    assert "bad.conllu:2: 3 columns" in out
    assert "skipped 1 in all" in out
    status, out, err = command("evaluate", tmp_path / "m", bad, "--format", "json", "--skip-bad")
    assert status == 0
    assert json.loads(out)["accuracy"] == 100.0
    assert "skipped 1 in all" in err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["train", "tagger", "GOLD", "-o", "new", "--set", "eigenwords=nowhere"], "nowhere"),
        (["train", "tagger", "GOLD", "-o", "new", "--set", "eigenwords=MODEL"], "a model for tagging"),
        (["train", "tagger", "GOLD", "-o", "new", "--set", "eigenwords=STATES"], "not for word vectors"),
        (
            ["train", "tagger", "GOLD", "-o", "new", "--unlabelled", "missing.txt"],
            "missing.txt: no such file",
        ),
        (
            ["train", "tagger", "GOLD", "-o", "new", "--unlabelled", "EMPTY", "--set", "eigenwords=PLAIN"],
            "eigenwords and unlabelled are both given",
        ),
        (["train", "rhmm", "GOLD", "-o", "new", "--unlabelled", "EMPTY"], "--unlabelled means nothing to"),
        (["train", "tagger", "GOLD", "-o", "new", "--set", "column=lemma"], "no column 'lemma'"),
        (["train", "tagger", "GOLD", "-o", "new", "--set", "epochs=0"], "got 0, expected int, 1 or more"),
        (["train", "tagger", "EMPTY", "-o", "new"], "no tagged sentences to learn from"),
        (["train", "tagger", "GOLD", "-o", "new", "--reader", "columns"], "columns"),
        (["train", "tagger", "missing.conllu", "-o", "new"], "missing.conllu: no such file"),
        (["evaluate", "MODEL", "EMPTY"], "no tagged sentences to evaluate on"),
        (["evaluate", "MODEL", "GOLD", "--decoder", "mbr"], "--decoder means nothing to tagging"),
        (["evaluate", "MODEL", "GOLD", "--against", "STATES"], "do different things"),
        (["tag", "-m", "nowhere"], "no model 'nowhere'"),
        (["tag", "-m", "STATES"], "a model for sequences, which cannot tag"),
        (["tag", "-m", "MODEL", "missing.txt"], "missing.txt: no such file"),
        (["tag", "-m", "MODEL", "--format", "xml"], "no output format 'xml'"),
        (["tag", "-m", "MODEL", "-o", "no/such/out.txt"], "cannot write"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    command: Run,
    gold: Path,
    model: Path,
    word_folders: Folders,
    work_folder: Path,
    arguments: list[str],
    complaint: str,
) -> None:
    (work_folder / "empty.txt").write_text("\n")
    names = {"GOLD": gold, "MODEL": model, "EMPTY": work_folder / "empty.txt"}
    names |= {"STATES": word_folders["states"], "PLAIN": word_folders["plain"]}
    for name, path in names.items():
        arguments = [each.replace(name, str(path)) for each in arguments]
    status, _, err = command(*arguments, stdin="a b\n")
    assert status == 2
    assert complaint in err
    assert err.count("\n") == 1
    assert not (work_folder / "new").exists()
