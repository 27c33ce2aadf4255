"""Treebanks of several formats on the command line: what ``train`` says of them, and encodings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import spectralnlp
from spectralnlp.cli import app
from spectralnlp.trees import read_trees

Command = Callable[..., tuple[int, str, str]]
RAISED = "2 of 4 trees with crossing branches made continuous: 2 nodes raised, 1 attached from the root"


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    def run(*arguments: str | Path) -> tuple[int, str, str]:
        status = app.run([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


@pytest.mark.parametrize("extra", [[], ["--keep-moments"]])
def test_train_tells_how_many_branches_were_raised(
    command: Command, own_corpora: Path, tmp_path: Path, extra: list[str]
) -> None:
    gold = own_corpora / "formats" / "german.export"
    status, out, err = command("train", "pcfg", gold, "-o", tmp_path / "model", *extra)
    assert status == 0, err
    assert RAISED in out
    status, out, _ = command("evaluate", tmp_path / "model", own_corpora / "formats" / "german.tiger.xml")
    assert status == 0
    assert "crossing branches" not in out


_NOTES, _TRACES = "left out: 3 notes on the text", ", 6 empty elements"


@pytest.mark.parametrize(
    ("command_line", "said"),
    [
        ("search NP TREES", _NOTES),  # traces stay, and can be searched for
        ("search NP TREES --clean", _NOTES + _TRACES),
        ("measure TREES", _NOTES + _TRACES),
        ("compare TREES READ", _NOTES + _TRACES),
        ("score TREES READ", _NOTES + _TRACES),
        ("convert TREES --to heads-conllu", _NOTES + _TRACES),
        ("train tagger TREES -o OUT", _NOTES + _TRACES),
        ("update MODEL TREES -o OUT --add-known", _NOTES + _TRACES),
    ],
)
def test_every_command_says_what_is_left_out_of_trees(
    command: Command, own_corpora: Path, tmp_path: Path, command_line: str, said: str
) -> None:
    gold = own_corpora / "formats" / "japanese.psd"
    as_read = tmp_path / "read.mrg"
    as_read.write_text("".join(f"{tree}\n" for tree in read_trees(gold)), encoding="utf-8")
    if "MODEL" in command_line:
        assert command("train", "pcfg", gold, "--keep-moments", "-o", tmp_path / "model")[0] == 0
    places = {"TREES": gold, "READ": as_read, "MODEL": tmp_path / "model", "OUT": tmp_path / "out"}
    status, out, err = command(*(places.get(word, word) for word in command_line.split()))
    assert status == 0, err
    lines = f"{out}{err}".splitlines()
    assert [line.removeprefix("spectralnlp: ") for line in lines if "left out" in line] == [said]


@pytest.mark.parametrize(
    ("command_line", "result"),
    [
        ("measure FOLDER --skip-bad --format json", '"trees": 2'),
        ("search S FOLDER --skip-bad --count", "2"),
        ("convert FOLDER --to heads-conllu --skip-bad", "# sent_id = a-2"),
        ("train pcfg FOLDER --skip-bad -o OUT", "trained in"),
    ],
)
def test_bad_trees_are_skipped_and_counted(
    command: Command, tmp_path: Path, command_line: str, result: str
) -> None:
    folder = tmp_path / "trees"
    folder.mkdir()
    good = "(S (NP (PRP it)) (VP (VBZ rains)))\n"
    (folder / "a.mrg").write_text(f"{good}(S (NP (PRP it)) (VP))\n{good}")
    words = [str({"FOLDER": folder, "OUT": tmp_path / "out"}.get(w, w)) for w in command_line.split()]
    status, out, err = command(*words)
    assert status == 0, err
    assert result in out
    assert f"skipped {folder / 'a.mrg'}:2" in out + err
    assert "skipped 1 in all" in out + err
    if words[0] != "train":
        assert command(*(word for word in words if word != "--skip-bad"))[0] == 2


def test_a_treebank_of_another_language_is_warned_of(
    command: Command, own_corpora: Path, tmp_path: Path
) -> None:
    english, spanish = (own_corpora / "treebank" / f"{name}.mrg" for name in ("train", "spanish"))
    model = tmp_path / "model"
    assert command("train", "pcfg", english, "--keep-moments", "-o", model)[0] == 0
    assert "another language" not in command("evaluate", model, own_corpora / "treebank" / "dev.mrg")[2]
    for arguments in (
        ("evaluate", model, spanish),
        ("update", model, spanish, "-o", tmp_path / "updated"),
    ):
        status, out, err = command(*arguments)
        assert status == 0, err
        (line,) = (line for line in (out + err).splitlines() if "another language" in line)
        assert "% of the " in line
        assert "unknown to the model: " in line


def test_raw_text_without_a_segmenter_is_refused_with_the_way_out(command: Command, tmp_path: Path) -> None:
    trees, text = tmp_path / "trees.mrg", tmp_path / "text.txt"
    trees.write_text("(IP (NP (N 船)) (VB 来る))\n" * 3, encoding="utf-8")
    text.write_text("船来る\n", encoding="utf-8")
    assert command("train", "pcfg", trees, "-o", tmp_path / "model")[0] == 0
    status, out, err = command("parse", "-m", tmp_path / "model", text)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "the model cannot segment text without blanks; give tokens (--tokenized), or train" in err


def test_tags_are_learned_from_every_format_of_trees(own_corpora: Path, tmp_path: Path) -> None:
    text = (own_corpora / "formats" / "dutch.alpino.xml").read_text("utf-8")
    bare = tmp_path / "bare.xml"
    bare.write_text(text.partition("\n")[2], encoding="utf-8")  # without <?xml …?>
    assert spectralnlp.train("tagger", bare, epochs=1).known >= {"Boten"}


def test_an_encoding_is_named_and_taken(command: Command, own_corpora: Path, tmp_path: Path) -> None:
    gold = tmp_path / "chtb_0001.fid"
    gold.write_bytes((own_corpora / "formats/chinese.fid").read_text("utf-8").encode("gb18030"))
    model = tmp_path / "model"
    status, _, err = command("train", "pcfg", gold, "-o", model)
    assert status == 2
    assert err.count("\n") == 1
    assert f"{gold}:9: byte 0xb6" in err
    assert "it reads as gb18030: name it with --encoding" in err
    assert not model.exists()
    assert command("train", "pcfg", gold, "-o", model, "--encoding", "gb18030", "--keep-moments")[0] == 0
    assert command("evaluate", model, gold)[0] == 2
    assert command("evaluate", model, gold, "--encoding", "gb18030")[0] == 0
    assert command("train", "tagger", gold, "-o", tmp_path / "tagger", "--encoding", "gb18030")[0] == 0
    # More data is read as the first were.
    more = tmp_path / "chtb_0002.fid"
    more.write_bytes(gold.read_bytes().replace("渔船".encode("gb18030"), "轮船".encode("gb18030")))
    assert command("update", model, more)[0] == 0
    status, _, err = command("train", "pcfg", gold, "-o", tmp_path / "m", "--encoding", "martian")
    assert status == 2
    assert "no encoding is called 'martian'" in err
    status, _, err = command("train", "topics", gold, "-o", tmp_path / "m", "--encoding", "gb18030")
    assert status == 2
    assert "--encoding means nothing to topics" in err


def test_the_api_takes_an_encoding(own_corpora: Path, tmp_path: Path) -> None:
    gold = tmp_path / "a.psd"
    gold.write_bytes((own_corpora / "formats/icelandic.psd").read_text("utf-8").encode("iso-8859-1"))
    assert len(list(spectralnlp.read_treebank(gold, encoding="iso-8859-1"))) == 5
    parser = spectralnlp.train("pcfg", gold, encoding="iso-8859-1")
    assert spectralnlp.evaluate(parser, gold, encoding="iso-8859-1").to_flat_dict()["sentences"] == 5
    with pytest.raises(spectralnlp.errors.ConfigError, match="encoding means nothing"):
        spectralnlp.train("topics", gold, encoding="iso-8859-1")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "#BOS 1\na\tA\t--\tHD\t501\n#EOS 1\n",
            ":2 (sentence 1): node of word 1 hangs from 501, which is missing",
        ),
        ('<!DOCTYPE corpus [<!ENTITY a "b">]>\n<corpus>&a;</corpus>', ":1: a document type or an entity"),
        ("<corpus><s id='1'><graph root='x'/></s></corpus>", ":1 (sentence 1): the root, x, is missing"),
        ("<S ID=1>\n( (NP (NN 船))\n</S>\n", ":2 (sentence 1): unbalanced brackets"),
    ],
)
def test_bad_treebanks_are_one_line(command: Command, tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "gold"
    path.write_text(text, encoding="utf-8")
    status, _, err = command("train", "pcfg", path, "-o", tmp_path / "model")
    assert status == 2
    assert f"{path}{complaint}" in err
    assert err.count("\n") == 1
    assert not (tmp_path / "model").exists()
