"""Counts held against the output of the real EVALB, sentence by sentence."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from spectralnlp.scoring import EvalbScore, score_trees
from spectralnlp.trees.tree import Tree

pytestmark = pytest.mark.corpus

SHARED = Path(os.environ.get("SPECTRALNLP_SHARED", Path(__file__).parents[3] / "shared"))
GOLDEN = SHARED / "golden" / "evalb"
SETS = [("wsj-dev", "berkeley-sm5"), ("gum-dev", "berkeley-sm4")]

Read = Callable[[str], list[Tree]]


def read_file(read_trees: Read, *parts: str) -> list[Tree]:
    return read_trees((GOLDEN / ".".join([*parts, "mrg"])).read_text(encoding="utf-8"))


def summary_lines(score: EvalbScore) -> list[str]:
    """EVALB's summary, number by number."""
    numbers = [score.sentences, score.errors, score.skipped, score.valid]
    ratios = [
        *(score.recall, score.precision, score.f1, score.complete_match),
        *(score.average_crossing, score.no_crossing, score.two_or_less_crossing, score.tagging_accuracy),
    ]
    return [*map(str, numbers), *(f"{ratio:.2f}" for ratio in ratios)]


@pytest.mark.parametrize(("corpus", "parser"), SETS)
def test_every_sentence_and_both_summaries_equal_evalb(read_trees: Read, corpus: str, parser: str) -> None:
    output = (GOLDEN / f"{corpus}.{parser}.goldtags.evalb.txt").read_text(encoding="utf-8").splitlines()
    report = score_trees(
        read_file(read_trees, corpus, "gold"),
        read_file(read_trees, corpus, parser, "goldtags"),
        tags="predicted",
    )
    assert list(report.sentence_lines()) == [line for line in output if re.match(r" *\d+ +\d+ +\d ", line)]
    summary = [line.rpartition("=")[2].strip() for line in output if re.match(r"[\w ]+ = +[\d.]+$", line)]
    assert summary_lines(report.overall) + summary_lines(report.short) == summary


@pytest.mark.parametrize(("corpus", "parser"), SETS)
def test_gold_tags_put_into_the_raw_prediction_give_the_same_brackets(
    read_trees: Read, corpus: str, parser: str
) -> None:
    gold = read_file(read_trees, corpus, "gold")
    prepared = score_trees(gold, read_file(read_trees, corpus, parser, "goldtags"), tags="predicted")
    raw = score_trees(gold, read_file(read_trees, corpus, parser))
    assert [replace(c, correct_tags=c.words) for c in raw.counts] == list(prepared.counts)
    assert 90 < raw.overall.tagging_accuracy < 100


@pytest.mark.parametrize(("corpus", "parser"), SETS)
def test_the_treebank_as_distributed_scores_like_the_cleaned_one(
    read_trees: Read, corpus: str, parser: str
) -> None:
    """Traces, function tags and outer brackets need no cleaning; X over X does, for EVALB counts both."""
    files = sorted((SHARED / "corpora" / "treebanks" / corpus[:3] / "dev").iterdir())
    raw = [tree for file in files for tree in read_trees(file.read_text(encoding="utf-8"))]
    clean, predicted = read_file(read_trees, corpus, "gold"), read_file(read_trees, corpus, parser)
    pairs = zip(score_trees(raw, predicted).counts, score_trees(clean, predicted).counts, strict=True)
    doubled = 0
    for of_raw, of_clean in pairs:
        doubled += of_raw.gold - of_clean.gold
        assert replace(of_raw, gold=of_clean.gold) == of_clean
    assert doubled == {"wsj-dev": 5, "gum-dev": 35}[corpus]
