"""``--tagger none``, and the tagger that a model names, on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from spectralnlp.cli.app import run
from spectralnlp.cli.remote import ParseToText


def test_fixed_tags_of_no_tagger_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["parse", "--fixed-tags", "--tagger", "none"]) == 2
    assert "--fixed-tags needs a tagger" in capsys.readouterr().err


def test_only_a_parser_can_do_without_a_tagger(
    own_treebank: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = str(own_treebank / "dev.mrg")
    assert run(["evaluate", "en-tagger", gold, "--tagger", "none"]) == 2
    assert "en-tagger is a model for tagging, which listens to no tagger" in capsys.readouterr().err


def test_workers_must_have_the_models_own_tagger() -> None:
    assert ParseToText("en", "").models() == ["en", "en-tagger"]
    assert ParseToText("en", "", tagger="none").models() == ["en"]
    assert ParseToText("en-biomedical", "").models() == ["en-biomedical"]
