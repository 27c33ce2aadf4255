"""``warm-up``, and the made-up data that it trains on."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import spectralnlp
from spectralnlp import registry
from spectralnlp.cli.app import run
from spectralnlp.cli.kernels import compiling_ahead
from spectralnlp.render import renderer

COMMAND = [sys.executable, "-c", "from spectralnlp.cli import main; raise SystemExit(main())"]


@pytest.mark.parametrize("name", registry.estimators.names())
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_estimator_learns_from_the_sample_of_its_task(name: str, tmp_path: Path) -> None:
    estimator = registry.estimators.get(name)
    task = registry.tasks.get(estimator.task)()
    task.warm_up(spectralnlp.train(estimator, task.write_sample(tmp_path)))


def test_nothing_is_collected_while_kernels_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    second = [sys.executable, "-c", ""]
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda command, **options: popen(second, **options))
    with compiling_ahead("en") as start:
        assert gc.isenabled()
        start()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_second_process_takes_no_module_from_the_current_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "json.py").write_text("open('taken', 'w')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    started = []
    popen = subprocess.Popen

    def start(command: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
        started.append(popen(command, **{**options, "stderr": subprocess.PIPE}))
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", start)
    with compiling_ahead("none-such") as compile_ahead:
        compile_ahead()
        assert b"none-such" in started[0].communicate()[1]
    assert not Path("taken").exists()


def test_parses_leave_nothing_to_collect() -> None:
    """`compiling_ahead` relies on this: there the collector waits until all sentences are parsed."""
    parser = spectralnlp.load_parser("en")
    text = Path("corpora/text/lighthouse.txt").read_text(encoding="utf-8")[:1000]
    forms = [renderer(name) for name in ("ptb", "json", "svg", "pretty")]
    shown = [form(parse, True) for parse in parser.parse(text) for form in forms]
    gc.collect()
    gc.disable()
    try:
        again = [form(parse, True) for parse in parser.parse(text) for form in forms]
        assert (gc.collect(), again) == (0, shown)
    finally:
        gc.enable()


def test_a_folder_and_a_model_that_is_none(
    own_treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "model")
    spectralnlp.train("pcfg", own_treebank / "train.mrg").save(folder)
    assert run(["warm-up", folder]) == 0
    assert run(["warm-up", folder]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"{folder}: ready"
    assert run(["warm-up", "none-such"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)


@pytest.mark.slow
def test_nothing_is_compiled_after_it(own_treebank: Path, tmp_path: Path) -> None:
    spectralnlp.train("lpcfg", own_treebank / "train.mrg").save(tmp_path / "model")
    model = ["-m", str(tmp_path / "model")]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def called(*arguments: str) -> tuple[str, str]:
        done = subprocess.run(
            [*COMMAND, *arguments], input="She saw it.\n", text=True, capture_output=True, env=environment
        )
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    assert "kernels compiled" in called("warm-up", model[1])[0]
    for options in ([], ["--k", "2"], ["--decoder", "max-rule"], ["--tokenized", "--format", "json"]):
        trees, said = called("parse", *model, *options)
        assert trees
        assert said == ""
