"""Read the help text of a plugin's command from its source, without importing the plugin."""

from __future__ import annotations

import ast
from importlib.machinery import ModuleSpec, PathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spectralnlp.registry import Entry


def summary(entry: Entry) -> str:
    """Return a line that describes a plugin's command, for the list of commands.

    The line is the first paragraph of the command's docstring, or else names the plugin's package. If the
    command cannot be loaded, the reason follows.

    Args:
        entry: entry in the registry of commands.
    """
    text = _first_sentence(entry.value) or f"from {entry.distribution}"
    return text if entry.status == "ok" else f"{text} ({entry.status}: {entry.reason})"


def _first_sentence(value: str) -> str:
    module, _, name = value.partition(":")
    spec = _found(module)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return ""
    try:
        with open(spec.origin, encoding="utf-8") as source:
            body = ast.parse(source.read()).body
    except (OSError, ValueError, SyntaxError):
        return ""
    text = next(filter(None, (_documentation(each, name) for each in body)), "")
    return " ".join(text.split("\n\n")[0].split())


def _documentation(statement: ast.stmt, name: str) -> str | None:
    """Return the help text of a name, if a statement of the source defines that name; else None.

    Args:
        statement: a statement such as ``def name(): …``, whose docstring is the text, or
            ``name = Typer(help=…)``, whose argument ``help`` is the text.
        name: the name.
    """
    match statement:
        case ast.FunctionDef(name=found) if found == name:
            return ast.get_docstring(statement)
        case ast.Assign(targets=[ast.Name(id=found)], value=ast.Call(keywords=keywords)) if found == name:
            texts = (each.value for each in keywords if each.arg == "help")
            return next((str(each.value) for each in texts if isinstance(each, ast.Constant)), None)
        case _:
            return None


def _found(module: str) -> ModuleSpec | None:
    """Find a module without importing its parent packages; return its spec, or None."""
    path, spec, name = None, None, ""
    for part in module.split("."):
        name = f"{name}.{part}" if name else part
        spec = PathFinder.find_spec(name, path)
        if spec is None:
            return None
        path = spec.submodule_search_locations
    return spec
