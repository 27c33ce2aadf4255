from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_fakes import Run

TREES = "(S (NN a) (VB b))\n(S (NN c))\n"


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.mrg"
    path.write_text(TREES)
    return path


def test_train_prints_its_configuration_and_its_passes_and_writes_a_model(
    run: Run, gold: Path, tmp_path: Path
) -> None:
    status, out, err = run("train", "copycat", gold, "-o", tmp_path / "model", "--dev", gold)
    assert (status, err) == (0, "")
    assert '[estimator]\nname = "copycat"\nstrength = 1.0\n' in out
    assert "counts 0.1 s" in out
    assert "EVALB|prm:COLLINS" in out
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == [
        "README.md",
        "arrays.safetensors",
        "model.json",
    ]


def test_preset_gives_way_to_config_and_config_to_set(run: Run, gold: Path, tmp_path: Path) -> None:
    config = tmp_path / "settings.cfg"
    config.write_text("[estimator]\nstrength = 5\ntrouble = some = of % it\n")
    arguments = ("train", "copycat", gold, "-o", tmp_path / "model", "--config", config)
    out = run(*arguments, "--set", "preset=strong", "--set", "trouble=a=b").out
    assert 'strength = 5\nn_states = 4\ntrouble = "a=b"\n' in out


def test_the_printed_configuration_is_read_back(run: Run, gold: Path, tmp_path: Path) -> None:
    arguments = ("train", "copycat", gold, "-o", tmp_path / "model")
    out = run(*arguments, "--set", "preset=strong", "--set", "trouble=50% of $it").out
    printed = out.partition("\n\n")[0]
    (tmp_path / "printed.cfg").write_text(printed)
    for name, text in (("printed.cfg", printed), ("whole.cfg", out), ("spaced.cfg", printed + "\n\n# end\n")):
        (tmp_path / name).write_text(text)
        again = run(*arguments, "--overwrite", "--config", tmp_path / name)
        assert again.status == 0
        assert again.out.partition("\n\n")[0] == printed


def test_a_model_is_replaced_only_where_that_was_asked_for(run: Run, gold: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    assert run("train", "copycat", gold, "-o", model).status == 0
    before = {each.name: each.read_bytes() for each in model.iterdir()}
    status, out, err = run("train", "copycat", gold, "-o", model, "--set", "strength=3")
    assert (status, out) == (2, "")
    assert err == f"spectralnlp: {model}: a model is here already; choose another folder, or --overwrite\n"
    assert {each.name: each.read_bytes() for each in model.iterdir()} == before
    (model / "README.md").unlink()
    assert run("train", "copycat", gold, "-o", model, "--overwrite").status == 0
    assert {each.name: each.read_bytes() for each in model.iterdir()} == before


def test_skip_bad_names_and_counts(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "gold.mrg"
    path.write_text("(S (NN a))\n(S (NP a) b)\n(S (NN b))\n")
    model = tmp_path / "model"
    assert run("train", "copycat", path, "-o", model).status == 2
    assert not model.exists()
    status, out, _ = run("train", "copycat", path, "-o", model, "--skip-bad")
    assert status == 0
    assert f"skipped {path}:2 (sentence 2)" in out
    assert "skipped 1 in all" in out


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("(S (NN a)\n", "unbalanced"),
        (")\n", "unbalanced"),
        ("", "no trees"),
        ("(S (NP a) b)\n", "leaf without a preterminal"),
        ("(S (NN a\0))\n", "NUL"),
    ],
)
def test_bad_trees_are_refused_and_no_folder_is_left(
    run: Run, tmp_path: Path, text: str, complaint: str
) -> None:
    path = tmp_path / "gold.mrg"
    path.write_text(text)
    status, _, err = run("train", "copycat", path, "-o", tmp_path / "model")
    assert status == 2
    assert complaint in err
    assert str(path) in err
    assert err.count("\n") == 1
    assert sorted(each.name for each in tmp_path.iterdir()) == ["gold.mrg", "site"]


@pytest.mark.parametrize(
    ("extra", "complaint"),
    [
        (["--set", "strenght=2"], "did you mean strength?"),
        (["--set", "n_states=many"], "n_states"),
        (["--set", "preset=weak"], "no preset 'weak'"),
        (["--set", "novalue"], "KEY=VALUE"),
        (["--config", "missing.cfg"], "missing.cfg: cannot read"),
        (["--config", "broken.cfg"], "broken.cfg: no configuration"),
        (["--config", "other.cfg"], "one section"),
        (["--reader", "nosuch"], "no reader is called"),
        (["--engine", "faraway"], "not installed"),
    ],
)
def test_bad_settings_are_refused_before_any_work(
    run: Run, gold: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extra: list[str], complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.cfg").write_text("no section = 1\n")
    (tmp_path / "other.cfg").write_text("[training]\nseed = 1\n")
    status, _, err = run("train", "copycat", gold, "-o", "model", *extra)
    assert status == 2
    assert complaint in err
    assert err.count("\n") == 1
    assert not (tmp_path / "model").exists()


def test_an_unwritable_folder_and_a_foreign_one_are_refused(run: Run, gold: Path, tmp_path: Path) -> None:
    for output in (gold / "model", gold, tmp_path):
        status, out, err = run("train", "copycat", gold, "-o", output)
        assert (status, out) == (2, "")
        assert err.count("\n") == 1
    assert gold.read_text() == TREES


def test_an_unknown_estimator_is_refused(run: Run, gold: Path, tmp_path: Path) -> None:
    assert "did you mean copycat" in run("train", "copycta", gold, "-o", tmp_path / "model").err


def test_interrupt(run: Run, gold: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    status, _, err = run("train", "copycat", gold, "-o", model, "--set", "trouble=interrupt")
    assert (status, err) == (130, "")
    assert not model.exists()


def test_help_lists_the_settings_and_presets_of_an_estimator(run: Run) -> None:
    status, out, err = run("train", "copycat", "--help")
    assert (status, err) == (0, "")
    general, _, settings = out.partition("Settings of copycat")
    assert "--keep-moments" in general
    lines = [" ".join(line.split()) for line in settings.splitlines()[1:] if line]
    assert lines == [
        "strength float; default 1.0. How much copying there is.",
        "n_states int, 1 or more; default 1. States.",
        "trouble str; default none. Trouble to make.",
        "Presets, for --set preset=NAME:",
        "strong strength=9.0 n_states=4",
    ]
    assert run("train", "-h", "copycat").out == out
    assert run("train", "--help").out == general.rstrip("\n") + "\n"


def test_help_on_an_unknown_estimator_is_refused(run: Run) -> None:
    assert run("train", "copyact", "--help") == (
        2,
        "",
        "spectralnlp: no estimator is called 'copyact'; did you mean copycat?\n",
    )


def test_help_on_an_estimator_imports_no_other(start: Callable[..., subprocess.Popen[str]]) -> None:
    code = (
        "import sys, spectralnlp.cli\n"
        "sys.argv = ['spectralnlp', 'train', 'copycat', '--help']\n"
        "assert spectralnlp.cli.main() == 0\n"
        "print('HEAVY:', *(name for name in ('numba', 'spacy', 'sklearn') if name in sys.modules))"
    )
    out, err = start(code=code).communicate(timeout=60)
    assert err == ""
    assert out.splitlines()[-1] == "HEAVY:"


@pytest.mark.slow
def test_training_says_how_a_parser_can_be_adapted(
    own_treebank: Path, work_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from spectralnlp.cli import app

    train = [
        "train",
        "lpcfg",
        str(own_treebank / "train.mrg"),
        "--set",
        "preset=fast",
        "-o",
        "model",
        "--overwrite",
    ]
    for more, told in ([], False), (["--set", "grammars=tensors"], True):
        assert app.run([*train, *more]) == 0
        assert ("train it with --keep-moments" in capsys.readouterr().err) == told
        assert app.run(["adapt", "model", str(own_treebank / "dev.mrg"), "-o", f"adapted {told}"]) == 2 * told
        capsys.readouterr()
    assert app.run([*train, *more, "--keep-moments"]) == 0
    assert "--keep-moments" not in capsys.readouterr().err
