"""Generate the reference pages of the documentation from the code.

``docs/api.md`` lists the public names and the hyper-parameters of every estimator;
``docs/reference/commands.md`` describes the command line.

    python -m benchmarks.reference           # write the pages
    python -m benchmarks.reference --check   # only check whether they are up to date
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, get_args, get_type_hints

from typer import Typer
from typer.models import ArgumentInfo

import spectralnlp
import spectralnlp.testing
from benchmarks import report
from spectralnlp import registry
from spectralnlp.cli.app import app
from spectralnlp.estimator import Estimator
from spectralnlp.hyperparameters import hyperparameters

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "api.md"
COMMANDS_PAGE = DOCS / "reference" / "commands.md"
HEAD = """# Reference

A name is public if it stands in `spectralnlp.__all__` or in the `__all__` of a package below it; all others
may change without notice. `help(spectralnlp.train)` says more than this page.
"""
FOOT = "\n---\n\nWritten by `python -m benchmarks.reference` from the code; do not edit by hand.\n"


def first_line(value: Any) -> str:
    """Return the first paragraph of a docstring, for a table cell."""
    text = (inspect.getdoc(value) or "").split("\n\n")[0]
    return cell(re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", text))


def cell(text: str) -> str:
    """Return a text escaped for a cell of a Markdown table."""
    return " ".join(text.split()).replace("``", "`").replace("|", "\\|")


def names(module: ModuleType) -> Iterator[str]:
    """Yield the Markdown lines of a table of a module's public names."""
    yield "| name | |"
    yield "| --- | --- |"
    for name in module.__all__:
        if name == "__version__":
            yield f"| `{name}` | The version of the package. |"
            continue
        value = getattr(module, name)
        call = "()" if inspect.isfunction(value) else ""
        is_text = inspect.isclass(value) or inspect.isfunction(value)
        about = first_line(value) if is_text else "Checks by name, to run one by one."
        yield f"| `{name}{call}` | {about} |"


def estimator(name: str, kind: type[Estimator[Any]]) -> Iterator[str]:
    """Yield the Markdown lines of the section on an estimator: description, presets and hyper-parameters."""
    bare = name.partition(".v")[0]
    yield f"\n### `{bare}`: {kind.display_name}\n"
    yield f"{first_line(kind)}\n"
    yield f"Task `{kind.task}`; unlearning: {kind.unlearning}."
    if kind.presets:
        yield ""
    for preset, settings in kind.presets.items():
        text = ", ".join(f"{key}={value!r}" for key, value in settings.items())
        yield f"- `preset={preset}`: `{text}`"
    declared = hyperparameters(kind)
    if declared:
        yield from ["", "| hyper-parameter | type | default | |", "| --- | --- | --- | --- |"]
        for each in declared.values():
            default = f"`{each.default!r}`"
            yield f"| `{each.name}` | {cell(each.type)} | {cell(default)} | {cell(each.help)} |"


def page() -> str:
    """Return the page of public names and estimators."""
    lines = [HEAD, "## `spectralnlp`\n", *names(spectralnlp)]
    lines += ["\n## `spectralnlp.testing`\n", *names(spectralnlp.testing)]
    lines += ["\n## Estimators\n", "The settings of `spectralnlp train NAME --set KEY=VALUE`, and of Python."]
    for group in (registry.estimators, registry.featurizers):
        for entry in group.describe():
            if entry.status == "ok" and entry.distribution.startswith("spectralnlp "):
                lines += estimator(entry.name, group.get(entry.name))
    return "\n".join(lines) + "\n" + FOOT


COMMANDS_HEAD = """# Command line

Exit status: 0 done, 2 the input's fault (one line on standard error), 130 interrupted, 141 whoever read the
output stopped reading.
"""


def command(name: str, function: Callable[..., None]) -> Iterator[str]:
    """Yield the lines of the section on a command: description, arguments and options.

    Args:
        name: name of the command, as typed after ``spectralnlp``.
        function: function of the command, with Typer's annotations.
    """
    yield f"\n## `{name}`\n"
    yield inspect.getdoc(function) or ""
    rows = []
    hints = get_type_hints(function, include_extras=True)
    for parameter in inspect.signature(function).parameters.values():
        declared = getattr(hints[parameter.name], "__metadata__", (parameter.default,))[0]
        if declared.hidden:
            continue
        value = declared.metavar or parameter.name.upper()
        if isinstance(declared, ArgumentInfo):
            rows.append(f"| `{cell(value)}` | {cell(declared.help or '')} | |")
            continue
        given = [
            text for text in (declared.default, *(declared.param_decls or ())) if str(text).startswith("--")
        ]
        flags = given or [f"--{parameter.name.replace('_', '-')}"]
        flags += [text for text in declared.param_decls or () if not text.startswith("--")]
        is_flag = get_args(hints[parameter.name])[:1] == (bool,) or hints[parameter.name] is bool
        shown = ", ".join(f"`{flag}`" for flag in flags) + ("" if is_flag else f" `{cell(value)}`")
        rows.append(f"| {shown} | {cell(declared.help or '')} | {shown_default(parameter)} |")
    if rows:
        yield from ["", "| | | default |", "| --- | --- | --- |", *rows]


def shown_default(parameter: inspect.Parameter) -> str:
    """Return the default of an option for a table cell: empty for None, a flag that is off, and no values."""
    default = parameter.default
    if default is inspect.Parameter.empty:
        return "required"
    return "" if default is None or default is False or default in ((), [], "") else f"`{default}`"


def functions_of(group: Typer, prefix: str = "") -> dict[str, Callable[..., None]]:
    """Return the functions of a group of commands by name; names begin with ``prefix``."""
    named = {
        each.name or each.callback.__name__: each.callback
        for each in group.registered_commands
        if each.callback
    }
    return {prefix + name: function for name, function in named.items()}


def commands_page() -> str:
    """Return the page on the command line."""
    functions = functions_of(app)
    for entry in sorted(registry.commands.describe(), key=lambda entry: entry.name):
        if entry.status == "ok" and entry.distribution.startswith("spectralnlp "):
            name, value = entry.name.partition(".v")[0], registry.commands.get(entry.name)
            found = functions_of(value, f"{name} ") if isinstance(value, Typer) else {name: value}
            # A command of the core, which comes first, may hand over to one of the same name.
            functions |= {each: function for each, function in found.items() if each not in functions}
    lines = [COMMANDS_HEAD.rstrip()]
    for name, function in functions.items():
        lines += command(name, function)
    return "\n".join(lines) + "\n" + FOOT


PAGES: Mapping[Path, Callable[[], str]] = {PAGE: page, COMMANDS_PAGE: commands_page}


def main() -> None:
    """Write the reference pages, or check that they are up to date, as the command line says."""
    parser = report.argument_parser(__doc__)
    parser.add_argument("--check", action="store_true", help="exit with 1 if one is out of date")
    if parser.parse_args().check:
        sys.exit(int(any(path.read_text(encoding="utf-8") != made() for path, made in PAGES.items())))
    for path, made in PAGES.items():
        path.write_text(made(), encoding="utf-8")


if __name__ == "__main__":
    main()
