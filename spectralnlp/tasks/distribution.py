"""Package trained models as a Python distribution that ``pip`` can install and the model registry finds."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from spectralnlp import __version__, registry
from spectralnlp.errors import ConfigError, resolved
from spectralnlp.models import folder_of, moments_folder
from spectralnlp.storage import ARRAYS, Array, load_kept_moments, load_model, save_kept_moments, staged_folder
from spectralnlp.tasks.task import Task

Kept: TypeAlias = tuple[dict[str, Any], Mapping[str, Array]]
# Settings that are files of further training sentences, which a package does not contain.
_LEFT_BEHIND = frozenset(["annotations", "silver"])
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
What {models} learned from was kept (`moments.safetensors`), for `update`, `forget`, `merge`, `explain`: it
reveals the text. Silver trees and annotations are not kept: a model that is updated learns without them.
"""


def write_distribution(
    models: Sequence[str | Path],
    output: Path,
    *,
    licence: str,
    name: str | None = None,
    tagger: str | None = None,
    keep_moments: bool = False,
    moments: Sequence[str | Path] = (),
    overwrite: bool = False,
) -> dict[str, int]:
    """Write the source folder of a distribution ``spectralnlp-NAME`` with the package ``spectralnlp_NAME``.

    Each model becomes a folder of the package, with numbers stored as float16, and an entry point in the
    group ``spectralnlp.models``, named after its folder.

    Args:
        models: model folders, or names of installed models.
        output: the folder to write.
        licence: licence of the models, an SPDX expression.
        name: name of the distribution; None for the name of the first model.
        tagger: name of the tagger whose tag probabilities the parsers among the models use; None to leave
            the tagger of each parser as it is.
        keep_moments: whether to include the moments kept with the models.
        moments: folders of further models. Only their kept moments are included, for users who have these
            models already and want to update them. Each model must be equal to the installed model that has
            the name of its folder.
        overwrite: whether a distribution of the same name may be replaced.

    Returns:
        The size in bytes of each model, and of the moments from each folder in ``moments``, by name of the
        model.

    Raises:
        ConfigError: a name or the licence is invalid, two models have the same name, a model is a sketch
            or has no kept moments, moments belong to another model than the installed one, or the folder
            cannot be written.
        ModelError: a model does not exist or is damaged.
    """
    folders, kept_of = _folders_by_name(models), _folders_by_name(moments)
    name = _checked_name(next(iter(folders)) if name is None else name, "distribution")
    licence = _checked_licence(licence)
    _check_replaceable(output, name, overwrite)
    package = f"spectralnlp_{name.replace('-', '_')}"
    constants = {each: each.replace("-", "_") for each in folders}
    kept_constants = {each: f"{each.replace('-', '_')}_moments" for each in kept_of}
    texts = {
        "pyproject.toml": _PYPROJECT.format(
            name=name,
            version=__version__,
            models=", ".join(folders),
            licence=licence,
            entries=_entries("models", package, constants) + _entries("moments", package, kept_constants),
            package=package,
        ),
        "README.md": _README.format(
            name=name,
            cards="\n".join(f"- [`{each}`]({package}/{of}/README.md)" for each, of in constants.items()),
            first=next(iter(folders)),
            licence=licence,
            kept=_KEPT.format(models=", ".join(kept_of) or "the models") if keep_moments or kept_of else "",
        ),
        f"{package}/__init__.py": _module([*constants.values(), *kept_constants.values()]),
        f"{package}/py.typed": "",
    }
    try:
        with staged_folder(resolved(output)) as fresh:
            (fresh / package).mkdir(parents=True)
            for path, text in texts.items():
                (fresh / path).write_text(text, encoding="utf-8")
            for each, folder in folders.items():
                _write_model(
                    folder,
                    fresh / package / constants[each],
                    tagger,
                    _kept(folder, folders) if keep_moments else None,
                )
            for each, folder in kept_of.items():
                _write_moments(each, folder, fresh / package / kept_constants[each], _kept(folder, folders))
    except OSError as error:
        raise ConfigError(f"cannot write the distribution: {error.strerror or error}", path=output) from error
    written = {each: output / package / of for each, of in {**constants, **kept_constants}.items()}
    return {each: sum(file.stat().st_size for file in of.iterdir()) for each, of in written.items()}


def _kept(folder: Path, folders: Mapping[str, Path]) -> Kept:
    """Return the training statistics (moments) kept with a model, as metadata and arrays, for packaging.

    If a setting of the estimator is the path of another packaged model, it is replaced by that model's name.
    Files of silver trees and annotations stay behind, so that an update learns without them.

    Args:
        folder: folder of the model.
        folders: folders of all packaged models, by name.

    Raises:
        ConfigError: no moments are kept with the model.
    """
    kept = load_kept_moments(moments_folder(folder), folder)
    if kept is None:
        what = f"{folder} has no kept moments"
        raise ConfigError(what, hint="train it with `keep_moments`")
    name_of = {str(each.resolve()): name for name, each in folders.items()}
    settings = {
        setting: name_of.get(str(Path(value).resolve()), value) if isinstance(value, str) else value
        for setting, value in kept[0].take("settings", Mapping[str, Any]).items()
        if setting not in _LEFT_BEHIND
    }
    return {**kept[0], "settings": settings}, kept[1].all()


def _loaded(folder: Path) -> Any:
    stored = load_model(folder)
    task: Task = registry.tasks.get(stored.kind)()
    model = task.load(stored)
    if not hasattr(model, "save"):  # a sketch
        raise ConfigError(f"a {stored.kind} cannot be packaged", path=folder)
    return model


def _write_model(folder: Path, target: Path, tagger: str | None, kept: Kept | None) -> None:
    model = _loaded(folder)
    if tagger is not None and is_dataclass(model) and hasattr(model, "tagger"):
        model = replace(model, tagger=tagger)  # type: ignore[type-var]
    model.save(target, compact=True)
    if kept is not None:
        save_kept_moments(target, *kept)


def _write_moments(name: str, folder: Path, target: Path, kept: Kept) -> None:
    """Write training statistics (moments) to a folder, for use with an installed model.

    The moments are those of the model in ``folder``, which must equal the installed model.

    Args:
        name: name of the installed model.
        folder: folder of the model from which the moments come.
        target: folder to write.
        kept: metadata and arrays of the moments.

    Raises:
        ConfigError: no model of this name is installed, or it differs from the one in ``folder``.
    """
    if name not in registry.models:
        raise ConfigError(f"no model {name} is installed", hint=f"package and install {folder} first")
    installed = Path(registry.models.get(name))
    with TemporaryDirectory() as scratch:
        _loaded(folder).save(Path(scratch) / name, compact=True)
        if (Path(scratch) / name / ARRAYS).read_bytes() != (installed / ARRAYS).read_bytes():
            what = f"the installed model {name} differs from {folder}"
            raise ConfigError(what, hint="package and install that one first")
    target.mkdir()
    save_kept_moments(target, *kept, installed)


def _folders_by_name(models: Sequence[str | Path]) -> dict[str, Path]:
    """Return a mapping from the name that each model will have in the distribution to its folder.

    Raises:
        ConfigError: a name is invalid, or two models have the same name.
    """
    folders: dict[str, Path] = {}
    for model in models:
        folder = folder_of(model)
        name = _checked_name(folder.resolve().name.replace("_", "-"), "model")
        if name in folders:
            raise ConfigError(
                f"two models are called {name}", hint="rename a folder: a model is named after its folder"
            )
        folders[name] = folder
    return folders


def _checked_name(name: str, noun: str) -> str:
    if _NAME.fullmatch(name) is None:
        what = f"not a valid name of a {noun}: {name!r}"
        raise ConfigError(what, hint="use lowercase letters and digits, separated by hyphens: my-parser")
    return name


def _checked_licence(licence: str) -> str:
    try:
        return str(canonicalize_license_expression(licence))
    except InvalidLicenseExpression as error:
        what = f"{licence!r} is not an SPDX expression"
        raise ConfigError(what, hint="such as CC-BY-4.0, or LicenseRef-NAME for another licence") from error


def _check_replaceable(output: Path, name: str, overwrite: bool) -> None:
    """Check that writing a distribution to the output folder would not replace anything else.

    Raises:
        ConfigError: the folder holds something other than a distribution of this name, or it holds such a
            distribution and ``overwrite`` is False.
    """
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return
    project_file = output / "pyproject.toml"
    if not project_file.is_file() or f'\nname = "spectralnlp-{name}"\n' not in project_file.read_text(
        "utf-8", "replace"
    ):
        what = f"something other than the distribution spectralnlp-{name} is here"
        raise ConfigError(what, path=output, hint="choose another folder")
    if not overwrite:
        what = "a distribution of this name is here already"
        raise ConfigError(what, path=output, hint="choose another folder, or `overwrite`")


def _entries(group: str, package: str, constants: Mapping[str, str]) -> str:
    """Return the section of ``pyproject.toml`` that registers entry points; empty if there are none.

    Args:
        group: the entry-point group.
        package: name of the package whose constants are registered.
        constants: mapping from the name of each entry point, without the suffix ``.v1``, to the name of a
            constant of the package, in lower case.
    """
    lines = [f'"{name}.v1" = "{package}:{of.upper()}"\n' for name, of in constants.items()]
    return "".join([f'[project.entry-points."spectralnlp.{group}"]\n', *lines, "\n"]) if lines else ""


def _module(folders: Sequence[str]) -> str:
    lines = [f"{each.upper()} = Path(__file__).parent / {json.dumps(each)}" for each in folders]
    return "\n".join(
        [
            '"""Paths of the model folders in this package, by which spectralnlp finds the models."""',
            "",
            "from pathlib import Path",
            "",
            *lines,
            "",
        ]
    )
