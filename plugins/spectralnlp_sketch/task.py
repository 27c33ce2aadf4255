"""Let commands such as ``info`` and ``merge`` load and change saved matrix sketches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from spectralnlp import registry
from spectralnlp.display import one_line
from spectralnlp.errors import ConfigError
from spectralnlp.runtime import Inputs, OnBad
from spectralnlp.storage import StoredModel
from spectralnlp.tasks.task import FolderChanges, Task
from spectralnlp_sketch.changes import SketchChanges
from spectralnlp_sketch.files import depends_on_row_numbers, load_sketch


@dataclass(frozen=True)
class SavedSketch:
    """A sketch loaded from a model folder.

    Attributes:
        sketch: the fitted transformer.
        about: metadata of the saved sketch.
    """

    sketch: Any
    about: Mapping[str, Any]

    __repr__ = one_line

    task = "sketch"

    @property
    def info(self) -> dict[str, Any]:
        """Properties of the sketch to show, by name, such as its settings, number of rows and error bound."""
        return {
            "sketch": registry.sketches.shown(self.about["sketch"]),
            "settings": dict(self.about["settings"]),
            "method": registry.sketches.shown(self.about["method"]),
            "rows": self.sketch.n_rows_,
            "shape": " × ".join(map(str, self.sketch.sketch_.shape)),
            **self._bound(),
            **self._changes(),
        }

    def _bound(self) -> dict[str, Any]:
        bound = self.about["bound"]
        return {} if bound is None else {"bound": bound}

    def _changes(self) -> dict[str, Any]:
        if not depends_on_row_numbers(self.sketch):
            return {"incremental update": "merge-only"}
        documents = self.about.get("documents")
        if documents is None:
            return {"incremental update": "none"}
        exact = self.sketch.moments_.subtractable
        return {"incremental update": "exact" if exact else "merge-only", "documents": len(documents)}


class SketchTask(Task):
    """Task of matrix sketches: the operations of commands that load, update and merge saved sketches.

    A saved sketch contains the state (moments) from which it is computed, so that it can be updated without
    reading earlier data again.
    """

    name = "sketch"

    def read(self, inputs: Inputs, *, reader: str = "auto", on_bad: OnBad | None = None) -> NoReturn:
        """Raise an error, since sketches are made by the command ``sketch``, not by training."""
        raise ConfigError("sketches are not trained", hint="make one with 'spectralnlp sketch'")

    def load(self, stored: StoredModel) -> SavedSketch:
        """Load the sketch from a model folder."""
        values = stored.values
        for name, kind in (("method", str), ("bound", float | None), ("documents", tuple[int, ...] | None)):
            values.take(name, kind)
        return SavedSketch(load_sketch(stored.path), stored.metadata)

    def folder_changes(self) -> FolderChanges:
        """Return the object that adds files to saved sketches, removes files, and merges sketches."""
        return SketchChanges()
