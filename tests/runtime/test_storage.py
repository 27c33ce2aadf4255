from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spectralnlp.errors import ConfigError, ModelError
from spectralnlp.storage import check_writable, folders, load_model, replacing, save_model

ARRAYS = {
    "matrix": np.arange(6, dtype=np.float64).reshape(2, 3),
    "transposed": np.arange(6, dtype=np.float32).reshape(2, 3).T,
    "strided": np.arange(10, dtype=np.int64)[::2],
    "scalar": np.array(7, dtype=np.int32),
    "empty": np.zeros((0, 4)),
    "bytes": np.frombuffer("naïve".encode(), dtype=np.uint8),
    "flags": np.array([True, False]),
}


def save(path: Path, **changes: Any) -> None:
    content = {"kind": "parser", "metadata": {"states": 8}, "arrays": ARRAYS, "card": "# A model\n"}
    save_model(path, **{**content, **changes})


def everything_below(folder: Path) -> dict[str, bytes]:
    return {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def test_a_model_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    save(tmp_path / "new" / "model", metadata={"labels": ["NP", "é\ud800"], "kappa": 5.0, "none": None})
    model = load_model(tmp_path / "new" / "model")
    assert model.kind == "parser"
    assert model.metadata == {"labels": ["NP", "é\ud800"], "kappa": 5.0, "none": None}
    assert model.arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert model.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(model.arrays[name], array, strict=True)
    assert sorted(everything_below(tmp_path)) == [
        f"new/model/{name}" for name in ("README.md", "arrays.safetensors", "model.json")
    ]


def test_the_same_content_gives_the_same_bytes(tmp_path: Path) -> None:
    save(tmp_path / "a")
    save(tmp_path / "b", arrays=dict(reversed(ARRAYS.items())))
    assert everything_below(tmp_path / "a") == everything_below(tmp_path / "b")


def test_a_model_replaces_a_model(tmp_path: Path) -> None:
    save(tmp_path / "m")
    save(tmp_path / "m", kind="tagger", arrays={})
    assert load_model(tmp_path / "m").kind == "tagger"
    assert [each.name for each in tmp_path.iterdir()] == ["m"]
    with pytest.raises(ConfigError, match="here already"):
        save(tmp_path / "m", overwrite=False)


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["_write", "second rename"])
def test_what_breaks_off_leaves_the_old_model_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException, step: str
) -> None:
    save(tmp_path / "m")
    before = everything_below(tmp_path)
    rename, calls = Path.rename, []

    def break_off(*_: object) -> None:
        raise failure

    def break_second(self: Path, target: Path) -> Path:
        calls.append(target)
        if len(calls) == 2:
            raise failure
        return rename(self, target)

    if step == "_write":
        monkeypatch.setattr(folders, "_write", break_off)
    else:  # where folders cannot be exchanged
        monkeypatch.setattr(replacing, "_exchange", lambda one, other: False)
        monkeypatch.setattr(Path, "rename", break_second)
    with pytest.raises((ConfigError, KeyboardInterrupt)):
        save(tmp_path / "m", kind="tagger")
    monkeypatch.undo()
    assert everything_below(tmp_path) == before
    assert load_model(tmp_path / "m").kind == "parser"


def test_nothing_but_a_model_is_ever_replaced(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.tex").write_text("mine")
    before = everything_below(tmp_path)
    for place, message in (("file", "is a file"), ("folder", r"thesis\.tex"), ("file/m", "cannot write")):
        for attempt in (save, check_writable):
            with pytest.raises(ConfigError, match=message):
                attempt(tmp_path / place)
    assert everything_below(tmp_path) == before
    (tmp_path / "empty").mkdir()
    save(tmp_path / "empty")


def test_an_unwritable_place_is_found_out_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(
        *_: object, **__: object
    ) -> None:  # root may write anywhere, so permissions alone prove little
        raise PermissionError(13, "Permission denied")

    check_writable(tmp_path / "a" / "b" / "model")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(ConfigError, match="cannot write here: Permission denied"):
        check_writable(tmp_path / "a" / "b" / "model")


def damage_header(folder: Path, **changes: Any) -> None:
    path = folder / "model.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def cut(path: Path, n: int) -> None:
    path.write_bytes(path.read_bytes()[:-n])


def flip(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(bytes(raw))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda m: cut(m / "arrays.safetensors", 5), "truncated or was changed"),
        (lambda m: flip(m / "arrays.safetensors"), "corrupt"),
        (lambda m: (m / "arrays.safetensors").unlink(), "cannot be read"),
        (lambda m: cut(m / "model.json", 5), "truncated or corrupt"),
        (lambda m: (m / "model.json").write_bytes(b"\xff\xfe"), "truncated or corrupt"),
        (lambda m: (m / "model.json").unlink(), "no model here"),
        (lambda m: damage_header(m, format="other"), "not a spectralnlp model"),
        (lambda m: damage_header(m, format_version=3), "model format 3.*upgrade spectralnlp"),
        (lambda m: damage_header(m, format_version=0), "model format 0.*train again"),
        (lambda m: damage_header(m, arrays=None), "value arrays is null, not an object"),
    ],
)
def test_a_damaged_model_is_refused_in_one_line(tmp_path: Path, damage: Any, message: str) -> None:
    save(tmp_path / "m")
    damage(tmp_path / "m")
    with pytest.raises(ModelError, match=message) as refusal:
        load_model(tmp_path / "m")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", ["\ud800", "a\0b"])
def test_names_that_no_folder_can_have_are_refused(name: str) -> None:
    with pytest.raises(ModelError, match="no such model"):
        load_model(Path(name))


def test_a_missing_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such model"):
        load_model(tmp_path / "missing")
