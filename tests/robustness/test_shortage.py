"""Full disks and too little memory: one line that names the file or the need, and nothing left behind."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from children import run_child

from spectralnlp.cli.app import run
from spectralnlp.errors import is_out_of_memory

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="needs bounds on addresses and files"),
]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, own_corpora: Path) -> Path:
    root = tmp_path_factory.mktemp("models")
    for name, path, *more in (
        ("tagger", "text/tagged.txt"),
        ("pcfg", "treebank/train.mrg"),
        ("eigenwords", "text/lighthouse.txt", "--set", "dimensions=4", "--set", "min_count=1"),
    ):
        assert run(["train", name, str(own_corpora / path), "-o", str(root / name), *more]) == 0
    np.save(root / "matrix.npy", np.random.default_rng(0).normal(size=(300, 40)))
    return root


# Arguments, and how the line goes on behind the name of the program; OUT is the output.
WRITERS: dict[str, tuple[Callable[[Path, Path, Path], list[object]], str]] = {
    "train": (
        lambda m, c, o: ["train", "pcfg", c / "treebank/train.mrg", "-o", o],
        "OUT: cannot write the model",
    ),
    "moments": (
        lambda m, c, o: ["train", "pcfg", c / "treebank/train.mrg", "-o", o, "--keep-moments"],
        "OUT: cannot write the model",
    ),
    "checkpoint": (
        lambda m, c, o: ["train", "pcfg", c / "treebank/train.mrg", "-o", m / "new", "--checkpoint", o],
        "OUT/pass-1-RuleCounts/00000.safetensors: cannot write the checkpoint",
    ),
    "parse": (
        lambda m, c, o: ["parse", "-m", m / "pcfg", c / "text/lighthouse.txt", "-o", o],
        "OUT: cannot write the output",
    ),
    "journal": (
        lambda m, c, o: ["parse", "-m", m / "pcfg", c / "text/lighthouse.txt", "--checkpoint", o],
        "OUT/map-1.jsonl: cannot write the checkpoint",
    ),
    "tag": (
        lambda m, c, o: ["tag", "-m", m / "tagger", c / "text/lighthouse.txt", "-o", o],
        "OUT: cannot write the output",
    ),
    "sketch": (
        lambda m, c, o: ["sketch", m / "matrix.npy", "-o", o, "--size", "20"],
        "OUT: cannot write the model",
    ),
    "leverage": (lambda m, c, o: ["leverage", m / "matrix.npy", "-o", o], "OUT: cannot write the output"),
    "export": (lambda m, c, o: ["export", "spacy", m / "eigenwords", o], "OUT: cannot write the pipeline"),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk_is_named_with_the_file(
    writer: str, models: Path, own_corpora: Path, tmp_path: Path
) -> None:
    if writer == "export":
        pytest.importorskip("spacy")
    arguments, line = WRITERS[writer]
    done = run_child(*arguments(models, own_corpora, tmp_path / "out"), file_size=600)
    assert done.returncode == 2
    said = done.stderr.splitlines()[-2]
    assert said.startswith(f"spectralnlp: {line.replace('OUT', str(tmp_path / 'out'))}: ")
    assert "File too large" in said
    assert ".tmp" not in done.stderr
    assert not [each for each in tmp_path.rglob("*") if each.name.startswith(".")]


def test_a_full_disk_for_what_memory_does_not_hold(
    tmp_path: Path, own_corpora: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    text = tmp_path / "text"
    text.write_text("".join(f"a{i:x} b{i % 9973} c{i % 7919}\n" for i in range(150_000)))
    done = run_child("train", "eigenwords", text, "-o", tmp_path / "m", "--memory", "300MB", file_size=4000)
    assert done.returncode == 2
    assert f"spectralnlp: {tmp_path}: cannot spill: File too large; free some space" in done.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["text"]


def test_output_on_a_full_device_is_refused(own_treebank: Path, models: Path, own_corpora: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    text = own_corpora / "text" / "lighthouse.txt"
    done = run_child("parse", "-m", models / "pcfg", text, "-o", "/dev/full")
    assert done.returncode == 2
    assert "spectralnlp: /dev/full: cannot write the output: No space left on device" in done.stderr


@pytest.mark.parametrize("megabytes", [260, 330, 420, 560])
def test_too_little_memory_is_said_in_one_line(
    megabytes: int, models: Path, own_treebank: Path, tmp_path: Path
) -> None:
    (tmp_path / "long").write_text("the keeper climbs " * 5000)
    commands: list[list[object]] = [
        ["parse", "-m", models / "pcfg", "--tokenized", tmp_path / "long"],
        ["train", "lpcfg", own_treebank / "train.mrg", "-o", tmp_path / "m", "--set", "em_iterations=2"],
    ]
    for command in commands:
        done = run_child(*command, memory=megabytes)
        assert "Traceback" not in done.stderr
        if "OpenBLAS error: Memory allocation" not in done.stderr:  # which ends the process by itself
            assert done.returncode in (0, 2), done.stderr
            assert done.returncode == 0 or "spectralnlp: not enough memory: " in done.stderr


def test_errors_for_want_of_memory_are_known() -> None:
    assert is_out_of_memory(MemoryError())
    assert is_out_of_memory(SystemError("error return without exception set"))
    assert is_out_of_memory(ImportError("libx.so: failed to map segment from shared object"))
    assert is_out_of_memory(ValueError("field 'target' is required for AnnAssign"))
    assert not is_out_of_memory(ValueError("a value is required for it"))
    assert not is_out_of_memory(ImportError("No module named x"))
    assert not is_out_of_memory(SystemError("bad argument"))
