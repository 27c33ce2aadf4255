"""``train``, ``update`` and ``forget`` on workers: moments are kept as in one process; killers are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask_killers
import numpy as np
import pytest

from spectralnlp.cli.app import run
from spectralnlp.runtime import FileCorpus
from spectralnlp.trees.readers import read_trees

pytest.importorskip("distributed")

pytestmark = pytest.mark.slow
SETTINGS = {
    "eigenwords": ("dimensions=3", "min_count=1"),
    "hmm": ("n_states=3",),
    "topics": ("n_topics=2", "min_documents=1", "max_share=1.0"),
    "pcfg": (),
    "lpcfg": ("n_states=2", "grammars=clusters", "binarisations=head"),
}


@pytest.fixture
def files(tmp_path: Path, own_treebank: Path, request: pytest.FixtureRequest) -> list[Path]:
    """Six files of text, or of trees for an estimator of grammars."""
    folder = tmp_path / "data"
    folder.mkdir()
    rng = np.random.default_rng(0)
    trees = [f"{each}\n" for each in read_trees(own_treebank / "train.mrg")]
    paths = [folder / f"{number}.txt" for number in range(6)]
    for number, path in enumerate(paths):
        if request.param.endswith("pcfg"):
            path.write_text("".join(trees[number::6]))
        else:
            rows = rng.zipf(1.5, size=(20, 6)).clip(max=26)
            path.write_text("".join(" ".join(chr(96 + n) * 3 for n in row) + "\n" for row in rows))
    return paths


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def done(*arguments: object) -> None:
    assert run([str(each) for each in arguments]) == 0


@pytest.mark.parametrize(("name", "files"), [(name, name) for name in SETTINGS], indirect=["files"])
def test_moments_kept_on_a_cluster_are_those_of_one_process(
    name: str, files: list[Path], scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spectralnlp.changes.operations.new_salt", lambda: "5a" * 16)
    settings = [part for each in SETTINGS[name] for part in ("--set", each)]
    found: list[list[dict[str, bytes]]] = []
    for where in ((), ("--scheduler", scheduler)):
        model = tmp_path / f"model{len(where)}"
        done("train", name, *files[:5], "-o", model, *settings, "--keep-moments", *where)
        stages = [bytes_of(model)]
        done("update", model, files[5], *where)
        stages.append(bytes_of(model))
        done("forget", model, *files[1:3], *where)
        found.append([*stages, bytes_of(model)])
    here, there = found
    assert {"moments.safetensors", "moments.json", "arrays.safetensors", "model.json"} < set(here[0])
    assert here[0]["moments.safetensors"] != here[1]["moments.safetensors"]
    for ours, theirs in zip(here, there, strict=True):
        assert ours == theirs


@pytest.mark.parametrize("files", ["eigenwords"], indirect=True)
def test_a_file_that_kills_its_workers_is_named(
    files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from spectralnlp_dask.cluster import CONFIG

    from spectralnlp.tasks.vectors import VectorsTask

    def read(self: VectorsTask, inputs: Any, **options: Any) -> FileCorpus[str]:
        return FileCorpus(inputs, dask_killers.read_or_die)

    monkeypatch.setitem(CONFIG, "distributed.scheduler.allowed-failures", 0)
    monkeypatch.setattr("spectralnlp_dask.engine.SUSPICIONS", 20)
    monkeypatch.setattr(VectorsTask, "read", read)
    deadly, output = tmp_path / "deadly.txt", tmp_path / "model"
    deadly.write_text("x\n")
    arguments = ["train", "eigenwords", *map(str, [files[0], deadly, files[1]]), "-o", str(output)]
    settings = [part for each in SETTINGS["eigenwords"] for part in ("--set", each)]
    assert run([*arguments, *settings, "--engine", "dask", "--jobs", "2"]) == 2
    err = capsys.readouterr().err
    assert f"{deadly}: 1 workers died over it, one after the other" in err
    assert err.count("\n") == 1
    assert not output.exists()
