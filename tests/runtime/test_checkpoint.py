"""Checkpoints: a run that is cut off and started again is one run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from spectralnlp.errors import ConfigError, InputError, ModelError
from spectralnlp.estimators.eigenwords import PairCounts
from spectralnlp.estimators.hmm.moments import NGramCounts
from spectralnlp.runtime import (
    Batch,
    Counts,
    FileCorpus,
    InMemoryCorpus,
    accumulate,
    load_part,
    open_text,
    save_part,
    use_checkpoint,
    use_engine,
)

N_FILES = 12


def read(log: Path, path: Path) -> Iterator[str]:
    """Lines, and a note that the file was read; a file that holds ``stop`` cannot be."""
    with log.open("a") as names, open_text(path) as lines:
        names.write(path.name + "\n")
        for line in lines:
            if line == "stop":
                raise InputError("cannot be read today", path=path)
            yield line


@pytest.fixture
def corpus(tmp_path: Path) -> FileCorpus[str]:
    files = [tmp_path / f"{number:02d}.txt" for number in range(N_FILES)]
    for number, file in enumerate(files):
        file.write_text(f"the w{number} sat\na w{number % 5} sat\n")
    return FileCorpus(files, partial(read, tmp_path / "log"))


def files_read(corpus: FileCorpus[str]) -> list[str]:
    log = Path(corpus.paths[0]).with_name("log")
    names = log.read_text().split() if log.exists() else []
    log.unlink(missing_ok=True)
    return names


def state(counts: PairCounts) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in counts.arrays().items()}


@pytest.mark.parametrize("engine", ["serial", "threads"])
def test_a_run_goes_on_where_it_was_cut_off(corpus: FileCorpus[str], tmp_path: Path, engine: str) -> None:
    whole = state(accumulate(PairCounts(), corpus))
    files_read(corpus)
    ninth = Path(corpus.paths[8])
    text, times = ninth.read_text(), ninth.stat()
    ninth.write_text("stop\n")
    with use_engine(engine), use_checkpoint(tmp_path / "kept"), pytest.raises(InputError, match="today"):
        accumulate(PairCounts(), corpus)
    assert "00.txt" in files_read(corpus)
    ninth.write_text(text)
    assert times.st_size == ninth.stat().st_size
    with use_engine(engine), use_checkpoint(tmp_path / "kept") as checkpoint:
        assert state(accumulate(PairCounts(), corpus)) == whole
        assert "00.txt" not in files_read(corpus)
        assert sorted(each.name for each in (tmp_path / "kept").rglob("*.safetensors")) == [
            "total.safetensors"
        ]
    with use_checkpoint(tmp_path / "kept") as checkpoint:
        assert state(accumulate(PairCounts(), corpus)) == whole
        assert files_read(corpus) == []
        (tmp_path / "kept" / ".map-1.jsonl.tmp").touch()  # what a killed run leaves
        checkpoint.remove()
    assert not (tmp_path / "kept").exists()


def cut_off(corpus: FileCorpus[str], folder: Path) -> Path:
    """A checkpoint of eight files, and the file of the third."""
    Path(corpus.paths[8]).write_text("stop\n")
    with use_checkpoint(folder), pytest.raises(InputError, match="today"):
        accumulate(PairCounts(), corpus)
    Path(corpus.paths[8]).write_text("the end\n")
    return folder / "pass-1-PairCounts" / "00002.safetensors"


def test_a_truncated_file_is_refused_by_name(corpus: FileCorpus[str], tmp_path: Path) -> None:
    kept = cut_off(corpus, tmp_path / "kept")
    kept.write_bytes(kept.read_bytes()[:-9])
    with use_checkpoint(tmp_path / "kept"), pytest.raises(ModelError, match=f"{kept.name}: truncated"):
        accumulate(PairCounts(), corpus)


def test_a_corrupt_file_is_refused_by_name(corpus: FileCorpus[str], tmp_path: Path) -> None:
    kept = cut_off(corpus, tmp_path / "kept")
    content = bytearray(kept.read_bytes())
    content[-1] ^= 1
    kept.write_bytes(content)
    with use_checkpoint(tmp_path / "kept"), pytest.raises(ModelError, match=f"{kept.name}: corrupt"):
        accumulate(PairCounts(), corpus)


@pytest.mark.parametrize("content", [b"", b"not moments at all, but text"])
def test_a_foreign_file_is_refused_by_name(corpus: FileCorpus[str], tmp_path: Path, content: bytes) -> None:
    kept = cut_off(corpus, tmp_path / "kept")
    kept.write_bytes(content)
    with use_checkpoint(tmp_path / "kept"), pytest.raises(ModelError, match=f"{kept.name}: ") as refusal:
        accumulate(PairCounts(), corpus)
    assert "\n" not in str(refusal.value)


def test_other_parameters_are_refused_and_named(corpus: FileCorpus[str], tmp_path: Path) -> None:
    cut_off(corpus, tmp_path / "kept")
    with use_checkpoint(tmp_path / "kept"), pytest.raises(ModelError, match="of another parameter window"):
        accumulate(PairCounts(window=3), corpus)


def test_files_that_were_changed_are_refused(corpus: FileCorpus[str], tmp_path: Path) -> None:
    cut_off(corpus, tmp_path / "kept")
    Path(corpus.paths[0]).write_text("something else\n")
    with use_checkpoint(tmp_path / "kept"), pytest.raises(ModelError, match="of another data"):
        accumulate(PairCounts(), corpus)


def test_safetensors_of_something_else_are_refused(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    save_file({"a": np.zeros(3)}, tmp_path / "other.safetensors")
    with pytest.raises(ModelError, match="no moments of this version"):
        load_part(tmp_path / "other.safetensors", Counts(), {})


def test_moments_with_arrays_as_parameters_are_told_apart(tmp_path: Path) -> None:
    counts = NGramCounts(2, vocabulary=["a", "b"])
    counts.observe(Batch([["a", "b", "c"]], "d", 0, 0))
    save_part(tmp_path / "file", counts, {"data": "here"})
    again = load_part(tmp_path / "file", NGramCounts(2, vocabulary=["a", "b"]), {"data": "here"})
    assert state(again) == state(counts)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="another parameter vocabulary"):
        load_part(tmp_path / "file", NGramCounts(2, vocabulary=["b", "a"]), {"data": "here"})
    with pytest.raises(ModelError, match="another class"):
        load_part(tmp_path / "file", Counts(), {"data": "here"})


def test_the_class_is_known_by_its_name_wherever_its_module_lies(tmp_path: Path) -> None:
    from safetensors import safe_open

    counts = NGramCounts(2, vocabulary=["a", "b"])
    counts.observe(Batch([["a", "b"]], "d", 0, 0))
    save_part(tmp_path / "file", counts, {})
    with safe_open(tmp_path / "file", framework="numpy") as file:
        header = file.metadata()
    assert header["class"] == "NGramCounts"


def test_what_lies_in_memory_is_not_kept(tmp_path: Path) -> None:
    with use_checkpoint(tmp_path / "kept"):
        accumulate(Counts(), InMemoryCorpus([["a"]]))
    assert list((tmp_path / "kept").iterdir()) == []


def test_folders_that_are_none_of_ours_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("my own")
    with pytest.raises(ConfigError, match=r"other things than checkpoints, such as mine\.txt"):
        use_checkpoint(tmp_path).__enter__()
    with pytest.raises(ConfigError, match="is a file"):
        use_checkpoint(tmp_path / "mine.txt").__enter__()


@pytest.mark.parametrize("name", ["map-1.jsonl", "pass-1-PairCounts/total.safetensors"])
def test_pipes_are_not_waited_for(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(ConfigError, match=rf"{name}: is no file, but a pipe or a device"):
        use_checkpoint(tmp_path).__enter__()
