"""``evaluate --raw``: a parser on the raw text of gold trees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import spectralnlp
from spectralnlp.cli.app import run
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.models.parser import Parser
from spectralnlp.scoring import RawReport
from spectralnlp.tasks.parsing import ParsingTask


@pytest.fixture(scope="module")
def parser(own_treebank: Path) -> Parser:
    model: Parser = spectralnlp.train("pcfg", own_treebank / "train.mrg")
    return model


def test_raw_text_is_scored_as_gold_tokens_are_where_both_agree(parser: Parser, own_treebank: Path) -> None:
    gold = own_treebank / "dev.mrg"
    raw, evalb = spectralnlp.evaluate(parser, gold, raw=True), spectralnlp.evaluate(parser, gold)
    assert isinstance(raw, RawReport)
    flat, expected = raw.to_flat_dict(), evalb.to_flat_dict()
    assert flat["token_f1"] == flat["boundary_f1"] == 100
    assert flat["f1"] == expected["f1"]
    assert flat["tag_f1"] == pytest.approx(expected["accuracy"])
    assert flat["sentences"] == flat["predicted_sentences"] == expected["sentences"]


def test_other_sentences_and_tokens(parser: Parser, tmp_path: Path) -> None:
    gold = tmp_path / "gold.mrg"
    gold.write_text(  # a heading without a stop, and a word that the tokeniser cuts
        "(TOP (NP (DT the) (NN ship)))\n"
        "(TOP (S (NP (DT the) (NN don't)) (VP (VBZ climbs) (NP (DT the) (NNS stairs))) (. .)))\n"
    )
    flat = spectralnlp.evaluate(parser, gold, raw=True).to_flat_dict()
    assert (flat["sentences"], flat["predicted_sentences"], flat["boundary_recall"]) == (2, 1, 0)
    assert (flat["tokens"], flat["predicted_tokens"], flat["token_f1"]) == (
        8,
        9,
        pytest.approx(100 * 14 / 17),
    )


def test_files_are_documents(parser: Parser, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.mrg").write_text("(TOP (NP (DT the) (NN ship)))\n")
    flat = spectralnlp.evaluate(parser, tmp_path, raw=True).to_flat_dict()
    assert (flat["sentences"], flat["predicted_sentences"], flat["boundary_f1"]) == (2, 2, 0.0)


def test_refusals(parser: Parser, own_treebank: Path) -> None:
    with pytest.raises(ConfigError, match="exclude each other"):
        spectralnlp.evaluate(parser, own_treebank / "dev.mrg", raw=True, predicted_tags=True)
    with pytest.raises(InputError, match="no trees"):
        ParsingTask().evaluate(parser, spectralnlp.InMemoryCorpus([]), raw=True)


def test_command(
    parser: Parser, own_treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parser.save(tmp_path / "model")
    arguments = ["evaluate", str(tmp_path / "model"), str(own_treebank / "dev.mrg"), "--raw"]
    assert run([*arguments, "--jobs", "2"]) == 0
    assert "RAW|prm:COLLINS|tags:gold|spans:characters" in capsys.readouterr().out
    assert run([*arguments, "--format", "json", "--against", str(tmp_path / "model")]) == 0
    assert json.loads(capsys.readouterr().out)["f1_delta"] == 0
    assert run([*arguments, "--predicted-tags"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("spectralnlp: --raw and --predicted-tags exclude each other")
    assert error.count("\n") == 1
