"""Functions shared by the commands that change models: ``update``, ``forget`` and ``merge``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, cast

import typer

from spectralnlp.cli.console import say

if TYPE_CHECKING:
    from spectralnlp.changes import Change, KeptMoments
    from spectralnlp.runtime import Corpus
    from spectralnlp.tasks.task import FolderChanges

ChangedModel: TypeAlias = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="DIR", help="Where to write; by default, MODEL.")
]


def load_kept(model: str, verb: str) -> KeptMoments:
    """Read the moments (training statistics) that are kept beside a model.

    Args:
        model: name or folder of the model.
        verb: what the command does with the model, for the error message.

    Raises:
        ModelError: there is no such model, or its moments are damaged.
        ConfigError: the model has no moments, or its estimator cannot keep any.
    """
    from spectralnlp.changes.kept_moments import KeptMoments
    from spectralnlp.models import folder_of

    return KeptMoments.load(folder_of(model), verb)


def folder_changes(model: str) -> tuple[Path, FolderChanges | None]:
    """Return the folder of a model, and the updater of models of its kind; None for most kinds.

    Only models that contain their training statistics, instead of keeping them in separate files, have an
    updater (`FolderChanges`), which changes the model in its folder.

    Args:
        model: name or folder of the model.

    Raises:
        ModelError: there is no such model.
    """
    from spectralnlp import registry
    from spectralnlp.models import folder_of
    from spectralnlp.storage import kind_of

    folder = folder_of(model)
    kind = kind_of(folder)
    return folder, registry.tasks.get(kind)().folder_changes() if kind in registry.tasks else None


def changed_folder(model: str, output: Path | None) -> tuple[Path, FolderChanges | None, Path]:
    """Return the folder and the updater of a model (see `folder_changes`), and the folder for the result.

    Args:
        model: name or folder of the model.
        output: folder to write; None to replace the model.

    Raises:
        ModelError: there is no such model.
        ConfigError: the folder is not writable, or belongs to an installed model.
    """
    from spectralnlp.errors import ConfigError
    from spectralnlp.storage import check_writable

    folder, changes = folder_changes(model)
    if output is None and folder != Path(model):
        raise ConfigError(
            f"{model} is installed, and stays as it is", hint="name a folder for the result: -o"
        )
    target = output or folder
    check_writable(target)
    return folder, changes, target


def refuse_options(model: str, options: Mapping[str, Any]) -> None:
    """Refuse options that do not apply to a model which contains its training statistics.

    Args:
        model: name of the model as the user wrote it.
        options: maps option names to values; options that were not given are None, False or empty.

    Raises:
        ConfigError: one of the options was given.
    """
    from spectralnlp.errors import ConfigError

    for flag, value in options.items():
        if value:
            raise ConfigError(f"{flag} means nothing to {model}", hint="leave it out")


def tagger_of(folder: Path) -> str | None:
    """Return the name of the tagger that the parser in a folder uses, or None if it uses none."""
    from spectralnlp.storage import read_header

    return cast("str | None", read_header(folder)["metadata"].get("tagger"))


def read_documents(
    kept: KeptMoments,
    inputs: list[str],
    columns: tuple[Any, Any] = (None, None),
    weight: list[str] | None = None,
) -> Corpus[Any]:
    """Read files with the options used for the training data; options on the command line take precedence.

    Args:
        kept: kept moments (training statistics) of the model, with the options of reading.
        inputs: files, folders or globs.
        columns: values of ``--text-column`` and ``--label-column``; None if not given.
        weight: values of ``--weight``, how often the trees of an input count.
    """
    from spectralnlp.cli.options import accepted, weights_of
    from spectralnlp.runtime import rereadable

    options = {
        "text_column": ("--text-column", columns[0]),
        "label_column": ("--label-column", columns[1]),
        "weights": ("--weight", weights_of(weight)),
    }
    more = {**kept.reading, **accepted(kept.task, "read", options)}
    corpus: Corpus[Any] = kept.task.read(rereadable(inputs), **more)
    return corpus


def save_change(change: Change, output: str | Path, tagger: str | None = None) -> None:
    """Write a changed model, and report the time taken and the number of documents in the model.

    Args:
        change: the changed model with its moments.
        output: folder to write.
        tagger: name of the tagger that the parser uses; see `tagger_of`.
    """
    if tagger is not None:
        change = replace(change, model=replace(change.model, tagger=tagger))
    change.save(output, overwrite=True)  # `changed_folder` has checked the folder
    n, unit = len(change.kept.ledger), change.kept.unit
    say(f"observed in {change.observe_seconds:.2f} s, solved in {change.solve_seconds:.2f} s")
    say(f"{output}: {n:,} {unit}{'' if n == 1 else 's'}")
