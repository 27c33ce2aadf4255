"""Let commands such as ``info`` and ``merge`` load and change saved matrix sketches."""

from __future__ import annotations

from typing import NoReturn

from spectralnlp.errors import ConfigError
from spectralnlp.runtime import Inputs, OnBad
from spectralnlp.storage import StoredModel
from spectralnlp.tasks.task import FolderChanges, Task
from spectralnlp_sketch import changes
from spectralnlp_sketch.files import SavedSketch


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
        return SavedSketch.of(stored)

    def folder_changes(self) -> FolderChanges:
        """Return the functions that add files to saved sketches, remove files, and merge sketches."""
        return changes
