"""Annotations of training sentences: found by the words, and with errors in half of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from spectralnlp import registry
from spectralnlp.errors import InputError
from spectralnlp.estimators.parser.annotations import KnownAnnotations, with_errors
from spectralnlp.text.annotations import Annotations
from spectralnlp.trees import read_brackets

CONLLU = """1\t(\t_\t_\tX\t_\t2\tpunct\t_\t_
2\ta\t_\t_\tY\t_\t0\tROOT\t_\t_

1\t(\t_\t_\tZ\t_\t0\tROOT\t_\t_
2\ta\t_\t_\tZ\t_\t1\tdep\t_\t_

1\tb\t_\t_\tX\t_\t0\tROOT\t_\t_
"""


def test_they_are_found_by_the_words(tmp_path: Path) -> None:
    file = tmp_path / "parses.conllu"
    file.write_text(CONLLU)
    known = KnownAnnotations.read(str(file))
    assert (known.scheme.name, known.scheme.labels, known.scheme.tags) == (
        "parses.conllu",
        ("ROOT", "dep", "punct"),
        ("X", "Y", "Z"),
    )
    found = known.of_sentences([["b"], ["c"], ["-LRB-", "a"]])
    expected = Annotations([1, -1], ["punct", "ROOT"], ["X", "Y"])  # the first of the two
    assert found == [Annotations([-1], ["ROOT"], ["X"]), None, expected]
    with pytest.raises(InputError, match="none of the 1 sentences"):
        known.of_sentences([["c"]])
    file.write_text("# nothing\n")
    with pytest.raises(InputError, match="no annotated sentences"):
        KnownAnnotations.read([str(file)])
    with pytest.raises(InputError, match="missing"):
        KnownAnnotations.read([str(tmp_path / "missing.conllu")])


def test_errors_are_in_half_of_them() -> None:
    n_tokens = 20
    heads = [(token - 1) // 2 for token in range(n_tokens)]
    heads[0] = -1
    labels = [f"l{token}" for token in range(n_tokens)]
    plain = Annotations(heads, labels, labels)
    changed = with_errors([plain, None] * 500, 0)
    assert changed == with_errors([plain, None] * 500, 0)
    assert changed[1::2] == [None] * 500
    differ = [each for each in changed if each is not None and each != plain]
    assert 150 < len(differ) < 250  # few tokens change in some of the 250
    moved = [sum(a != b for a, b in zip(each.heads, heads, strict=True)) for each in differ]
    assert 1.0 < sum(moved) / len(moved) < 4.0
    assert all(each.heads[0] == -1 for each in differ)


def test_files_are_checked_before_anything_is_learned(tmp_path: Path) -> None:
    trees = list(read_brackets(["(S (X b))"])) * 500
    kind = registry.estimators.get("lpcfg")
    with pytest.raises(InputError, match="missing"):
        kind(annotations=str(tmp_path / "missing.conllu")).fit(trees)
    file = tmp_path / "parses.conllu"
    file.write_text(CONLLU)
    with pytest.raises(InputError, match="3 trees are too few for the span scorer, which alone uses"):
        kind(annotations=str(file)).fit(trees[:3])
    others = list(read_brackets(["(S (X c))"])) * 500
    with pytest.raises(InputError, match="none of the 500 sentences has annotations"):
        kind(annotations=str(file)).fit(others)
