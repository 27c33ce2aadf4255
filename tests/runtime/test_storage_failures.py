"""What the system refuses while model folders are written and read."""

from __future__ import annotations

import ctypes
import errno
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spectralnlp.errors import ConfigError, ModelError
from spectralnlp.storage import (
    MOMENTS,
    MOMENTS_META,
    StorableModel,
    load_kept_moments,
    load_model,
    read_kept_header,
    replacing,
    save_kept_moments,
    save_model,
    snapshots,
    staged,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="refusals of a POSIX system")


def save(path: Path, number: int = 1) -> None:
    save_model(path, kind="k", metadata={"n": number}, arrays={"x": np.arange(number)}, card="card")


def save_moments(path: Path) -> None:
    save(path)
    save_kept_moments(path, {"ledger": 1}, {"counts": np.arange(3)})


def test_kept_moments_come_back_and_belong_to_their_model(tmp_path: Path) -> None:
    save(tmp_path / "plain")
    assert load_kept_moments(tmp_path / "plain") is None
    assert read_kept_header(tmp_path / "none") is None
    save_moments(tmp_path / "m")
    found = load_kept_moments(tmp_path / "m")
    assert found is not None
    assert found[0].take("ledger", int) == 1
    shutil.copy(tmp_path / "m" / MOMENTS, tmp_path / "plain")
    with pytest.raises(ModelError, match=f"moments without their {MOMENTS_META}"):
        load_kept_moments(tmp_path / "plain")
    shutil.copy(tmp_path / "m" / MOMENTS_META, tmp_path / "plain")
    save_model(tmp_path / "other", kind="k", metadata={"n": 2}, arrays={}, card="")
    for name in (MOMENTS, MOMENTS_META):
        shutil.copy(tmp_path / "m" / name, tmp_path / "other")
    with pytest.raises(ModelError, match="the moments belong to another model"):
        load_kept_moments(tmp_path / "other")
    (tmp_path / "other" / MOMENTS_META).write_text('{"format": "x"}')
    with pytest.raises(ModelError, match="not the moments of a spectralnlp model"):
        read_kept_header(tmp_path / "other")


@pytest.mark.parametrize("by_folder", [True, False])
def test_what_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_folder: bool
) -> None:
    monkeypatch.setattr(snapshots, "_BY_FOLDER", by_folder)
    save(tmp_path / "m")
    assert load_model(tmp_path / "m").card == "card"
    (tmp_path / "m" / "arrays.safetensors").unlink()
    with pytest.raises(ModelError, match=r"arrays\.safetensors: cannot be read: No such file"):
        load_model(tmp_path / "m")
    (tmp_path / "m" / "model.json").unlink()
    (tmp_path / "m" / "model.json").mkdir()
    with pytest.raises(ModelError, match=r"model\.json: cannot be read: Is a directory"):
        load_model(tmp_path / "m")
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="file: no model here; a model is a folder"):
        load_model(tmp_path / "file")


def test_a_read_that_fails_half_way_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def read(self) -> bytes:
            raise OSError(errno.EIO, "Input/output error")

        def __enter__(self) -> Broken:
            return self

        def __exit__(self, *error: object) -> None:
            pass

    save(tmp_path / "m")
    monkeypatch.setattr(snapshots.Snapshot, "open", lambda self, name: Broken())
    with pytest.raises(ModelError, match=r"model\.json: cannot be read: Input/output error"):
        load_model(tmp_path / "m")


def test_a_folder_that_goes_while_it_is_read(tmp_path: Path) -> None:
    save(tmp_path / "m")

    def remove_and_look(snapshot: snapshots.Snapshot) -> bool:
        assert snapshot.is_there
        shutil.rmtree(tmp_path / "m")
        if len(attempts) == 0:
            attempts.append(1)
            save(tmp_path / "m")
        assert not snapshot.is_there
        return snapshot.has("model.json")

    attempts: list[int] = []
    with pytest.raises(ModelError, match=r"no such model|was replaced while it was read"):
        snapshots.read_folder(tmp_path / "m", remove_and_look)


def test_errors_of_a_file_in_a_staged_folder_name_its_place(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refusal, staged(tmp_path / "m") as fresh:
        raise ConfigError("cannot be written", path=fresh / "x", hint="free some space")
    assert str(refusal.value) == f"{tmp_path / 'm'}: cannot be written; free some space"
    with pytest.raises(ConfigError, match=r"^other: no"), staged(tmp_path / "m"):
        raise ConfigError("no", path="other")
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_is_none_is_refused_in_one_line(tmp_path: Path) -> None:
    class Odd(StorableModel):
        noun = "an odd model"

        @classmethod
        def read_stored(cls, metadata: Any, arrays: Any, card: str) -> Any:
            raise {"card": ValueError("numbers are odd"), "": ModelError("corrupt")}[card]

    save(tmp_path / "m")
    stored = load_model(tmp_path / "m")
    with pytest.raises(ModelError, match="not an odd model: numbers are odd; train it again"):
        Odd.from_stored(stored)


# ---------------------------------------------------------------------------------------------------------
# The exchange and the lock


@pytest.mark.parametrize(
    ("number", "answer"), [(errno.ENOSYS, False), (errno.EINVAL, False), (errno.EIO, None)]
)
def test_an_exchange_that_the_system_refuses(
    number: int, answer: bool | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*names: object) -> int:
        ctypes.set_errno(number)
        return -1

    monkeypatch.setattr(replacing, "_exchanger", lambda one, other: (refuse, (one, other)))
    if answer is None:
        with pytest.raises(OSError, match="Input/output error"):
            replacing._exchange(tmp_path, tmp_path)
    else:
        assert replacing._exchange(tmp_path, tmp_path) is answer


def test_other_systems_have_other_exchanges(monkeypatch: pytest.MonkeyPatch) -> None:
    called = []
    monkeypatch.setattr(replacing, "_c_function", lambda name: called.append(name))
    for system in ("Linux", "Darwin", "Plan 9"):
        monkeypatch.setattr(replacing.platform, "system", lambda system=system: system)
        assert replacing._exchanger(b"a", b"b")[0] is None
    assert called == ["renameat2", "renamex_np"]
    assert not replacing._exchange(Path("a"), Path("b"))


def test_a_system_without_a_c_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **more: object) -> None:
        raise OSError

    monkeypatch.setattr(replacing.ctypes, "CDLL", fail)
    assert replacing._c_function("renameat2") is None


def test_two_renames_that_fail_leave_the_old_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "m", 1)
    rename = Path.rename

    def fail_for_fresh(self: Path, target: Path) -> Path:
        if self.suffix == ".tmp":
            raise OSError(errno.ENOSPC, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(replacing, "_exchange", lambda one, other: False)
    monkeypatch.setattr(Path, "rename", fail_for_fresh)
    with pytest.raises(ConfigError, match=r"m: cannot write the model: No space left on device"):
        save(tmp_path / "m", 2)
    monkeypatch.undo()
    assert load_model(tmp_path / "m").metadata["n"] == 1
    assert [each.name for each in tmp_path.iterdir()] == ["m"]


def test_folders_within_staged_ones_need_no_lock_of_their_own(tmp_path: Path) -> None:
    with replacing.staged_folder(tmp_path / "outer") as outer:
        outer.mkdir()
        save(outer / "inner")
    assert load_model(tmp_path / "outer" / "inner").card == "card"


@pytest.mark.parametrize("error", [OSError(errno.ENOLCK, "no locks"), KeyboardInterrupt()])
def test_a_lock_that_is_not_to_be_had(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")

    def fail(*arguments: object) -> None:
        raise error

    monkeypatch.setattr(fcntl, "flock", fail)
    if isinstance(error, OSError):
        save(tmp_path / "m")  # where folders have no locks, none is held
    else:
        with pytest.raises(KeyboardInterrupt):
            save(tmp_path / "m")
    monkeypatch.setitem(sys.modules, "fcntl", None)
    assert replacing._locked(tmp_path, 0.0) is None
