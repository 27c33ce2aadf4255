"""The command that searches trees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_fakes import Run

TREES = """\
( (S (NP-SBJ (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN gull))) (. .)))
(S (NP-SBJ (NNS gulls)) (VP (VBP fly) (NP (-NONE- *T*))))
"""


@pytest.fixture
def trees(work_folder: Path) -> str:
    Path("trees.mrg").write_text(TREES)
    return "trees.mrg"


def test_text_has_the_words_around(run: Run, trees: str) -> None:
    status, out, err = run("search", "VP < (NP=object < NN)", trees, "--context", 1)
    assert (status, err) == (0, "")
    assert out == "trees.mrg:1:\tcat [VP saw a gull] .\tobject=a gull\n"


def test_counts(run: Run, trees: str) -> None:
    assert run("search", "S << __", trees, "--count").out == "24\n"
    assert run("search", "S << __", trees, "--count", "--once").out == "2\n"
    assert run("search", "NP", trees, trees, "--count").out == "4\n"
    assert run("search", "NP", trees, "--count", "--clean").out == "3\n"
    assert run("search", "XP", trees, "--count").out == "0\n"


def test_json(run: Run, trees: str) -> None:
    (line,) = run("search", "/^N/ < (NNS=noun < /(.)s$/#1%end)", trees, "--format", "json").out.splitlines()
    assert json.loads(line) == {
        "file": "trees.mrg",
        "tree": 2,
        "label": "NP-SBJ",
        "start": 0,
        "end": 1,
        "node": 2,
        "text": "gulls",
        "named": {"noun": {"label": "NNS", "start": 0, "end": 1, "node": 3, "text": "gulls"}},
        "variables": {"end": "l"},
        "brackets": "(NP-SBJ (NNS gulls))",
    }


def test_matches_are_counted_by_properties_of_nodes(run: Run, trees: str) -> None:
    def table(*arguments: object) -> list[str]:
        return run("search", *arguments, trees, "--format", "csv").out.splitlines()

    assert table("--group-by", "function", "/^NP/") == ["function,matches,%", ",2,50.0", "SBJ,2,50.0"]
    assert table("--group-by", "length", "--per", "words", "VP") == [
        'length,matches,%,"per 1,000 words"',
        "2,1,50.0,125.0",
        "3,1,50.0,125.0",
    ]
    assert table("--group-by", "np.head", "--group-by", "tag", "VP < NP=np") == [
        "np.head,VBD,VBP,total",
        "*T*,0,1,1",
        "gull,1,0,1",
    ]
    assert table("--group-by", "file", "--also", "DT", "--per", "S", "NN") == [
        'file,NN,DT,total,"per 1,000 S"',
        "trees.mrg,2,2,4,2000.0",
    ]
    assert run(
        "search",
        "NN",
        "-",
        "--group-by",
        "tag",
        "--group-by",
        "words",
        "--format",
        "tsv",
        stdin="(NP (NN total) (NN tag))",
    ).out == ("tag\ttag=\ttotal=\ttotal\nNN\t1\t1\t2\n")
    assert table("--group-by", "x.label", "S ?< NNS=x") == ["x.label,matches,%", ",2,100.0"]
    assert table("--group-by", "category", "XP") == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--group-by", "colour"), "matches cannot be grouped by 'colour'"),
        (("--group-by", "x.head"), "no node of 'NP' is named 'x'"),
        (("--per", "words"), "--also and --per are for tables of counts"),
        (("--group-by", "tag", "--per", "NP <"), "the pattern ends where a node is expected"),
        (("--group-by", "tag", "--group-by", "head", "--also", "VP"), "2 groupings of 2 patterns"),
        (("--group-by", "tag", "--count"), "--count is one number"),
    ],
)
def test_tables_that_make_no_sense(run: Run, trees: str, arguments: tuple[str, ...], message: str) -> None:
    status, out, err = run("search", *arguments, "NP", trees)
    assert (status, out) == (2, "")
    assert message in err


def test_columns(run: Run, trees: str) -> None:
    out = run("search", "@NP ?< DT=article", trees, "--format", "tsv").out
    assert out.splitlines() == [
        "file\ttree\tnode\tlabel\tstart\tend\tleft\ttext\tright\tarticle",
        "trees.mrg\t1\t3\tNP-SBJ\t0\t2\t\tthe cat\tsaw a gull .\tthe",
        "trees.mrg\t1\t11\tNP\t3\t5\tthe cat saw\ta gull\t.\ta",
        "trees.mrg\t2\t2\tNP-SBJ\t0\t1\t\tgulls\tfly\t",
        "trees.mrg\t2\t8\tNP\t2\t3\tgulls fly\t*T*\t\t",
    ]


def test_brackets_from_standard_input(run: Run, work_folder: Path) -> None:
    out = run("search", "NP|gulls", "-", "--format", "brackets", stdin=TREES).out
    assert out.splitlines() == ["(NP (DT a) (NN gull))", "gulls", "(NP (-NONE- *T*))"]
    assert run("search", "NP", stdin=TREES).out.startswith("<stdin>:1:\t")


def test_text_is_parsed_on_the_way(run: Run, work_folder: Path) -> None:
    Path("text.txt").write_text("a b c\n\nd e\n")
    status, out, _ = run("search", "/^[a-e]$/", "text.txt", "--model", "fake", "--tokenized", "--count")
    assert (status, out) == (0, "5\n")


def test_colours_on_a_terminal(run: Run, trees: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from spectralnlp_trees import search
    from spectralnlp_trees.tregex.show import Place, Style, as_brackets, as_text

    from spectralnlp.trees import read_brackets

    (tree,) = read_brackets(["(S (NP (NN tea)) (VP (VBZ cools)))"])
    (match,) = search([tree], "S < NP=n")
    place, style = Place("f", 1, tree), Style(colour=True)
    assert as_text(match, place, style) == "f:1:\t\x1b[1;31mS tea cools\x1b[0m\tn=tea"
    assert as_brackets(match, place, style) == (
        "(\x1b[1;31mS\x1b[0m (\x1b[36mNP\x1b[0m (NN tea)) (VP (VBZ cools)))"
    )


def test_macros_and_labels_that_begin_with_a_sign(run: Run, trees: str) -> None:
    assert run("search", "--count", "--", "-NONE- < *T*", trees).out == "1\n"
    Path("macros").write_text("NOUN\tNN|NNS\n")
    assert run("search", "@NP < NOUN", trees, "--count", "--macros", "macros").out == "3\n"
    Path("macros").write_text("NOUN NN|NNS\n")
    status, out, err = run("search", "@NP < NOUN", trees, "--count", "--macros", "macros")
    assert (status, out) == (2, "")
    assert "macros:1: not a row of macros; a row is" in err


def test_a_bad_pattern(run: Run, trees: str) -> None:
    status, out, err = run("search", "NP < (VP", trees)
    assert (status, out) == (2, "")
    assert err == "NP < (VP\n        ^\nspectralnlp: pattern, column 9: a closing ) is missing\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--format", "xml"],
            "no output format 'xml'; choose from table, tsv, csv, json, text, brackets, html",
        ),
        (["--tokenized"], "--tokenized is for text only; add --model NAME"),
        (["--head-rules", "none"], "no head rules are called 'none'; use english or neutral"),
        (["--reader", "none"], "none"),
    ],
)
def test_bad_options(run: Run, trees: str, arguments: list[str], message: str) -> None:
    status, out, err = run("search", "NP <# NN", trees, *arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_nothing_half_written(run: Run, trees: str) -> None:
    Path("bad.mrg").write_text("(S (NP (NN tea)")
    status, _, err = run("search", "NP", trees, "bad.mrg", "-o", "out.txt")
    assert status == 2
    assert "bad.mrg" in err
    assert not Path("out.txt").exists()
