"""Labels and tags renamed by a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from spectralnlp import read_treebank
from spectralnlp.errors import InputError
from spectralnlp.trees import Tree, read_brackets
from spectralnlp.trees.renaming import Renaming, read_renaming

EN_MAP = Path(__file__).parents[2] / "grammars" / "en.map"


def tree_of(text: str) -> Tree:
    return next(iter(read_brackets([text])))


@pytest.mark.parametrize(
    ("rows", "before", "after"),
    [
        (["label\tNML\tNP"], "(NP (DT a) (NML (JJ b) (NN c)))", "(NP (DT a) (NP (JJ b) (NN c)))"),
        (["tag\tTO\tIN\tparent=PP"], "(VP (TO to) (PP (TO to)))", "(VP (TO to) (PP (IN to)))"),
        (["tag\tIN\tTO\tword=to"], "(S (IN To) (PP (IN of)))", "(S (TO To) (PP (IN of)))"),
        (
            ["label\tNP\tWHNP\tchild=WP"],
            "(X (NP (WP who)) (NP (WP a) (NN b)))",
            "(X (WHNP (WP who)) (NP (WP a) (NN b)))",
        ),
        # Conditions look at what was there, and the first row that fits decides.
        (["label\tA\tB", "label\tC\tD\tparent=A"], "(A (C (T w)))", "(B (D (T w)))"),
        (["tag\tT\tU\tword=x", "tag\tT\tV"], "(A (T x) (T y))", "(A (U x) (V y))"),
        # A label of phrases is no tag, and what now repeats its only child goes.
        (["label\tT\tU"], "(A (T x) (T (T y)))", "(A (T x) (U (T y)))"),
        (["label\tB\tA"], "(S (A (B (T x))) (T y))", "(S (A (T x)) (T y))"),
        (["label\tS\tTOP"], "(S (T x) (T y))", "(TOP (T x) (T y))"),
    ],
)
def test_rows_rename(rows: list[str], before: str, after: str) -> None:
    assert str(Renaming(rows).rename(tree_of(before))) == after


def test_uses_are_counted_by_line() -> None:
    renaming = Renaming(["# of Penn", "", "label\tNML\tNP", "tag\tQQ\tNN"])
    assert renaming.uses(tree_of("(NP (NML (NN a)) (NML (NN b)))")) == {3: 2}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("label NML NP", "no row of a table of renamings: 'label NML NP'"),
        ("label\tNML", "no row of a table"),
        ("label\tNML\tNP\tparent=A\tchild=B", "no row of a table"),
        ("word\ta\tb", "label or a tag, not of 'word'"),
        ("label\tNML\tN P", "no name of a label: 'N P'"),
        ("tag\tNN\t(", "no name of a tag"),
        ("tag\tNN\tNP\tchild=A", "no condition on a tag: 'child=A'; there are parent and word"),
        ("label\tNN\tNP\tparent", "no condition on a label"),
        ("# nothing", "the table of renamings is empty"),
    ],
)
def test_bad_tables_are_refused_in_one_line(line: str, message: str, tmp_path: Path) -> None:
    table = tmp_path / "en.map"
    table.write_text(f"# a table\n{line}\n")
    with pytest.raises(InputError) as caught:
        read_renaming(table)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(table) in str(caught.value)


def test_the_table_of_english_is_one() -> None:
    assert len(Renaming(read_renaming(EN_MAP)).rows) > 5


@pytest.mark.corpus
def test_every_row_of_the_table_of_english_renames_something(shared: Path) -> None:
    renaming = Renaming(read_renaming(EN_MAP))
    unused = {row.line for row in renaming.rows}
    for name in ("gum", "masc", "craft", "wsj"):
        for tree in read_treebank(
            shared / "corpora" / "treebanks" / name / "train", on_bad=lambda error: None
        ):
            unused -= renaming.uses(tree).keys()
    assert not unused
