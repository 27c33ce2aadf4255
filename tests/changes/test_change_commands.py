from __future__ import annotations

import hashlib
import json
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from change_runs import Run
from safetensors.numpy import save_file

from spectralnlp.changes.ledger import new_salt
from spectralnlp.runtime.replay_logs import unpack_names
from spectralnlp.storage import load_kept_moments
from spectralnlp.text.blocks import TextFiles

MODEL = ("arrays.safetensors", "model.json", "README.md")


def same_model(left: Path, right: Path) -> bool:
    return all((left / name).read_bytes() == (right / name).read_bytes() for name in MODEL)


def refused(outcome: tuple[int, str, str], *parts: str) -> None:
    status, _, err = outcome
    assert status == 2
    assert err.count("\n") == 1
    for part in parts:
        assert part in err, err


@pytest.fixture
def model(run: Run, trees: list[Path], tmp_path: Path) -> Path:
    """A parser of all the trees, with moments."""
    assert run("train", "pcfg", *trees, "-o", tmp_path / "model", "--keep-moments").status == 0
    return tmp_path / "model"


def test_forget_and_update_write_in_place_or_elsewhere(
    run: Run, model: Path, trees: list[Path], tmp_path: Path
) -> None:
    run("train", "pcfg", *trees[:2], "-o", tmp_path / "never", "--set", "vertical=1")
    before = (model / "moments.safetensors").read_bytes()
    status, out, err = run("forget", model, trees[2], "-o", tmp_path / "forgot")
    assert (status, err) == (0, "")
    assert f"{tmp_path / 'forgot'}: 2 files" in out
    assert "observed in 0." in out
    assert same_model(tmp_path / "forgot", tmp_path / "never")
    assert (model / "moments.safetensors").read_bytes() == before

    assert run("update", tmp_path / "forgot", trees[2]).status == 0
    assert same_model(tmp_path / "forgot", model)
    assert sorted(each.name for each in (tmp_path / "forgot").iterdir()) == [
        "README.md",
        "arrays.safetensors",
        "model.json",
        "moments.json",
        "moments.safetensors",
    ]


def test_merge_joins_models(run: Run, model: Path, trees: list[Path], tmp_path: Path) -> None:
    for name, files in (("a", trees[:1]), ("b", trees[1:2]), ("c", trees[2:])):
        run("train", "pcfg", *files, "-o", tmp_path / name, "--keep-moments")
    parts = [tmp_path / name for name in "abc"]
    assert run("merge", *parts, "-o", tmp_path / "abc").status == 0
    assert same_model(tmp_path / "abc", model)
    refused(run("merge", parts[0], "-o", tmp_path / "alone"), "two or more")
    refused(run("merge", model, model, "-o", tmp_path / "twice"), "in more than one of the models: 3 files")
    run("train", "pcfg", trees[2], "-o", tmp_path / "other", "--keep-moments", "--set", "vertical=2")
    refused(run("merge", parts[0], tmp_path / "other", "-o", tmp_path / "both"), "vertical (1 and 2)")
    assert not (tmp_path / "both").exists()


def test_the_ledger_names_what_it_refuses(run: Run, model: Path, trees: list[Path], tmp_path: Path) -> None:
    stranger = tmp_path / "stranger.mrg"
    stranger.write_text("(S (NN nobody))\n")
    before = (model / "model.json").read_bytes()
    refused(run("forget", model, trees[0], stranger), str(stranger), "not in the model", "1 among 2 files")
    refused(run("update", model, stranger, trees[1]), str(trees[1]), "in the model already", "--add-known")
    refused(run("forget", model, *trees), "nothing would be left")
    refused(run("forget", model, tmp_path / "missing.mrg"), "no such file")
    assert (model / "model.json").read_bytes() == before
    assert run("update", model, trees[1], "--add-known").status == 0
    assert run("forget", model, trees[1]).status == 0
    refused(run("forget", model, trees[1]), "not in the model")


def test_whitespace_makes_no_other_document(run: Run, model: Path, trees: list[Path], tmp_path: Path) -> None:
    spread = tmp_path / "spread.mrg"
    spread.write_text(trees[0].read_text().replace(" (", "\n   ("))
    assert run("forget", model, spread, "-o", tmp_path / "forgot").status == 0


def test_documents_are_lines_of_text_or_files(run: Run, lines: Path, tmp_path: Path) -> None:
    settings = ("--set", "n_states=3", "--keep-moments")
    by_line, by_file = tmp_path / "by-line", tmp_path / "by-file"
    assert run("train", "hmm", lines, "-o", by_line, *settings).status == 0
    assert run("train", "hmm", lines, "-o", by_file, *settings, "--documents", "file").status == 0
    assert same_model(by_line, by_file)
    all_lines = lines.read_text().splitlines(keepends=True)
    gone, left = tmp_path / "gone.txt", tmp_path / "left.txt"
    gone.write_text("".join(all_lines[3:6]))
    left.write_text("".join(all_lines[:3] + all_lines[6:]))
    run("train", "hmm", left, "-o", tmp_path / "never", "--set", "n_states=3")
    refused(run("forget", by_file, gone), "not in the model, the first of 1 among 1 file")
    assert run("forget", by_line, gone).status == 0
    assert same_model(by_line, tmp_path / "never")
    refused(run("forget", by_line, gone), f"{gone} (sentence 1)", "3 among 3 lines")


def test_text_is_read_as_it_was_at_first(run: Run, tmp_path: Path) -> None:
    """A line with no marks to go by is not taken for tokenised text where the rest was not."""
    text, gone, left = tmp_path / "text.txt", tmp_path / "gone.txt", tmp_path / "left.txt"
    kept = ["The cat, it saw. The dog, it heard.\n"] * 4 + ["The cat: saw; the dog!\n"] * 2
    text.write_text("".join([*kept, "well-known (and loved)\n"]))
    gone.write_text("well-known (and loved)\n")
    left.write_text("".join(kept))
    settings = ("--set", "dimensions=2", "--set", "min_count=1")
    assert run("train", "eigenwords", text, "-o", tmp_path / "all", "--keep-moments", *settings).status == 0
    run("train", "eigenwords", left, "-o", tmp_path / "never", *settings)
    outcome = run("forget", tmp_path / "all", gone)
    assert outcome.status == 0, outcome.err
    assert same_model(tmp_path / "all", tmp_path / "never")


@pytest.mark.parametrize("unit", ["line", "file"])
def test_a_large_file_that_is_read_in_parts_is_the_same_documents(
    unit: str, run: Run, lines: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ("--set", "dimensions=2", "--set", "min_count=1")
    keep = ("--keep-moments", "--documents", unit)
    more, strange = tmp_path / "more.txt", tmp_path / "strange.txt"
    more.write_text("every cat sleeps .\nno dog sleeps .\n")
    strange.write_text(lines.read_text() + "never heard of .\n")
    run("train", "eigenwords", lines, "-o", tmp_path / "whole", *settings, *keep)
    monkeypatch.setattr("spectralnlp.tasks.vectors.TextFiles", partial(TextFiles, large=100))
    run("train", "eigenwords", lines, more, "-o", tmp_path / "parts", *settings, *keep)
    n = len(lines.read_text().splitlines()) + 1 if unit == "line" else 1
    where = f"{strange} (sentence {n})" if unit == "line" else str(strange)
    refused(run("forget", tmp_path / "parts", strange), f"{where}: not in the model")
    assert run("forget", tmp_path / "parts", more).status == 0
    assert same_model(tmp_path / "parts", tmp_path / "whole")


def test_info_tells_the_class_and_what_is_kept(
    run: Run, model: Path, trees: list[Path], tmp_path: Path
) -> None:
    out = run("info", model).out
    assert "incremental update  exact" in out
    assert "kept, of 3 documents (files)" in out
    run("train", "pcfg", *trees, "-o", tmp_path / "plain")
    out = run("info", tmp_path / "plain").out
    assert "incremental update  exact" in out
    assert "not kept" in out


def test_models_without_moments_and_heads_refuse(run: Run, trees: list[Path], tmp_path: Path) -> None:
    run("train", "pcfg", *trees, "-o", tmp_path / "plain")
    refused(run("update", tmp_path / "plain", trees[0]), "keeps no moments", "--keep-moments")
    refused(run("forget", tmp_path / "nowhere", trees[0]), "no model")
    text, output = tmp_path / "text.txt", tmp_path / "em"
    text.write_text("a b a b\nb a b\n" * 5, encoding="utf-8")
    refused(run("train", "hmm-em", text, "-o", output, "--keep-moments"), "hmm-em", "cannot keep moments")
    assert not output.exists()
    run("train", "hmm-em", text, "-o", output, "--set", "n_states=2")
    refused(run("forget", output, text), "cannot forget", "train it again")
    output = tmp_path / "another"
    refused(run("train", "pcfg", *trees, "-o", output, "--documents", "file"), "--keep-moments")
    arguments = ("train", "pcfg", *trees, "-o", output, "--keep-moments", "--documents", "line")
    refused(run(*arguments), "a document is a file for parsing, not a line")


def test_merging_names_all_that_differs(run: Run, lines: Path, trees: list[Path], tmp_path: Path) -> None:
    keep = ("--keep-moments", "-o")
    run("train", "hmm", lines, "--set", "n_states=2", *keep, tmp_path / "two")
    run("train", "hmm", lines, "--set", "n_states=3", "--set", "min_count=2", *keep, tmp_path / "three")
    run("train", "hmm", lines, "--set", "n_states=2", "--documents", "file", *keep, tmp_path / "files")
    run("train", "pcfg", trees[0], *keep, tmp_path / "pcfg")
    merge = ("merge", tmp_path / "two")
    refused(run(*merge, tmp_path / "three", "-o", tmp_path / "out"), "n_states (2 and 3), ", "min_count (")
    refused(run(*merge, tmp_path / "files", "-o", tmp_path / "out"), "what a document is ('line' and 'file')")
    refused(run(*merge, tmp_path / "pcfg", "-o", tmp_path / "out"), "by hmm and by pcfg")
    assert not (tmp_path / "out").exists()


def _truncate(model: Path) -> None:
    path = model / "moments.safetensors"
    path.write_bytes(path.read_bytes()[:-10])


def _flip(model: Path) -> None:
    path = model / "moments.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"\xff")


def _cut_json(model: Path) -> None:
    path = model / "moments.json"
    path.write_bytes(path.read_bytes()[:100])


def _rewrite(folder: Path, **changes: object) -> None:
    header = json.loads((folder / "moments.json").read_text())
    (folder / "moments.json").write_text(json.dumps(header | changes))


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (_truncate, "the file is truncated"),
        (_flip, "corrupt"),
        (_cut_json, "moments.json: truncated or corrupt"),
        (lambda model: _rewrite(model, format="other"), "moments.json: not the moments of a"),
        (lambda model: _rewrite(model, format_version=99), "moments of format 99"),
        (lambda model: _rewrite(model, model="0" * 64), "the moments belong to another model"),
        (lambda model: _rewrite(model, metadata={}), "value metadata.estimator is missing"),
        (lambda model: (model / "moments.json").unlink(), "without their moments.json"),
        (lambda model: (model / "moments.safetensors").unlink(), "moments.safetensors: cannot be read"),
    ],
)
def test_damaged_moments_are_refused_by_name(
    run: Run, model: Path, trees: list[Path], damage: object, complaint: str
) -> None:
    damage(model)  # type: ignore[operator]
    before = {each.name: each.read_bytes() for each in model.iterdir()}
    refused(run("forget", model, trees[0]), complaint)
    assert {each.name: each.read_bytes() for each in model.iterdir()} == before


def test_a_log_that_gives_a_word_an_inner_symbol_is_refused(run: Run, tmp_path: Path) -> None:
    model, trees = tmp_path / "lpcfg", tmp_path / "flat.mrg"
    trees.write_text("(S (A a) (B b) (C c) (D d))\n(S (A a) (B b) (C c) (D e))\n")
    run("train", "lpcfg", trees, "--set", "preset=tutorial", "--keep-moments", "-o", model)
    path = model / "moments.safetensors"
    kept = load_kept_moments(model)
    assert kept is not None
    arrays = kept[1].all()
    symbols = next(name for name in arrays if name.endswith(".symbols"))
    log = symbols.removesuffix("symbols")
    names = unpack_names(arrays[symbols])
    inner = next(number for number, name in enumerate(names) if name.startswith("@"))
    leaf = np.flatnonzero(arrays[f"{log}word"] >= 0)[0]  # of the first tree; the second has its symbol, too
    arrays[f"{log}symbol"][leaf] = inner
    save_file(arrays, path)
    raw = path.read_bytes()
    _rewrite(model, arrays={"size": len(raw), "sha256": hashlib.sha256(raw).hexdigest()})
    refused(run("forget", model, trees), "gives a word the symbol of a node that binarisation made")


def test_training_anew_without_moments_takes_them_away(run: Run, model: Path, trees: list[Path]) -> None:
    assert run("train", "pcfg", trees[0], "-o", model, "--overwrite").status == 0
    assert sorted(each.name for each in model.iterdir()) == sorted(MODEL)


def test_an_interrupted_training_goes_on_with_its_salt(run: Run, trees: list[Path], tmp_path: Path) -> None:
    bad = trees[2].read_text()
    trees[2].write_text("(S (NN a)\n")
    keep = ("--keep-moments", "--checkpoint", tmp_path / "c", "--set", "heads=english")
    arguments = ("train", "pcfg", *trees, "-o", tmp_path / "m", *keep)
    assert run(*arguments).status == 2
    salt = tmp_path / "c" / "pass-0" / "salt"
    drawn = salt.read_text()
    salt.write_text("no salt")
    assert "does not hold a salt" in run(*arguments).err
    salt.write_text(drawn)
    trees[2].write_text(bad)
    assert run(*arguments).status == 0
    header = json.loads((tmp_path / "m" / "moments.json").read_text())
    assert [drawn] == header["metadata"]["documents"]["salts"]
    assert not (tmp_path / "c").exists()


def test_salts_differ(run: Run, model: Path, trees: list[Path], tmp_path: Path) -> None:
    assert new_salt() != new_salt()
    run("train", "pcfg", *trees, "-o", tmp_path / "again", "--keep-moments")
    assert same_model(tmp_path / "again", model)
    assert (tmp_path / "again" / "moments.json").read_bytes() != (model / "moments.json").read_bytes()


def test_a_model_folder_with_moments_moves(run: Run, model: Path, trees: list[Path], tmp_path: Path) -> None:
    shutil.move(model, tmp_path / "moved")
    assert run("forget", tmp_path / "moved", trees[0]).status == 0
