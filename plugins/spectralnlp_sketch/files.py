"""Compute sketches of files, with checkpoints for interrupted runs, and save and load sketches."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Lt
from numpy.typing import NDArray

from spectralnlp import registry
from spectralnlp.display import one_line
from spectralnlp.errors import ConfigError, ModelError, resolved
from spectralnlp.linalg import one_blas_thread
from spectralnlp.runtime import name_of
from spectralnlp.storage import StoredModel, check_writable, load_model, save_model
from spectralnlp_sketch.errors import MatrixError
from spectralnlp_sketch.row_files import FileRows, RowFormat

KIND, CHECKPOINT = "sketch", "sketch-checkpoint"


def sketch_files(
    estimator: Any,
    corpus: FileRows,
    output: str | Path,
    *,
    name: str,
    checkpoint_rows: int = 2**19,
    restart: bool = False,
    report: Callable[[str], None] = lambda line: None,
) -> Any:
    """Sketch files and save the result as a model folder.

    A checkpoint is written beside ``output`` at regular intervals. An interrupted run that is started again
    resumes from it, and writes the same bytes as an uninterrupted run.

    Args:
        estimator: an unfitted sketch.
        corpus: rows of the files; with its setting ``by_content``, files can be removed from linear sketches.
        output: the folder to write.
        name: registered name of the kind of sketch.
        checkpoint_rows: minimum number of rows between checkpoints.
        restart: whether to discard an existing checkpoint.
        report: progress callback, called with a line when a run is resumed.

    Returns:
        ``estimator``, fitted.

    Raises:
        ConfigError: ``output`` cannot be written, or a checkpoint is for other files or settings.
        InputError: the files cannot be read.
    """
    if corpus.by_content and not estimator.depends_on_row_numbers:
        shown = registry.sketches.shown(name)
        what = f"{shown} always keeps its moments: it can be updated and merged, but cannot forget"
        raise ConfigError(what, hint="leave out `keep_moments`")
    check_writable(output)
    where = checkpoint_folder(output)
    if restart:
        shutil.rmtree(where, ignore_errors=True)
    with one_blas_thread():
        estimator.begin(corpus)
        run = {"sketch": name, "settings": _settings(estimator), "files": _described(corpus)}
        run["numbering"] = "by content" if corpus.by_content else "by order"
        file, row = _resume(estimator, where, run, report)
        since = 0
        for batch in corpus.batches_from(file, row, estimator.moments_.batch_size):
            estimator.moments_.observe(batch)
            since += len(batch)
            if since >= checkpoint_rows:
                place = {"file": corpus.numbers.index(batch.document_index), "row": batch.start + len(batch)}
                _save(where, CHECKPOINT, {**run, **place}, estimator, {})
                since = 0
        estimator.finish()
        if not estimator.n_rows_:
            raise MatrixError("the files hold no rows", path=corpus.paths[0])
        documents = frozenset(corpus.numbers) if corpus.by_content else None
        save_sketch(estimator, output, name, corpus.formats[0], documents)
    shutil.rmtree(where, ignore_errors=True)
    return estimator


def checkpoint_folder(output: str | Path) -> Path:
    """Return the folder of an unfinished run's checkpoint for an output folder."""
    target = resolved(output)
    return target.with_name(f".{target.name}.checkpoint")


def _settings(estimator: Any) -> dict[str, Any]:
    """Return the hyper-parameters sorted by name, as saved sketches store them."""
    return dict(sorted(estimator.get_params(deep=False).items()))


@dataclass(frozen=True)
class SavedSketch:
    """A sketch that is saved in a model folder, with its leading directions and its moments.

    Attributes:
        sketch: the fitted transformer, which can transform, be updated and be merged.
        about: metadata of the saved sketch.
        reading: format in which its rows were read, so that more rows can be read in the same way.
    """

    sketch: Any
    about: Mapping[str, Any]
    reading: RowFormat = field(repr=False)

    __repr__ = one_line

    task = KIND

    @classmethod
    def of(cls, stored: StoredModel) -> SavedSketch:
        """Restore the sketch of a model folder.

        Raises:
            ModelError: the folder holds no sketch, or one that is truncated or changed.
        """
        if stored.kind != KIND:
            raise ModelError(f"holds a {stored.kind}, not a sketch", path=stored.path)
        values = stored.values
        for name, taken in (("method", str), ("bound", float | None), ("documents", tuple[int, ...] | None)):
            values.take(name, taken)
        row_type = values.take("input", _InputDescription)
        try:
            kind: Any = registry.sketches.get(values.take("sketch", str))
            estimator = kind.from_settings({}, values.take("settings", Mapping[str, Any]))
            estimator.validate()
            estimator.restore(asdict(row_type))
        except (ConfigError, ValueError) as error:
            raise values.error("settings", f"is refused: {error}") from error
        estimator.moments_.check_arrays(stored.checked.part("moments."))
        estimator.restore(asdict(row_type), _state(stored.arrays))
        return cls(estimator, stored.metadata, values.take("reading", RowFormat))

    @property
    def name(self) -> str:
        """Registered name of the kind of sketch."""
        return str(self.about["sketch"])

    @property
    def documents(self) -> frozenset[int] | None:
        """Hash of each file's content; None if the files were numbered in order."""
        documents = self.about["documents"]
        return None if documents is None else frozenset(documents)

    @property
    def info(self) -> dict[str, Any]:
        """Properties of the sketch to show, by name, such as its settings, number of rows and error bound."""
        bound = self.about["bound"]
        return {
            "sketch": registry.sketches.shown(self.name),
            "settings": dict(self.about["settings"]),
            "method": registry.sketches.shown(self.about["method"]),
            "rows": self.sketch.n_rows_,
            "shape": " × ".join(map(str, shape_of(self.sketch))),
            **({} if bound is None else {"bound": bound}),
            **self._changes(),
        }

    def _changes(self) -> dict[str, Any]:
        if not self.sketch.depends_on_row_numbers:
            return {"incremental update": "merge-only"}
        if self.documents is None:
            return {"incremental update": "none"}
        exact = self.sketch.moments_.subtractable
        return {"incremental update": "exact" if exact else "merge-only", "documents": len(self.documents)}


def load_sketch(folder: str | Path) -> Any:
    """Load a fitted sketch from a folder, ready to transform, update or merge.

    Raises:
        ModelError: the folder holds no sketch, or one that is truncated or changed.
    """
    return SavedSketch.of(load_model(folder)).sketch


@dataclass(frozen=True)
class _InputDescription:
    """Width, dtype and sparsity of the rows of a sketch."""

    n_columns: Annotated[int, Ge(1), Lt(1 << 31)]
    dtype: Literal["float32", "float64"]
    sparse: bool


def save_fitted(estimator: Any, output: str | Path, *, overwrite: bool) -> None:
    """Write an estimator that was fitted in memory as a model folder.

    Args:
        estimator: a fitted sketch.
        output: the folder to write.
        overwrite: whether an existing model may be replaced.

    Raises:
        ConfigError: the folder cannot be written, or exists; or the class is no registered sketch.
    """
    kinds = {registry.sketches.get(name): name for name in registry.sketches.names()}
    if type(estimator) not in kinds:
        raise ConfigError(f"{type(estimator).__name__} is not registered as a sketch", hint="register it")
    check_writable(output, overwrite=overwrite)
    save_sketch(estimator, output, kinds[type(estimator)], RowFormat(), None)


def shape_of(estimator: Any) -> tuple[int, ...]:
    """Return the shape of a fitted sketch, or of the components of an estimator that has no sketch."""
    return tuple(getattr(estimator, "sketch_", estimator.components_).shape)


def save_sketch(
    estimator: Any, output: str | Path, name: str, reading: RowFormat, documents: Collection[int] | None
) -> None:
    """Write a fitted sketch as a model folder; see `SavedSketch`.

    Args:
        estimator: a fitted sketch.
        output: the folder to write.
        name: registered name of the kind of sketch.
        reading: format in which rows were read.
        documents: hash of each file's content; None if the files were numbered in order.
    """
    metadata = {
        "sketch": name,
        "settings": _settings(estimator),
        "reading": asdict(reading),
        "method": getattr(estimator, "method_", name),
        "n_rows": estimator.n_rows_,
        "bound": getattr(estimator, "bound_", None),
        "documents": None if documents is None else sorted(documents),
    }
    names = [name for name in ("sketch", "components", "singular_values") if hasattr(estimator, f"{name}_")]
    results = {name: getattr(estimator, f"{name}_") for name in names}
    _save(Path(output), KIND, metadata, estimator, results)


def _save(
    folder: Path, kind: str, metadata: dict[str, Any], estimator: Any, results: dict[str, NDArray[Any]]
) -> None:
    state = {f"moments.{key}": array for key, array in estimator.moments_.arrays().items()}
    card = (
        f"# A {kind} of spectralnlp\n\nA sketch keeps sums over rows, which reveal something of each row.\n"
    )
    stored = {**metadata, "input": estimator.input_}
    save_model(folder, kind=kind, metadata=stored, arrays={**state, **results}, card=card)


def _state(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    prefix = "moments."
    return {key.removeprefix(prefix): each for key, each in arrays.items() if key.startswith(prefix)}


def _resume(
    estimator: Any, where: Path, run: dict[str, Any], report: Callable[[str], None]
) -> tuple[int, int]:
    """Restore the estimator's moments from a checkpoint, and return the file and row to resume from.

    Args:
        estimator: the unfitted sketch.
        where: folder of the checkpoint.
        run: sketch, settings and files of this run, to check that the checkpoint fits it.
        report: progress callback.
    """
    if not where.exists():
        return 0, 0
    try:
        stored = load_model(where)
    except ModelError as error:
        raise ModelError(
            f"the checkpoint is unusable: {error.what}", path=where, hint="begin again with `restart`"
        ) from error
    for key, value in run.items():
        if stored.metadata.get(key) != value:
            what = f"an unfinished run with other {key} is stored here"
            raise ConfigError(what, path=where, hint="finish it, or begin again with `restart`")
    estimator.restore(stored.metadata["input"], _state(stored.arrays))
    file, row = stored.metadata["file"], stored.metadata["row"]
    report(f"resuming from row {row:,} of {stored.metadata['files'][file][0]}")
    return file, row


def _described(corpus: FileRows) -> list[list[Any]]:
    """Return path, size, modification time and format of each file, to check that a checkpoint fits them.

    For URLs, size and modification time are None.
    """
    described = []
    for path, row_format in zip(corpus.paths, corpus.formats, strict=True):
        status = path.stat() if isinstance(path, Path) else None
        state = [None, None] if status is None else [status.st_size, status.st_mtime_ns]
        reading = [row_format.kind, row_format.n_columns, list(row_format.ngrams), row_format.dtype]
        described.append([name_of(path), *state, reading])
    return described
