"""Saved sketches as models of the core's: loaded by name, grown, joined; they cannot forget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from spectralnlp.corpus import expand_inputs
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.linalg import one_blas_thread
from spectralnlp.storage import StoredModel, load_model
from spectralnlp.tasks.task import OnBad, OwnChanges, Say, Task
from spectralnlp_sketch.files import BATCH_ROWS, load_sketch, save_sketch
from spectralnlp_sketch.frequent_directions.estimator import FrequentDirections
from spectralnlp_sketch.stream import FileRows, RowFormat


@dataclass(frozen=True)
class SavedSketch:
    """A sketch as a model.

    Attributes:
        sketch: the fitted transformer.
        about: what it was made from.
    """

    sketch: Any
    about: Mapping[str, Any]

    task = "sketch"

    @property
    def info(self) -> dict[str, Any]:
        """What the sketch is, by name."""
        grows = isinstance(self.sketch, FrequentDirections)
        return {
            "sketch": self.about["sketch"],
            "settings": dict(self.about["settings"]),
            "method": self.about["method"],
            "rows": self.sketch.n_rows_,
            "shape": " × ".join(map(str, self.sketch.sketch_.shape)),
            "bound": self.about["bound"],
            "change of mind": "merge-only" if grows else "none",
        }


class SketchTask(Task):
    """Sketches of matrices, which hold their moments themselves."""

    name = "sketch"

    def read(
        self, inputs: Sequence[str | Path], *, reader: str = "auto", on_bad: OnBad | None = None
    ) -> NoReturn:
        """Refuses: sketches are made by a command of their own."""
        raise ConfigError("sketches are not trained", hint="make one with 'spectralnlp sketch'")

    def load(self, stored: StoredModel) -> SavedSketch:
        """The sketch in a folder."""
        return SavedSketch(load_sketch(stored.path), stored.metadata)

    def own_changes(self) -> OwnChanges:
        """Frequent directions grow and join."""
        return SketchChanges()


class SketchChanges:
    """Update and merge of saved sketches by frequent directions (merge-only)."""

    def update(self, folder: Path, inputs: Sequence[str], output: Path, say: Say) -> None:
        """Add the rows of files: the same sketch as of all files in one run.

        Raises:
            ConfigError: it is a sketch that cannot grow.
            MatrixError: rows of another width, or that are not finite.
        """
        sketch, metadata = _growing(folder, "be updated"), load_model(folder).metadata
        before, reading = sketch.n_rows_, metadata["reading"]
        row_format = RowFormat(**{**reading, "ngrams": tuple(reading["ngrams"])})
        corpus = FileRows(expand_inputs(inputs), row_format)
        with one_blas_thread():
            for batch in corpus.batches(BATCH_ROWS):
                sketch.moments_.observe(batch)
            sketch.finish()
            if sketch.n_rows_ == before:
                raise InputError("no rows to add", path=corpus.paths[0])
            save_sketch(sketch, output, name=metadata["sketch"], reading=row_format)
        say(f"{output}: {before:,} rows and {sketch.n_rows_ - before:,} more")

    def forget(self, folder: Path, inputs: Sequence[str], output: Path, say: Say) -> NoReturn:
        """Refuses.

        Raises:
            ConfigError: always.
        """
        name = load_model(folder).metadata["sketch"]
        what = f"a sketch by {name} cannot forget: its rows cannot be told apart any more"
        raise ConfigError(what, hint="sketch the files again without these")

    def merge(self, folders: Sequence[Path], output: Path, say: Say) -> None:
        """Join sketches of different rows; their bounds add up.

        Raises:
            ConfigError: they differ in a setting, which is named, or cannot be joined.
        """
        first, *others = (_growing(folder, "be merged") for folder in folders)
        settings, metadata = first.get_params(), load_model(folders[0]).metadata
        for other in others:
            differing = [
                f"{name} ({value!r} and {theirs!r})"
                for name, value in settings.items()
                if (theirs := other.get_params()[name]) != value
            ]
            if differing:
                raise ConfigError(f"cannot merge sketches that differ in {', '.join(differing)}")
            with one_blas_thread():
                first.merge(other)
        reading = metadata["reading"]
        row_format = RowFormat(**{**reading, "ngrams": tuple(reading["ngrams"])})
        with one_blas_thread():
            save_sketch(first, output, name=metadata["sketch"], reading=row_format)
        say(f"{output}: {first.n_rows_:,} rows of {len(folders)} sketches")


def _growing(folder: Path, verb: str) -> FrequentDirections:
    """A saved sketch whose rows need not be told apart.

    Raises:
        ConfigError: it is another: random signs are drawn for the rows of its files, and belong to them.
    """
    sketch = load_sketch(folder)
    if not isinstance(sketch, FrequentDirections):
        what = f"a {type(sketch).__name__} cannot {verb} once it is saved: its random numbers are its files'"
        raise ConfigError(what, path=folder, hint="sketch all files in one run")
    return sketch
