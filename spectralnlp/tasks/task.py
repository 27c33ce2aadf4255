"""What ``train`` and ``evaluate`` ask of every task: read, train, evaluate, compare, load."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimator import Estimator, timed_passes
from spectralnlp.runtime import Corpus, Moments
from spectralnlp.storage import StoredModel

OnBad = Callable[[InputError], None]
Say = Callable[[str], None]
DocumentUnit: TypeAlias = Literal["file", "line"]


class Report(Protocol):
    """What `Task.evaluate` found."""

    def to_table(self) -> str:
        """For readers: lines of text."""

    def to_flat_dict(self) -> Mapping[str, float | int | str]:
        """One flat dictionary, accuracies in percent."""


class Comparison(Protocol):
    """What `Task.compare` found; ``str`` of it is for readers."""

    def to_flat_dict(self) -> Mapping[str, float | int | str]:
        """One flat dictionary."""


class OwnChanges(Protocol):
    """Changing the mind of models that hold their moments themselves, folder in and folder out.

    Each raises a ConfigError in one line for what it cannot do, and writes nothing then.
    """

    def update(self, folder: Path, inputs: Sequence[str], output: Path, say: Say) -> None:
        """Add the data of files."""

    def forget(self, folder: Path, inputs: Sequence[str], output: Path, say: Say) -> None:
        """Take out the data of files."""

    def merge(self, folders: Sequence[Path], output: Path, say: Say) -> None:
        """Join models of different data."""


def silent(line: str) -> None:
    """A `Say` that says nothing."""


class Task(ABC):
    """A kind of model, and what can be done with one: an entry point in ``spectralnlp.tasks``.

    A task may give `read`, `read_gold` and `evaluate` keyword arguments of its own. The command line passes
    an option on only if it was given, and refuses it in one line where the task does not name it
    (`accepted`).

    Class attributes:
        name: as the entry point calls it, and as models of the task are marked when they are saved.
        documents: what can be added to a model and taken out: a ``file`` or a ``line``, the usual one first.
    """

    name: ClassVar[str]
    documents: ClassVar[tuple[DocumentUnit, ...]] = ("file",)

    @abstractmethod
    def read(
        self, inputs: Sequence[str | Path], *, reader: str = "auto", on_bad: OnBad | None = None
    ) -> Corpus[Any]:
        """What estimators of the task learn from.

        Args:
            inputs: files, folders and globs.
            reader: how to read them; ``auto`` to recognise it.
            on_bad: called for each bad example, which is then left out; None to stop at the first.

        Tasks that read plain text also take ``column``: of lines with tabs, the column (from 1) that holds
        the text.
        """

    def settled_reader(self, inputs: Sequence[str | Path], reader: str) -> str:
        """The reader by which more data is read as these inputs are; ``auto`` may decide by what it sees."""
        return reader

    def read_gold(
        self, inputs: Sequence[str | Path], *, reader: str = "auto", on_bad: OnBad | None = None
    ) -> Corpus[Any]:
        """What models of the task are evaluated on; the same as `read` unless the task says otherwise."""
        return self.read(inputs, reader=reader, on_bad=on_bad)

    def train(
        self, estimator: Estimator[Any], corpus: Corpus[Any], *, report: Say = silent, description: str = ""
    ) -> Any:
        """Fit an estimator and make of it what a user holds, which has ``save``, ``info`` and ``task``.

        A task whose models can change their minds writes `wrap` and inherits this.

        Args:
            estimator: one of this task.
            corpus: what `read` gave.
            report: told the time of each pass, a line each.
            description: Markdown for the model card.
        """
        with timed_passes(report):
            fitted = estimator.fit(self.examples(estimator, corpus))
        return self.wrap(fitted, report=report, description=description)

    def wrap(self, fitted: Any, *, report: Say = silent, description: str = "") -> Any:
        """What a user holds, of a fitted estimator; arguments and result as of `train`."""
        raise ConfigError(f"models for {self.name} cannot be solved from kept moments")

    def examples(self, estimator: Estimator[Any], corpus: Corpus[Any]) -> Corpus[Any]:
        """What the estimator is fitted to, of what `read` gave; the same unless the task says otherwise."""
        return corpus

    def init_kept_moments(self, estimator: Estimator[Any], corpus: Corpus[Any]) -> Moments[Any]:
        """Return empty moments for `solve`: those of the estimator, unless the task says otherwise.

        Args:
            estimator: one of this task.
            corpus: what `examples` gave, for settings that the first of them decide.

        Raises:
            ConfigError: the estimator learns from the examples themselves.
        """
        return estimator.init_kept_moments(corpus)

    def solve(
        self, estimator: Estimator[Any], moments: Any, *, report: Say = silent, description: str = ""
    ) -> Any:
        """The same as `train`, from moments."""
        with timed_passes(report):
            estimator.solve_kept(moments)
        return self.wrap(estimator, report=report, description=description)

    @abstractmethod
    def load(self, stored: StoredModel) -> Any:
        """The model in a folder."""

    def own_changes(self) -> OwnChanges | None:
        """What changes models of this task; None where moments lie beside them (`spectralnlp.changes`)."""
        return None

    def evaluate(self, model: Any, corpus: Corpus[Any]) -> Report:
        """Score a model on what `read_gold` gave, with the current engine where it helps.

        Args:
            model: what `train` or `load` gave.
            corpus: gold data.

        Raises:
            ConfigError: models of this task have no score.
        """
        raise ConfigError(f"models for {self.name} have no score on gold data")

    def compare(self, report: Any, other: Any) -> Comparison:
        """Test whether two models differ, from their reports on the same data.

        Raises:
            ConfigError: this task has no such test.
        """
        raise ConfigError(f"there is no test between two models for {self.name}", hint="evaluate each alone")

    def accepted(self, method: str, options: Mapping[str, tuple[str, Any]]) -> dict[str, Any]:
        """Options of the command line as keyword arguments of one of the task's methods.

        Args:
            method: ``read``, ``read_gold`` or ``evaluate``.
            options: by argument, the option's name on the command line and its value; those whose value is
                None or False were not given, and are left out.

        Raises:
            ConfigError: an option was given that the method does not take.
        """
        given = {argument: (flag, value) for argument, (flag, value) in options.items() if _is_given(value)}
        known = inspect.signature(getattr(self, method)).parameters
        for argument, (flag, _) in given.items():
            if argument not in known:
                raise ConfigError(f"{flag} means nothing to {self.name}", hint="leave it out")
        return {argument: value for argument, (_, value) in given.items()}


def _is_given(value: object) -> bool:
    return value is not None and value is not False
