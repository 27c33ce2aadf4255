from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from spectralnlp import __version__
from spectralnlp.errors import InputError
from spectralnlp.scoring import COLLINS, ParseReport, SentenceCounts, Status, score_trees
from spectralnlp.trees.tree import Tree

COUNTS = (
    SentenceCounts(length=50, matched=1, gold=2, test=4, crossing=3, words=10, correct_tags=9),
    SentenceCounts(length=10, matched=3, gold=3, test=3, words=10, correct_tags=10),
    SentenceCounts(length=10, status=Status.ERROR),
)
RATIOS = ["recall", "precision", "f1", "complete_match", "accuracy"]
RATIOS += ["crossing", "no_crossing", "two_or_less_crossing"]


def test_flat_dictionary() -> None:
    flat = ParseReport(COUNTS, failures=1, seconds=1.5).to_flat_dict()
    assert set(flat) == {
        *RATIOS,
        *(f"{key}_40" for key in RATIOS),
        *("sentences", "sentences_40", "failures", "errors", "skipped"),
        *("signature", "signature_40", "sentences_per_second"),
    }
    assert flat["f1"] == pytest.approx(100 * 8 / 12)
    assert (flat["f1_40"], flat["crossing"], flat["crossing_40"]) == (100, 1.5, 0)
    assert flat["accuracy"] == 95
    assert (flat["sentences"], flat["sentences_40"]) == (3, 2)
    assert (flat["errors"], flat["failures"], flat["skipped"]) == (1, 1, 0)
    assert flat["sentences_per_second"] == 2


def test_speed_is_left_out_where_it_is_not_known() -> None:
    assert "sentences_per_second" not in ParseReport(COUNTS).to_flat_dict()
    assert "sentences/s" not in ParseReport(COUNTS).to_table()


def test_the_cutoff_names_its_keys() -> None:
    flat = ParseReport(COUNTS, replace(COLLINS, name="long", cutoff_len=70)).to_flat_dict()
    assert flat["f1_70"] == flat["f1"]
    assert "f1_40" not in flat
    assert str(flat["signature_70"]).startswith("EVALB|prm:long#")


def test_signature() -> None:
    report = ParseReport(COUNTS, tags="predicted")
    assert report.signature == f"EVALB|prm:COLLINS|tags:predicted|len:all|v:{__version__}"
    assert report.to_flat_dict()["signature_40"] == f"EVALB|prm:COLLINS|tags:predicted|len:40|v:{__version__}"


def test_table() -> None:
    lines = ParseReport(COUNTS, failures=2, seconds=1.0).to_table().splitlines()
    assert lines[0].split() == ["all", "len<=40"]
    assert "F1                      66.67   100.00" in lines
    assert "  failures                  2" in lines
    assert lines[-1] == ParseReport(COUNTS).signature
    assert len({len(line) for line in lines[:9]}) == 1  # columns line up


def test_trees_are_counted_in_pairs(read_trees: Callable[[str], list[Tree]]) -> None:
    gold = read_trees("(S (NP (NN x))) (S (NN y)) (S (NN z))")
    report = score_trees(gold, [gold[0], None, gold[1]])
    assert [counts.status for counts in report.counts] == [Status.OK, Status.SKIP, Status.ERROR]
    assert report.overall.f1 == 100


def test_different_numbers_of_trees_are_refused(read_trees: Callable[[str], list[Tree]]) -> None:
    gold = read_trees("(S (NN x)) (S (NN y))")
    with pytest.raises(InputError, match=r"^sentence 2: 2 gold trees but 1 predicted trees; "):
        score_trees(gold, iter(gold[:1]))
