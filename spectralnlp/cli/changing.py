"""Functions shared by the commands ``update``, ``forget`` and ``merge``."""

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
    from spectralnlp.tasks.task import OwnChanges

ChangedModel: TypeAlias = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="DIR", help="Where to write; by default, MODEL.")
]


def load_kept(model: str, verb: str) -> KeptMoments:
    """Read the moments beside a model, for a command.

    Raises:
        ModelError: there is no such model, or its moments are damaged.
        ConfigError: there are none, or its estimator keeps none.
    """
    from spectralnlp.changes.kept import KeptMoments
    from spectralnlp.models import folder_of

    return KeptMoments.load(folder_of(model), verb)


def own_changes(model: str) -> tuple[Path, OwnChanges | None]:
    """Return the folder of a model, and its own updates if it holds its moments itself.

    Raises:
        ModelError: there is no such model.
    """
    from spectralnlp import registry
    from spectralnlp.models import folder_of
    from spectralnlp.storage import kind_of

    folder = folder_of(model)
    kind = kind_of(folder)
    return folder, registry.tasks.get(kind)().own_changes() if kind in registry.tasks else None


def changed_folder(model: str, output: Path | None) -> tuple[Path, OwnChanges | None, Path]:
    """Return what `own_changes` does, and the folder to write, which is that of the model by default.

    Raises:
        ModelError: there is no such model.
        ConfigError: the folder cannot be written, or is that of an installed model.
    """
    from spectralnlp.errors import ConfigError
    from spectralnlp.storage import check_writable

    folder, own = own_changes(model)
    if output is None and folder != Path(model):
        raise ConfigError(
            f"{model} is installed, and stays as it is", hint="name a folder for the result: -o"
        )
    target = output or folder
    check_writable(target)
    return folder, own, target


def refuse_options(model: str, options: Mapping[str, Any]) -> None:
    """Refuse options that mean nothing to a model with updates of its own.

    Args:
        model: as the user wrote it.
        options: the names and values; those that were not given are None, False or empty.

    Raises:
        ConfigError: one was given.
    """
    from spectralnlp.errors import ConfigError

    for flag, value in options.items():
        if value:
            raise ConfigError(f"{flag} means nothing to {model}", hint="leave it out")


def tagger_of(folder: Path) -> str | None:
    """Return the name of the tagger that the parser in a folder listens to, which no moments know."""
    from spectralnlp.storage import read_header

    return cast("str | None", read_header(folder)["metadata"].get("tagger"))


def read_documents(
    kept: KeptMoments,
    inputs: list[str],
    columns: tuple[Any, Any] = (None, None),
    weight: list[str] | None = None,
) -> Corpus[Any]:
    """Read files as the data of the model was read, but for what is given.

    Args:
        kept: the moments beside the model.
        inputs: files, folders and globs.
        columns: values of ``--text-column`` and ``--label-column``.
        weight: values of ``--weight``.
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
    """Write the model; report how much is in it and how long it took.

    Args:
        change: what to write.
        output: the folder.
        tagger: name of the one that the parser listens to; see `tagger_of`.
    """
    if tagger is not None:
        change = replace(change, model=replace(change.model, tagger=tagger))
    change.save(output, overwrite=True)  # checked before
    n, unit = len(change.kept.ledger), change.kept.unit
    say(f"observed in {change.observing:.2f} s, solved in {change.solving:.2f} s")
    say(f"{output}: {n:,} {unit}{'' if n == 1 else 's'}")
