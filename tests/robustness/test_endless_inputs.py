"""Inputs that are far more than their size says, or never end."""

from __future__ import annotations

import gzip
import itertools
import os
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

import spectralnlp
from spectralnlp.cli.train import read_card, read_config
from spectralnlp.errors import InputError, ModelError
from spectralnlp.runtime import open_binary, open_text, rereadable
from spectralnlp.scoring import read_prm
from spectralnlp.text.blocks import read_blocks
from spectralnlp.trees import read_brackets


@pytest.mark.parametrize("blank", ["", " ", "\t\r"])
def test_blank_lines_take_no_memory(blank: str) -> None:
    lines = itertools.chain(["(S (NN a))"], itertools.repeat(blank, 20_000), ["(S (NN b))"])
    tracemalloc.start()
    assert len(list(read_brackets(lines))) == 2
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000


def test_reading_resumes_after_a_bad_tree_with_blank_lines() -> None:
    bad: list[InputError] = []
    lines = ["(S (NN a)", "", "(S (NN b))", "", "", "(S (NN c))"]
    assert [str(tree) for tree in read_brackets(lines, on_bad=bad.append)] == ["(S (NN b))", "(S (NN c))"]
    assert [error.line for error in bad] == [1]


@pytest.mark.parametrize("content", [b"\n", b"a", b"a b\n"])
@pytest.mark.parametrize("read", [lambda path: _lines_of(path), lambda path: list(read_blocks(path))])
def test_a_gzip_file_that_swells_is_refused(
    tmp_path: Path, content: bytes, read: Callable[[Path], object]
) -> None:
    path = tmp_path / "text.gz"
    path.write_bytes(gzip.compress(content * ((5 << 20) // len(content))))
    with pytest.raises(InputError, match=r"text\.gz.* swells to more than 200 times its size"):
        read(path)


def _lines_of(path: Path) -> list[str]:
    with open_text(path) as lines:
        return [line for line in lines if line]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such device")
@pytest.mark.parametrize(
    "read",
    [
        open_binary,
        rereadable,
        read_prm,
        read_card,
        lambda path: read_config(path, "pcfg"),
        lambda path: list(read_blocks(path)),
        _lines_of,
    ],
)
def test_a_device_without_end_is_refused(read: Callable[[Path], object]) -> None:
    with pytest.raises(InputError, match="a device, not a file"):
        read(Path("/dev/zero"))


def test_the_null_device_is_an_empty_file() -> None:
    assert _lines_of(Path(os.devnull)) == []


@pytest.mark.parametrize("read", [read_prm, read_card, lambda path: read_config(path, "pcfg")])
def test_settings_are_short(tmp_path: Path, read: Callable[[Path], object]) -> None:
    (tmp_path / "long").write_bytes(b"# " + b"x" * (1 << 20))
    with pytest.raises(InputError, match="of more than 1,048,576 bytes"):
        read(tmp_path / "long")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a POSIX system")
def test_a_pipe_in_place_of_a_file_of_a_model_is_refused(own_treebank: Path, tmp_path: Path) -> None:
    model, whole = tmp_path / "model", tmp_path / "whole"
    spectralnlp.train("pcfg", own_treebank / "dev.mrg").save(whole)
    for name in [each.name for each in whole.iterdir() if each.suffix in (".json", ".safetensors")]:
        shutil.copytree(whole, model)
        (model / name).unlink()
        os.mkfifo(model / name)
        with pytest.raises(ModelError, match="is no file, but a pipe or a device"):
            spectralnlp.load(model)
        shutil.rmtree(model)
