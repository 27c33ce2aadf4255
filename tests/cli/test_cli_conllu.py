"""``parse --conllu``: tokens with the annotations of another parser."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_fakes import FakeParser, Run

from spectralnlp.parameters import AnnotationScheme

TEXT = """# text = (a b
1\t(\t_\t_\tX\t_\t2\tpunct\t_\t_
2\ta\t_\t_\tX\t_\t0\tROOT\t_\t_

1\tb\t_\t_\tX\t_\t0\troot\t_\t_
"""
TREES = "(TOP (S (X -LRB-) (X a)))\n(TOP (S (X b)))\n"


@pytest.mark.parametrize("jobs", [[], ["--jobs", "2"], ["--engine", "threads"]])
def test_labels_of_another_scheme_are_noted(
    run: Run, jobs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scheme = AnnotationScheme("pipe 1", ("ROOT", "punct"), ("X",))
    monkeypatch.setattr(FakeParser, "annotation_scheme", scheme)
    status, out, err = run("parse", "--conllu", *jobs, stdin=TEXT)
    assert (status, out) == (0, TREES)
    assert "annotations of 1 of 2 sentences were not used: 'root', for example, is not among" in err
    assert "pipe 1" in err
    assert err.count("\n") == 1
    assert run("parse", "--conllu", *jobs, stdin=TEXT.replace("root", "ROOT")) == (0, TREES, "")


def test_a_parser_without_annotations_takes_the_tokens(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(TEXT)
    status, out, err = run("parse", "--conllu", tmp_path / "a.conllu")
    assert (status, out) == (0, TREES)
    assert "the parser was trained without annotations" in err


@pytest.mark.parametrize(
    ("options", "text", "what"),
    [
        ([], TEXT.replace("\t2\t", "\t3\t"), "<stdin>:2: token 1 has the head '3', of 2 tokens"),
        ([], TEXT.replace("\t0\tROOT", "\t1\tROOT"), "<stdin>:2: no token is a root"),
        ([], TEXT.replace("\t0\tROOT", "\t_\tROOT"), "<stdin>:2: token 2 has no head"),
        ([], TEXT.replace("\t_\t_\tX\t_", "\t_"), "<stdin>:2: 7 columns, CoNLL-U or CoNLL-X has 10"),
        ([], "", "<stdin>: no sentence"),
        (["--tokenized"], TEXT, "--tokenized, --tagged and --conllu exclude each other"),
        (["--engine", "processes"], TEXT, "--conllu takes no worker processes"),
    ],
)
def test_what_is_refused(run: Run, options: list[str], text: str, what: str) -> None:
    status, _, err = run("parse", "--conllu", *options, stdin=text)
    assert status == 2
    assert f"spectralnlp: {what}" in err


def test_what_has_no_use_for_annotations(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(TEXT)
    model = tmp_path / "model"
    status, _, err = run("train", "copycat", "--annotations", tmp_path / "a.conllu", tmp_path, "-o", model)
    assert status == 2
    assert "copycat has no use for --annotations" in err
