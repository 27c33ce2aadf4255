"""Models as a distribution of their own, which ``pip install`` takes and the registry of models finds."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from spectralnlp import __version__, registry
from spectralnlp.errors import ConfigError
from spectralnlp.models import folder_of
from spectralnlp.storage import load_kept_moments, load_model, save_kept_moments, staged_folder
from spectralnlp.tasks.task import Task

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

_PYPROJECT = """[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = "spectralnlp-{name}"
version = "{version}"
description = "Models for spectralnlp: {models}"
readme = "README.md"
license = "{licence}"
requires-python = ">=3.11"
dependencies = ["spectralnlp>={version}"]

[project.entry-points."spectralnlp.models"]
{entries}

[tool.hatch.build.targets.wheel]
packages = ["{package}"]
"""

_README = """# spectralnlp-{name}

Models for [spectralnlp](https://pypi.org/project/spectralnlp/), in this folder:

{cards}

Install them with `pip install` and this folder; they are known by name then: `spectralnlp.load("{first}")`.

Licence: {licence}, that of what they were learned from; the cards say more.
{kept}"""

_KEPT = """
What they were learned from was kept (`moments.safetensors`), for `update`, `forget`, `merge`: it reveals
their text.
"""


def write_distribution(
    models: Sequence[str | Path],
    output: Path,
    *,
    licence: str,
    name: str | None = None,
    tagger: str | None = None,
    keep_moments: bool = False,
    overwrite: bool = False,
) -> dict[str, int]:
    """Write the source folder of a distribution ``spectralnlp-NAME`` with the package ``spectralnlp_NAME``.

    Each model is a folder in the package, in half precision, and an entry point in ``spectralnlp.models`` of
    the name of its folder.

    Args:
        models: folders, or names of installed models.
        output: the folder to make.
        licence: of the models, an SPDX expression.
        name: of the distribution; None for that of the first model.
        tagger: name of the tagger that the parsers among them listen to; None to leave theirs.
        keep_moments: take along what the models were learned from.
        overwrite: whether a distribution of that name may be replaced.

    Returns:
        The size of each model in bytes, by name.

    Raises:
        ConfigError: a name or the licence is none, two models have the same, or the folder cannot be written.
        ModelError: there is no such model, or it is damaged.
    """
    folders = _folders_by_name(models)
    name = _checked_name(next(iter(folders)) if name is None else name, "distribution")
    licence = _checked_licence(licence)
    _check_replaceable(output, name, overwrite)
    package = f"spectralnlp_{name.replace('-', '_')}"
    constants = {each: each.replace("-", "_") for each in folders}
    texts = {
        "pyproject.toml": _PYPROJECT.format(
            name=name,
            version=__version__,
            models=", ".join(folders),
            licence=licence,
            entries="\n".join(f'"{each}.v1" = "{package}:{of.upper()}"' for each, of in constants.items()),
            package=package,
        ),
        "README.md": _README.format(
            name=name,
            cards="\n".join(f"- [`{each}`]({package}/{of}/README.md)" for each, of in constants.items()),
            first=next(iter(folders)),
            licence=licence,
            kept=_KEPT if keep_moments else "",
        ),
        f"{package}/__init__.py": _module(constants),
        f"{package}/py.typed": "",
    }
    try:
        with staged_folder(output.resolve()) as fresh:
            (fresh / package).mkdir(parents=True)
            for path, text in texts.items():
                (fresh / path).write_text(text, encoding="utf-8")
            for each, folder in folders.items():
                _write_model(folder, fresh / package / constants[each], tagger, keep_moments)
    except OSError as error:
        raise ConfigError(f"cannot write the distribution: {error.strerror or error}", path=output) from error
    written = {each: output / package / of for each, of in constants.items()}
    return {each: sum(file.stat().st_size for file in of.iterdir()) for each, of in written.items()}


def _write_model(folder: Path, target: Path, tagger: str | None, keep_moments: bool) -> None:
    kept = load_kept_moments(folder) if keep_moments else None
    if keep_moments and kept is None:
        what = f"{folder} keeps nothing of what it was learned from"
        raise ConfigError(what, hint="leave `keep_moments` out, or train it with it")
    stored = load_model(folder)
    task: Task = registry.tasks.get(stored.kind)()
    model: Any = task.load(stored)
    if tagger is not None and is_dataclass(model) and hasattr(model, "tagger"):
        model = replace(model, tagger=tagger)  # type: ignore[type-var]
    model.save(target, compact=True)
    if kept is not None:
        save_kept_moments(target, dict(kept[0]), kept[1].all())


def _folders_by_name(models: Sequence[str | Path]) -> dict[str, Path]:
    """The folders by the names that the models will have."""
    folders: dict[str, Path] = {}
    for model in models:
        folder = folder_of(model)
        name = _checked_name(folder.resolve().name.replace("_", "-"), "model")
        if name in folders:
            raise ConfigError(
                f"two models are called {name}", hint="rename a folder: models are called as theirs"
            )
        folders[name] = folder
    return folders


def _checked_name(name: str, noun: str) -> str:
    if _NAME.fullmatch(name) is None:
        what = f"no name of a {noun}: {name!r}"
        raise ConfigError(what, hint="small letters and digits, with hyphens between: my-parser")
    return name


def _checked_licence(licence: str) -> str:
    try:
        return str(canonicalize_license_expression(licence))
    except InvalidLicenseExpression as error:
        what = f"{licence!r} is no SPDX expression"
        raise ConfigError(what, hint="such as CC-BY-4.0, or LicenseRef-NAME for one of your own") from error


def _check_replaceable(output: Path, name: str, overwrite: bool) -> None:
    """Refuse a folder that holds something else, or a distribution that may not be replaced."""
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return
    described = output / "pyproject.toml"
    if not described.is_file() or f'\nname = "spectralnlp-{name}"\n' not in described.read_text(
        "utf-8", "replace"
    ):
        what = f"something other than the distribution spectralnlp-{name} is here"
        raise ConfigError(what, path=output, hint="choose another folder")
    if not overwrite:
        what = "a distribution of this name is here already"
        raise ConfigError(what, path=output, hint="choose another folder, or `overwrite`")


def _module(constants: Mapping[str, str]) -> str:
    lines = [f"{of.upper()} = Path(__file__).parent / {json.dumps(of)}" for of in constants.values()]
    return "\n".join(
        [
            '"""Models for spectralnlp, each a folder with its card."""',
            "",
            "from pathlib import Path",
            "",
            *lines,
            "",
        ]
    )
