"""Files cut into tasks: workers give the bytes of one process, wherever the text is cut."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spectralnlp
from spectralnlp.cli import blocks as cli_blocks
from spectralnlp.cli.app import run
from spectralnlp.cli.blocks import Block, blocks
from spectralnlp.cli.remote import ParseToText, TagToText
from spectralnlp.text.sentences import may_cut, read_tagged, read_tokenized, split_sentences
from spectralnlp.text.tokenizer import Tokenizer

TOKENIZER = Tokenizer()
# What decides whether a sentence goes on in the next line, and lines as wide as an editor wraps them.
PIECES = [
    "He",
    "saw",
    "etc.",
    "Mr.",
    ".",
    "?!",
    '"',
    "''",
    ")",
    ",",
    "and",
    "...",
    "1.",
    "-",
    "J.",
    "\x0c",
    "\u2028",
]
LINES = st.lists(st.sampled_from(PIECES), max_size=6).map(" ".join) | st.sampled_from(
    ["", " ", "word " * 12 + "end", "Long " * 30, "Long " * 30 + "end.", "An end.", "no end"]
)


@given(st.lists(LINES, max_size=12), st.integers(1, 4))
def test_sentences_of_blocks_are_those_of_the_whole(lines: list[str], n_lines: int) -> None:
    whole = list(split_sentences((line + "\n" for line in lines), TOKENIZER))
    cut = cli_blocks._blocks_of(lines, "text", n_lines, lambda line: may_cut(line, TOKENIZER))
    assert [each for block in cut for each in block.sentences(TOKENIZER)] == whole
    surely = cli_blocks._blocks_of(lines, "text", n_lines, lambda line: may_cut(line, None))
    assert [each for block in surely for each in block.sentences(TOKENIZER)] == whole


@given(st.lists(st.sampled_from(["a_X b_Y", "", "c_Z", " "]), max_size=9), st.integers(1, 4))
def test_lines_of_blocks_are_those_of_the_whole(lines: list[str], n_lines: int) -> None:
    ended = [line + "\n" for line in lines]
    cut = list(cli_blocks._blocks_of(lines, "text", n_lines, None))
    assert [each for block in cut for each in block.sentences(TOKENIZER, tokenized=True)] == list(
        read_tokenized(ended, TOKENIZER)
    )
    assert [each for block in cut for each in block.sentences(TOKENIZER, tagged=True)] == list(
        read_tagged(ended, TOKENIZER)
    )


def test_where_text_may_be_cut() -> None:
    assert [may_cut(line, TOKENIZER) for line in ("", " \n", "So.", "So?!\n", "x " * 70)] == [True] * 5
    assert not any(may_cut(line, TOKENIZER) for line in ("so", "etc.", 'So."', "(", "...", "\u200b"))


def test_small_files_share_a_task_and_long_lines_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_blocks, "MAX_CHARACTERS", 20)
    contents = ["a\n", "b\nc\n", "", "d\n", "e" * 30 + "\nf\n", "g\nh\ni\nj"]
    files = []
    for number, content in enumerate(contents):
        files.append(str(tmp_path / f"{number}.txt"))
        Path(files[-1]).write_text(content)
    tasks = list(blocks(files, 3))
    assert [[block.text for block in task] for task in tasks] == [
        ["a", "b\nc"],
        ["d", "e" * 30],
        ["f", "g\nh\ni"],
        ["j"],
    ]
    assert tasks[-1] == [Block("j", files[-1], first=4, offset=6, width=1)]


@pytest.fixture(scope="module")
def models(own_treebank: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of a parser and a tagger."""
    root = tmp_path_factory.mktemp("models")
    spectralnlp.train("pcfg", own_treebank / "train.mrg").save(root / "parser")
    spectralnlp.train("tagger", own_treebank / "train.mrg").save(root / "tagger")
    return {"parse": root / "parser", "tag": root / "tagger"}


@pytest.fixture
def text(tmp_path: Path) -> list[Path]:
    """Two files, one of them zipped, with sentences that go on in the next line."""
    lines = ["The keeper climbs", "the stairs. She", "", "Marta saw the ship.", "The lamp", "is old!"] * 5
    (tmp_path / "a.txt").write_text("\n".join(lines))
    with gzip.open(tmp_path / "b.txt.gz", "wt") as file:
        file.write("\n".join(reversed(lines)))
    return [tmp_path / "a.txt", tmp_path / "b.txt.gz"]


@pytest.mark.parametrize(
    "command",
    [
        "parse",
        pytest.param("parse --tokenized --k 2", marks=pytest.mark.slow),
        pytest.param("parse --format json --scores", marks=pytest.mark.slow),
        pytest.param("tag --format json --scores", marks=pytest.mark.slow),
        pytest.param("tag --tokenized", marks=pytest.mark.slow),
        pytest.param("tag --format conllu", marks=pytest.mark.slow),
    ],
)
def test_workers_write_the_same_bytes(
    command: str,
    models: dict[str, Path],
    text: list[Path],
    tmp_path: Path,
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, *options = command.split()
    arguments = [name, *options, "-m", str(models[name]), *map(str, text)]
    assert run(arguments) == 0
    here = capsysbinary.readouterr().out  # on stderr there may be a note that kernels are compiled
    assert here.count(b"\n") > 20
    for work in (ParseToText, TagToText):
        monkeypatch.setattr(work, "batch_size", 2)
    assert run([*arguments, "--jobs", "2"]) == 0
    assert capsysbinary.readouterr().out == here
    assert run([*arguments, "--engine", "serial", "--checkpoint", str(tmp_path / "kept")]) == 0
    assert capsysbinary.readouterr().out == here


@pytest.mark.slow
def test_drawings_of_workers_are_numbered_by_sentence(
    models: dict[str, Path], text: list[Path], tmp_path: Path
) -> None:
    arguments = ["parse", "--tokenized", "--format", "svg", "-m", str(models["parse"]), str(text[0])]
    for name, more in (("one", []), ("two", ["--jobs", "2"])):
        assert run([*arguments, "-o", str(tmp_path / name), *more]) == 0
    one, two = (sorted((tmp_path / name).iterdir()) for name in ("one", "two"))
    assert [path.name for path in one] == [path.name for path in two]
    assert "00003.svg" not in [path.name for path in one]  # a blank line
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "content", "complaint"),
    [
        ("parse --tagged", "a_NN\n" * 50 + "b\n", "text.txt:51: no word_TAG: 'b'"),
        ("tag", "a\n" * 50 + "\0\n", "text.txt:51: a NUL byte"),
        ("parse --decoder none-such", "a\n", "none-such"),
    ],
)
def test_errors_on_workers_are_one_line(
    command: str,
    content: str,
    complaint: str,
    models: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name, *options = command.split()
    path = tmp_path / "text.txt"
    path.write_text(content)
    target = tmp_path / "out"
    arguments = [name, *options, "-m", str(models[name]), str(path), "--jobs", "2", "-o", str(target)]
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert complaint in err
    assert (out, err.count("\n"), target.exists()) == ("", 1, False)


@pytest.mark.slow
def test_a_model_of_another_task_is_refused(
    models: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    text = str(models["tag"] / "README.md")
    for command, model in (("parse", models["tag"]), ("tag", models["parse"])):
        assert run([command, "-m", str(model), text, "--jobs", "2"]) == 2
        err = capsys.readouterr().err
        assert "is a model for" in err
        assert err.count("\n") == 1


def test_a_task_of_many_files_holds_a_bounded_number_of_characters(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.txt" for number in range(12)]
    for file in files:
        file.write_text("word " * (cli_blocks.MAX_CHARACTERS // 20), encoding="utf-8")
    tasks = list(blocks([str(file) for file in files], 1000))
    assert [sum(len(block.text) for block in task) < 2 * cli_blocks.MAX_CHARACTERS for task in tasks] == [
        True
    ] * 3
