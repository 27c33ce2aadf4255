"""Values that nobody would write by hand: they are refused in one line, wherever they stand."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import spectralnlp
from spectralnlp import changes
from spectralnlp.changes.adaptation import completion
from spectralnlp.cli.app import run
from spectralnlp.errors import ConfigError, ModelError, SpectralError
from spectralnlp.inference.trees.rescoring.tokens import hash_name
from spectralnlp.render.svg import draw_tree
from spectralnlp.runtime import parse_size
from spectralnlp.text.constraints import Constraints
from spectralnlp.text.conventions import Conventions
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree

LONG = "9" * 5000


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that is refused, and return its one line."""
    assert run(arguments) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert lines[-1].startswith("spectralnlp: ")
    assert max(map(len, lines)) < 1500
    return lines[-1]


@pytest.mark.parametrize(
    "pattern",
    [
        *(f"NP {sign}{digits} NN" for sign in ("<", "<-", ">", "<<<", "<<<-") for digits in (LONG, "9" * 24)),
        f"/a(b)/#{LONG}%x",
    ],
)
def test_numbers_of_patterns_have_few_digits(
    pattern: str, own_treebank: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(["search", pattern, str(own_treebank / "dev.mrg")], capsys)
    assert "a number of more than 9 digits" in said


def test_flags_of_expressions_agree(own_treebank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(["search", "/(?a)(?u)x/", str(own_treebank / "dev.mrg")], capsys)
    assert "invalid regular expression: ASCII and UNICODE flags are incompatible" in said


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--set", f"horizontal={'[' * 5000}"], "horizontal"),
        (["--encoding", "utf-8\0"], "no encoding is called"),
        (["--encoding", "x" * 5000], "no encoding is called"),
        (["--weight", f"dev.mrg={LONG}"], "a whole number N from 1"),
        (["--keep-words-above", LONG], "is not a valid int range"),
    ],
)
def test_settings_of_training(
    arguments: list[str],
    what: str,
    own_treebank: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    trained = ["train", "pcfg", str(own_treebank / "dev.mrg"), "-o", str(tmp_path / "m")]
    assert what in refused([*trained, *arguments], capsys)


@pytest.mark.parametrize(
    ("estimator", "setting", "limit"),
    [
        ("hmm", "history=1001", "1000"),
        ("hmm", "target=1001", "1000"),
        ("hmm-em", "iterations=1001", "1000"),
        ("eigenwords", "window=1001", "1000"),
        ("tagger", "epochs=1001", "1000"),
        ("intent", "C=1e7", "1000000"),
        ("rhmm", "n_states=9223372036854775808", "1000000"),
        ("lpcfg", "n_states=1000001", "1000000"),
        ("topics", "max_share=1e308", "1"),
    ],
)
def test_settings_beyond_their_limits_are_refused(
    estimator: str,
    setting: str,
    limit: str,
    own_treebank: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = str(own_treebank / "dev.mrg")
    line = refused(["train", estimator, data, "-o", str(tmp_path / "m"), "--set", setting], capsys)
    assert re.search(rf"at most {limit}\b", line)


def test_a_name_too_long_for_a_file_is_cut(
    own_treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trained = ["train", "tagger", str(own_treebank / "dev.mrg"), "-o", str(tmp_path / "m")]
    assert "File name too long" in refused([*trained, "--set", f"eigenwords={'x' * 5000}"], capsys)


def test_a_path_is_not_repeated_for_ever(capsys: pytest.CaptureFixture[str]) -> None:
    refused(["parse", "-m", "x" * 5000, "nowhere.txt"], capsys)


@pytest.mark.parametrize("size", [LONG, f"{LONG}GB", "1" + "0" * 24])
def test_sizes_of_memory_are_those_of_machines(size: str) -> None:
    with pytest.raises(ConfigError, match="more than any machine has"):
        parse_size(size)


def test_head_rules_are_looked_up_where_no_relation_needs_them(
    own_treebank: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["search", "NP < NN", str(own_treebank / "dev.mrg"), "--head-rules", "../../etc/passwd"]
    assert "no head rules are called" in refused(asked, capsys)


@pytest.mark.parametrize("options", [["--lang", "../../x"], ["--sentences", "9" * 22]])
def test_options_of_convert(
    options: list[str], own_treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("spacy")
    converted = ["convert", str(own_treebank / "dev.mrg"), "--to", "spacy", "-o", str(tmp_path / "x.spacy")]
    refused([*converted, *options], capsys)


def test_tags_of_constraints_are_of_tokens() -> None:
    with pytest.raises(SpectralError, match="no map from tokens to tags"):
        Constraints.from_json({"tags": {LONG: "NN"}})


@pytest.mark.parametrize("pair", [["(", ""], ["", ")"], [" ", ")"], ["( (", ")"]])
def test_forms_of_brackets_are_tokens(pair: list[str], parser: spectralnlp.Parser, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="of the form"):
        Conventions.from_dict({**Conventions().to_dict(), "round": pair})
    parser.save(tmp_path)
    header = json.loads((tmp_path / "model.json").read_text())
    header["metadata"]["conventions"]["round"] = pair
    (tmp_path / "model.json").write_text(json.dumps(header))
    with pytest.raises(ModelError, match=r"conventions\.round"):
        spectralnlp.load(tmp_path)


def test_half_characters_are_words() -> None:
    assert hash_name("a\ud800") != hash_name("a\ud801")
    parse = spectralnlp.load("en").parse_tokens(["a\ud800", "\udfff"])
    assert parse.tree.words() == ["a\ud800", "\udfff"]
    (raw,) = spectralnlp.load("en").parse("a\ud800 b")
    assert raw.sentence.words == ["a", "\ud800", "b"]


def test_pictures_hold_nothing_that_turns_the_text_around_it() -> None:
    tree = Tree("S", [Tree("NN\u202e", word="a\u202e\u2066b\u2069")])
    assert not set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") & set(draw_tree(tree))


# ---------------------------------------------------------------------------------------------------------
# Adaptation


@pytest.fixture(scope="module")
def parser(own_treebank: Path) -> spectralnlp.Parser:
    trained = spectralnlp.train("pcfg", own_treebank / "dev.mrg")
    assert isinstance(trained, spectralnlp.Parser)
    return trained


@pytest.mark.parametrize("weight", [np.nan, np.inf, -np.inf, 1e308, 0.0, -1.0])
def test_weights_are_numbers_of_times(own_treebank: Path, weight: float) -> None:
    trees = spectralnlp.read_treebank(own_treebank / "dev.mrg")
    estimator = spectralnlp.PCFG()
    general = changes.moments_of(estimator, trees)
    with pytest.raises(ConfigError, match="a weight must be above 0 and at most 1,000,000"):
        changes.adapt(estimator, general, trees, weight=weight)
    with pytest.raises(ConfigError, match="a weight must be above 0"):
        changes.adapt_without_treebank(spectralnlp.load("en"), list(trees), weight=weight)


def test_only_parsers_are_adapted(
    own_treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trees, model = str(own_treebank / "dev.mrg"), str(tmp_path / "hmm")
    assert run(["train", "hmm", trees, "-o", model, "--keep-moments", "--set", "n_states=2"]) == 0
    assert "only parsers can be adapted" in refused(["adapt", model, trees, "-o", f"{model}2"], capsys)


@pytest.mark.parametrize("has_trees", [True, False])
def test_a_sentence_without_a_likely_tree_has_no_completions(
    has_trees: bool, parser: spectralnlp.Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of 3,000 times one word: every probability is too small for a float."""
    likeliest = completion.likeliest_trees
    monkeypatch.setattr(
        completion,
        "likeliest_trees",
        lambda *given: [(0.0, choice) for _, choice in likeliest(*given) if has_trees],
    )
    assert completion.completions(parser, Sentence.from_words(["the", "keeper"])) == []


@pytest.mark.parametrize("below", ["", "model"])
def test_a_link_to_itself_is_no_place_for_a_model(
    below: str, own_treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    trees, place = str(own_treebank / "dev.mrg"), str(tmp_path / "loop" / below)
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("1,2\n3,4\n")
    for arguments in (
        ["train", "pcfg", trees, "-o", place],
        ["train", "pcfg", trees, "-o", str(tmp_path / "model"), "--checkpoint", place],
        ["sketch", str(numbers), "-o", place],
    ):
        assert "the link leads to itself" in refused(arguments, capsys)
