"""Several treebanks at once: weights, tables of renamings, what only one of them has."""

from __future__ import annotations

from pathlib import Path

import pytest

import spectralnlp
from spectralnlp.cli import app
from spectralnlp.errors import ConfigError, InputError, SpectralError
from spectralnlp.estimators.shared.treebank import Treebank
from spectralnlp.runtime import accumulate
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.tasks.several_treebanks import sources_of
from spectralnlp.tasks.tagging import TaggingTask
from spectralnlp.trees import Binariser
from spectralnlp.trees.treelog import TreeLog

OWN = [f"(S (NP (DT the) (NN {noun})) (VP (VBD saw) (NP (PRP it))))" for noun in ("cat", "dog", "fox", "hen")]
OTHER = [f"(S (NP (AT the) (NML (NN {noun}))) (VP (VBD ran)))" for noun in ("cow", "owl")]


@pytest.fixture
def treebanks(tmp_path: Path) -> tuple[Path, Path]:
    """A folder of two files, and one of one."""
    a, b = tmp_path / "a", tmp_path / "b"
    a.mkdir()
    b.mkdir()
    (a / "1.mrg").write_text("\n".join(OWN[:2]))
    (a / "2.mrg").write_text("\n".join(OWN[2:]))
    (b / "1.mrg").write_text("\n".join(OTHER))
    return a, b


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "my.map"
    path.write_text("tag\tAT\tDT\nlabel\tNML\tNX\nlabel\tQQ\tNP\n")
    return path


def test_files_of_a_folder_are_one_treebank(treebanks: tuple[Path, Path]) -> None:
    a, b = treebanks
    by_file = sources_of([a / "1.mrg", b / "1.mrg", a / "2.mrg"], {})
    assert [(each.name, each.paths) for each in by_file] == [
        (a.as_posix(), [a / "1.mrg", a / "2.mrg"]),
        (b.as_posix(), [b / "1.mrg"]),
    ]
    assert sources_of([a, b], {str(b): 2})[1].weight == 2
    one = sources_of([a / "1.mrg", a / "2.mrg"], {f"{a}/2.mrg": 3})
    assert [(each.paths, each.weight) for each in one] == [([a / "1.mrg"], 1), ([a / "2.mrg"], 3)]


def test_a_tree_of_weight_two_counts_twice(treebanks: tuple[Path, Path], tmp_path: Path) -> None:
    a, b = treebanks
    weighted = spectralnlp.train("pcfg", [a, b], weights={b: 2}, vertical=0, closed_cells=False)
    trees = [*spectralnlp.read_treebank([a, b]), *spectralnlp.read_treebank(b)]
    listed = spectralnlp.train("pcfg", trees, vertical=0, closed_cells=False)
    for name, model in (("weighted", weighted), ("listed", listed)):
        model.save(tmp_path / name)
    ours, theirs = ((tmp_path / name / "arrays.safetensors").read_bytes() for name in ("weighted", "listed"))
    assert ours == theirs


def test_copies_of_a_document_are_one_that_counts_more(treebanks: tuple[Path, Path]) -> None:
    a, b = treebanks
    corpus = ParsingTask().read([a, b], weights={b.as_posix(): 3})
    trees = Treebank.of([accumulate(TreeLog(Binariser().to_dict()), corpus)])
    assert trees.first.n_trees == 4 + 3 * 2
    once = trees.without_copies()
    assert once.first.weight.tolist() == [1, 1, 1, 1, 3, 3]
    assert once.documents.tolist() == [0, 0, 1, 1, 2, 2]
    assert once.without_copies() is once
    same = Treebank.of([accumulate(TreeLog(Binariser().to_dict()), ParsingTask().read([a, b]))])
    assert once.first.words == same.first.words
    assert (once.first.symbol == same.first.symbol).all()


def test_the_first_treebank_decides_how_tokens_are_written(tmp_path: Path) -> None:
    first, second = tmp_path / "first.mrg", tmp_path / "second" / "trees.mrg"
    second.parent.mkdir()
    first.write_text("(S (NP (PRP I)) (VP (MD ca) (RB n't)) (-LRB- -LRB-) (UH oh) (-RRB- -RRB-))\n" * 3)
    second.write_text("(S (NP (PRP I)) (VP (MD can't)) (-LRB- [) (UH oh) (-RRB- ]))\n" * 9)
    for order, words in (([first, second], ["I", "ca", "n't"]), ([second, first], ["I", "can't"])):
        parser = spectralnlp.train("pcfg", order)
        assert parser.parse("I can't")[0].tree.words() == words


def test_what_only_one_has_is_reported(treebanks: tuple[Path, Path], table: Path) -> None:
    a, b = treebanks
    lines: list[str] = []
    spectralnlp.train("pcfg", [a, b], weights={b: 2}, report=lines.append)
    (sizes,) = (line for line in lines if line.startswith("2 treebanks: "))
    assert f"{a} 4 trees, {b} 2 trees × 2; tokens are written as in the first" in sizes
    assert sizes.endswith("sentence ends are learned from all")
    assert f"only in {b}: labels NML (2); tags AT (2); 3 rules, 75.0 % of its nodes" in lines
    lines.clear()
    spectralnlp.train("pcfg", [a, b], map=table, report=lines.append)
    assert "4 nodes renamed by 2 of 3 rows; nothing by line 3" in lines
    assert any(line.startswith(f"only in {b}: labels NX (2); tags none") for line in lines)


def test_another_language_and_other_labels_are_warned_of(own_treebank: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    other = tmp_path / "other.mrg"
    other.write_text("(SATZ (NOM (ART der) (N Hund)) (V bellt))\n")
    spectralnlp.train("pcfg", [own_treebank / "train.mrg", other], report=lines.append)
    assert any("100 % of the words of" in line and "another language" in line for line in lines)
    assert any("100 % of the phrases of" in line and "--map" in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["A", "B", "--weight", "C=2"], "a weight of no treebank: C"),
        (["A", "--weight", "A=-1"], "whole number N from 1, not 'A=-1'"),
        (["A", "--weight", "A=nan"], "whole number N from 1"),
        (["A", "--weight", "A=0.5"], "whole number N from 1"),
        (["A", "--weight", "A=0"], "must be a whole number from 1, not 0"),
        (["A", "--weight", "2"], "--weight takes INPUT=N"),
        (["A", "--map", "MAP"], "renames nothing: no tree has AT or another of its 3 names"),
        (["A", "--map", "A/1.mrg"], "no row of a table of renamings"),
        (["A", "--map", "missing"], "missing"),
    ],
)
def test_bad_weights_and_tables_are_refused_in_one_line(
    arguments: list[str],
    message: str,
    treebanks: tuple[Path, Path],
    table: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = {"A": "a", "B": "b", "MAP": "my.map", "A/1.mrg": "a/1.mrg"}
    monkeypatch.chdir(tmp_path)
    given = [names.get(each, each.replace("A=", "a=")) for each in arguments]
    status = app.run(["train", "pcfg", *given, "-o", "model"])
    printed = capsys.readouterr().err
    assert status == 2
    assert message.replace("A=", "a=") in printed
    assert printed.count("\n") == 1
    assert not Path("model").exists()


def test_data_in_memory_has_no_weights_and_other_tasks_no_tables(
    treebanks: tuple[Path, Path], table: Path
) -> None:
    trees = list(spectralnlp.read_treebank(treebanks[0]))
    with pytest.raises(ConfigError, match="weights is for files"):
        spectralnlp.train("pcfg", trees, weights={"a": 2})
    with pytest.raises(SpectralError, match="map means nothing to sequences"):
        spectralnlp.train("hmm", treebanks[0] / "1.mrg", map=table)
    with pytest.raises(ConfigError, match="must be a whole number"):
        spectralnlp.train("pcfg", treebanks[0], weights={treebanks[0]: float("nan")})  # type: ignore[dict-item]


def test_gold_trees_are_renamed_for_evaluation(treebanks: tuple[Path, Path], table: Path) -> None:
    parser = spectralnlp.train("pcfg", list(treebanks), map=table)
    assert spectralnlp.evaluate(parser, treebanks[1], map=table).to_flat_dict()["f1"] == 100
    assert spectralnlp.evaluate(parser, treebanks[1]).to_flat_dict()["f1"] < 100


def test_a_table_that_renames_nothing_is_refused_before_parsing(
    treebanks: tuple[Path, Path],
    table: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    own = treebanks[0]
    parser = spectralnlp.train("pcfg", own)
    parser.save(tmp_path / "model")
    monkeypatch.setattr(ParsingTask, "evaluate", lambda *_, **__: pytest.fail("parsed"))
    with pytest.raises(InputError, match="renames nothing"):
        spectralnlp.evaluate(parser, own, map=table)
    assert app.run(["evaluate", str(tmp_path / "model"), str(own), "--map", str(table)]) == 2
    printed = capsys.readouterr().err
    assert "renames nothing: no tree has AT or another of its 3 names" in printed
    assert printed.count("\n") == 1


def test_taggers_learn_renamed_tags_of_trees(tmp_path: Path) -> None:
    trees = tmp_path / "a.mrg"
    trees.write_text("(S (VP (VB go) (PP (TO to) (NP (NN bed)))))\n", encoding="utf-8")
    table = ["tag\tTO\tIN\tparent=PP"]
    (sentence,) = TaggingTask().read([trees], map=table)
    assert sentence.tagged(None)[1] == ("VB", "IN", "NN")
    text = tmp_path / "b.tagged"
    text.write_text("go_VB\n", encoding="utf-8")
    with pytest.raises(InputError, match="for trees"):
        TaggingTask().read([text], map=table)
