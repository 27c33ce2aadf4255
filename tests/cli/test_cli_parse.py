from __future__ import annotations

import gzip
import json
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_fakes import Run

import spectralnlp.api


def test_raw_text_from_stdin_files_and_gzip(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfa b\r\n\r\nc\n")
    (tmp_path / "b.gz").write_bytes(gzip.compress("😀 .\n".encode()))
    trees = ["(TOP (S (X a) (X b)))", "(TOP (S (X c)))", "(TOP (S (X 😀) (X .)))", "(TOP (S (X d)))"]
    status, out, err = run("parse", tmp_path / "a.txt", tmp_path / "b.gz", "-", stdin="d\n")
    assert (status, out.splitlines(), err) == (0, trees, "")
    assert run("parse", stdin="d\n").out == trees[-1] + "\n"


def test_the_first_tree_comes_before_the_last_line(start: Callable[..., subprocess.Popen[str]]) -> None:
    process = start("parse", "--tokenized")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("one\n")
    process.stdin.flush()
    assert process.stdout.readline() == "(TOP (S (X one)))\n"
    out, _ = process.communicate("two\n", timeout=60)
    assert (out, process.returncode) == ("(TOP (S (X two)))\n", 0)


@pytest.mark.parametrize("form", ["ptb", "pretty", "json"])
def test_a_blank_line_gives_a_blank_line(run: Run, form: str) -> None:
    status, out, _ = run("parse", "--tokenized", "--format", form, stdin="\n  \na\n")
    assert status == 0
    assert out.startswith("\n\n")
    assert out.strip()


def test_tokens_are_brought_into_the_models_conventions(run: Run) -> None:
    status, out, _ = run("parse", "--tokenized", stdin="a ( b ) and/or c\u00a0d\n")
    assert status == 0
    assert "(X -LRB-) (X b) (X -RRB-)" in out
    assert out.count("(X ") == 6  # a no-break space is part of a token


def test_tagged(run: Run) -> None:
    out = run("parse", "--tagged", stdin="snake_case_NN ,_, (_-LRB-\n").out
    assert out == "(TOP (S (NN snake_case) (, ,) (-LRB- -LRB-)))\n"


@pytest.mark.parametrize("line", ["word", "_NN", "word_"])
def test_a_token_without_a_tag_is_refused(run: Run, line: str) -> None:
    status, out, err = run("parse", "--tagged", stdin=f"a_B\n{line}\n")
    assert status == 2
    assert out == "(TOP (S (B a)))\n"
    assert err.startswith("spectralnlp: <stdin>:2: no word_TAG")


def test_json_has_offsets_into_the_text(run: Run) -> None:
    text = "  so (\n\nlong 😀 x\n"
    status, out, _ = run("parse", "--tokenized", "--format", "json", stdin=text)
    assert status == 0
    first, blank, second = out.split("\n")[:3]
    assert blank == ""
    for line in (first, second):
        for token in json.loads(line)["tokens"]:
            assert text[token["start"] : token["end"]] == token["text"]
    assert [token["form"] for token in json.loads(first)["tokens"]] == ["so", "-LRB-"]


def test_scores(run: Run) -> None:
    assert run("parse", "--scores", stdin="a b\n").out == "(TOP (S (X a) (X b)))\t-0.6931\tS:0:2=0.7500\n"


def test_fallbacks_are_counted_on_stderr_and_flagged_in_json(run: Run) -> None:
    status, out, err = run("parse", "--format", "json", stdin="a.\nunderivable.\nb.\n")
    assert status == 0
    assert [json.loads(line)["fallback"] for line in out.splitlines()] == [None, "no derivation", None]
    assert err.startswith("spectralnlp: 1 of 3 sentences got a fallback tree")
    assert err.count("\n") == 1


def test_output_file_is_whole_or_not_there(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "trees.mrg"
    assert run("parse", "-o", target, stdin="a\n") == (0, "", "")
    assert target.read_text() == "(TOP (S (X a)))\n"
    assert run("parse", "--tagged", "-o", target, stdin="b_B\nbad\n").status == 2
    assert target.read_text() == "(TOP (S (X a)))\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["site", "trees.mrg"]


def test_svg_files_are_numbered_by_line(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "drawings"
    assert run("parse", "--tokenized", "--format", "svg", "-o", folder, stdin="a\n\nb\n").status == 0
    assert sorted(path.name for path in folder.iterdir()) == ["00001.svg", "00003.svg"]
    assert (folder / "00003.svg").read_text().startswith("<svg")


def test_drawings_on_stdout_and_in_one_file_are_one_document(run: Run, tmp_path: Path) -> None:
    arguments = ("parse", "--tokenized", "--format", "svg")
    out = run(*arguments, stdin="a\n\nb\n").out
    assert len(ElementTree.fromstring(out)) == 2
    assert run(*arguments, "-o", tmp_path / "trees.svg", stdin="a\n\nb\n").out == ""
    assert (tmp_path / "trees.svg").read_text() == out
    assert "data-word" in run(*arguments, stdin="a\n").out


@pytest.mark.parametrize(
    ("arguments", "stdin", "complaint"),
    [
        (["--format", "xml"], b"a\n", "no output format 'xml'"),
        (["--tokenized", "--tagged"], b"a\n", "exclude each other"),
        (["--model", "nosuch"], b"a\n", "nosuch"),
        (["missing.txt"], b"", "missing.txt: no such file"),
        (["-o", "missing/trees.mrg"], b"a\n", "missing/trees.mrg: cannot write"),
        (["-o", "."], b"a\n", "is a folder"),
        ([], b"caf\xe9\n", "<stdin>:1: byte 0xe9"),
        ([], b"a\0b\n", "<stdin>:1: a NUL byte"),
    ],
)
def test_bad_input_is_refused(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    stdin: bytes,
    complaint: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = run("parse", *arguments, stdin=stdin)
    assert (status, out) == (2, "")
    assert complaint in err
    assert err.count("\n") == 1


def test_no_input_is_no_error(run: Run) -> None:
    assert run("parse", stdin="") == (0, "", "")


def test_raw_text_has_offsets_into_the_text(
    run: Run, tmp_path: Path, own_treebank: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spectralnlp, "load", spectralnlp.api.load)  # a real parser, not the fake
    text = "The keeper walks home.\nShe sees a ship.\n\nIt is late.\n"
    (tmp_path / "text.txt").write_text(text)
    model = tmp_path / "model"
    assert run("train", "pcfg", own_treebank / "train.mrg", "-o", model).status == 0
    status, out, _ = run("parse", "--format", "json", "-m", model, tmp_path / "text.txt")
    assert status == 0
    parses = [json.loads(line) for line in out.splitlines()]
    assert len(parses) == 3
    for token in (token for parse in parses for token in parse["tokens"]):
        assert text[token["start"] : token["end"]] == token["text"]
