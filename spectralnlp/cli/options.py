"""Options that several commands share, and a check of the options that a task accepts."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from spectralnlp.errors import ConfigError

if TYPE_CHECKING:
    from spectralnlp.tasks.task import Task

ModelName: TypeAlias = Annotated[str, typer.Argument(metavar="MODEL", help="Name or folder of a model.")]


def _column(value: str) -> str | int:
    """Parse the value of a column option: a column's number (from 1) if it has only digits, else its name."""
    if value.isdecimal() and int(value) < 1:
        raise typer.BadParameter("columns are numbered from 1")
    return int(value) if value.isdecimal() else value


TextColumn: TypeAlias = Annotated[
    Any,
    typer.Option(
        "--text-column",
        parser=_column,
        metavar="NAME|N",
        help="Of tables, the column with the text; a number where the first line has no names.",
    ),
]
LabelColumn: TypeAlias = Annotated[
    Any,
    typer.Option(
        "--label-column", parser=_column, metavar="NAME|N", help="Of tables, the column with the label."
    ),
]
TextModel: TypeAlias = Annotated[
    str | None,
    typer.Option("--model", "-m", metavar="NAME|PATH", help="The files are text: parse it with this."),
]
TokenizedText: TypeAlias = Annotated[
    bool, typer.Option("--tokenized", help="With --model: a sentence a line, blanks between tokens.")
]
TreeReader: TypeAlias = Annotated[
    str, typer.Option("--reader", metavar="NAME", help="Reader of the treebank; by default recognised.")
]
FileEncoding: TypeAlias = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="Of trees, tagged and labelled text; default theirs."),
]
Renamings: TypeAlias = Annotated[
    Path | None,
    typer.Option("--map", metavar="FILE", help="Table of labels and tags of trees to rename; see docs."),
]
TreebankWeights: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--weight", metavar="INPUT=N", help="How often trees of an INPUT count; repeatable, by default once."
    ),
]
SkipBad: TypeAlias = Annotated[
    bool, typer.Option("--skip-bad", help="Leave out, count and name what cannot be read.")
]
EvalbFile: TypeAlias = Annotated[
    Path | None, typer.Option("--prm", metavar="FILE", help="EVALB parameters; default COLLINS.prm's.")
]
OutputFile: TypeAlias = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write.")
]
NewFolder: TypeAlias = Annotated[
    Path, typer.Option("--output", "-o", metavar="DIR", help="The model folder to make.")
]

Overwrite: TypeAlias = Annotated[
    bool, typer.Option("--overwrite", help="Replace the model that is in DIR already.")
]


_WEIGHT = re.compile(r"\s*\d{1,9}\s*")


def weights_of(options: list[str] | None) -> dict[str, int] | None:
    """Return the values of ``--weight`` as a mapping of inputs to weights; None if there are none.

    Raises:
        ConfigError: a value is not INPUT=N with a whole number N.
    """
    found: dict[str, int] = {}
    for each in options or []:
        name, equals, weight = each.rpartition("=")
        if not equals or not name or not _WEIGHT.fullmatch(weight):
            what = f"--weight takes INPUT=N with a whole number N from 1, not {each!r}"
            raise ConfigError(what, hint="trees count once, twice …, so that forgetting them is exact")
        found[name] = int(weight)
    return found or None


def map_of(path: Path | None) -> list[str] | None:
    """Return the lines of the file of ``--map``, a table of labels to rename; None if ``path`` is None.

    Raises:
        InputError: the file cannot be read, or a line is invalid; see `read_renaming`.
    """
    from spectralnlp.trees.renaming import read_renaming

    return None if path is None else read_renaming(path)


def accepted(task: Task, method: str, options: Mapping[str, tuple[str, Any]]) -> dict[str, Any]:
    """Return the options that were given, as keyword arguments of a method of a task.

    Args:
        task: task of the model or the estimator.
        method: name of the method: ``read``, ``read_gold`` or ``evaluate``.
        options: maps each argument of the method to an option (name and value). Options with the value None
            or False were not given.

    Raises:
        ConfigError: the method does not take an option that was given.
    """
    given = {
        argument: each for argument, each in options.items() if each[1] is not None and each[1] is not False
    }
    known = inspect.signature(getattr(task, method)).parameters
    for argument, (flag, _) in given.items():
        if argument not in known:
            raise ConfigError(f"{flag} means nothing to {task.name}", hint="leave it out")
    return {argument: value for argument, (_, value) in given.items()}
