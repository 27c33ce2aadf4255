"""What readers say beside trees, and what few files have."""

from __future__ import annotations

from pathlib import Path

import pytest

from spectralnlp.errors import InputError
from spectralnlp.trees import ReadingChanges, from_nltk_corpus, read_trees, recognise


def test_counts_of_crossing_branches_add_up_and_are_said_in_a_line() -> None:
    both = ReadingChanges(trees=10, discontinuous=2) + ReadingChanges(trees=5, discontinuous=1)
    assert both == ReadingChanges(trees=15, discontinuous=3)
    assert str(both).startswith("3 of 15 trees with crossing branches made continuous: ")
    assert "\n" not in str(both)


def test_only_the_beginning_of_a_file_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "long.mrg"
    path.write_text("(S (NP (DT a)) (X " + "(NN b) " * 100_000 + "))\n")
    assert recognise(path)
    (tree,) = read_trees(path)
    assert len(tree.words()) == 100_001


def test_what_is_no_corpus_or_no_tree_is_refused() -> None:
    with pytest.raises(InputError, match=r"a list has no parsed_sents\(\)"):
        list(from_nltk_corpus([]))

    class Corpus:
        def fileids(self) -> list[str]:
            return ["a"]

        def parsed_sents(self, name: str | None = None) -> list[object]:
            return ["no tree"]

    with pytest.raises(InputError, match="a str is no constituency tree"):
        list(from_nltk_corpus(Corpus(), "a"))
    bad: list[InputError] = []
    assert list(from_nltk_corpus(Corpus(), "a", bad.append)) == []
    assert [(error.path, error.sentence) for error in bad] == [("a", 1)]
