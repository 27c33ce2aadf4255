"""Find tables of pages that are stale, by digests of the code that made them.

A filled table ends in ``<!-- end: DATE DIGEST -->``. The digest covers the table's command and the code that
it runs. Comments, docstrings and layout are left out, so that better words make no table stale; so are the
descriptions and limits of settings, which change no result.

- ``python -m benchmarks.X`` depends on the modules that it imports, directly or not, in ``benchmarks``,
  ``spectralnlp`` and the plugins. Registered objects are imported by name, so the entry points of these
  packages belong to them, except for those of the command line.
- A command that reads a page, such as ``awk``, depends on the tables of that page.
- Any other command, such as ``spectralnlp``, depends on all modules of ``spectralnlp`` and the plugins.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path

import grimp

TABLE = re.compile(
    r"(?P<start><!-- table: (?P<command>.*?) -->\n)(?P<body>.*?)"
    r"<!-- end(?:: (?P<date>\d{4}-\d\d-\d\d) (?P<digest>[0-9a-f]{8}))? -->\n",
    re.DOTALL,
)
ROOT = Path(__file__).parent.parent
PAGES = ("README.md", "docs/**/*.md", "benchmarks/**/*.md", "grammars/*.md", "grammars/*/README.md")
MODULE = re.compile(r"\bpython -m (benchmarks\.\w+)")
PAGE = re.compile(r"\S+\.md\b")
COMMANDS = "spectralnlp.commands"  # the entry points of the command line
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
OF_SETTINGS = ("Doc", "Ge", "Gt", "Le", "Lt")  # descriptions and limits, in `Annotated`


def pages_of(root: Path) -> list[Path]:
    """Return the pages of a repository that may have tables."""
    return [page for pattern in PAGES for page in sorted(root.glob(pattern))]


def stale_tables(pages: Iterable[Path]) -> Iterator[str]:
    """Yield a line for each table of some pages that has no digest, or whose digest is that of other code."""
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for table in TABLE.finditer(text):
            if table["digest"] != digest(table["command"]):
                line = text.count("\n", 0, table.start()) + 1
                why = f"stale, made on {table['date']} by other code" if table["digest"] else "not known"
                shown = page.relative_to(ROOT) if page.is_relative_to(ROOT) else page
                yield f"{shown}:{line}: {why}: {table['command']}"


def end_marker(stamp: str) -> str:
    """Return the last line of a table block, with today's date and the digest of the table's code.

    Args:
        stamp: the digest.
    """
    return f"<!-- end: {datetime.now(UTC):%Y-%m-%d} {stamp} -->\n"


def digest(command: str) -> str:
    """Return eight hexadecimal digits that change with a command, or with what it depends on."""
    modules = MODULE.findall(command)
    pages = [] if modules else [page for name in PAGE.findall(command) if (page := ROOT / name).is_file()]
    if pages:
        parts = [
            table["body"] for page in pages for table in TABLE.finditer(page.read_text(encoding="utf-8"))
        ]
    else:
        parts = [f"{module}: {code_of(path_of(module))}" for module in sorted(dependencies(modules))]
    return sha256("\n".join([command, *parts]).encode()).hexdigest()[:8]


def dependencies(modules: Iterable[str]) -> set[str]:
    """Return modules and all that they depend on; if none is given, the whole package and its plugins."""
    graph = import_graph()
    needed = {module for name in modules for module in {name, *graph.find_upstream_modules(name)}}
    if not needed:
        return {module for module in graph.modules if not module.startswith("benchmarks")}
    packages = {module.partition(".")[0] for module in needed}
    registered = {module for module in entry_points() if module.partition(".")[0] in packages}
    return needed.union(registered, *(graph.find_upstream_modules(module) for module in registered))


def entry_points() -> set[str]:
    """Return the modules of all entry points, except for those of the command line."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = project["entry-points"].items()
    targets = [target for group, points in groups if group != COMMANDS for target in points.values()]
    return {re.split(r"[: ]", target)[0] for target in targets}


@cache
def import_graph() -> grimp.ImportGraph:
    """Return the graph of imports between modules, those for type checkers included.

    Packages import lazily, so that some imports are visible to type checkers only.
    """
    plugins = sorted(path.name for path in (ROOT / "plugins").iterdir())
    return grimp.build_graph("benchmarks", "spectralnlp", *plugins, cache_dir=None)


def path_of(module: str) -> Path:
    """Return the path of a module's file."""
    base = (
        ROOT
        if module.startswith(("benchmarks", "spectralnlp.")) or module == "spectralnlp"
        else ROOT / "plugins"
    )
    path = base.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def code_of(path: Path) -> str:
    """Return the syntax tree of a file without words and limits, the same text in all versions of Python."""
    return dump(ast.parse(path.read_text(encoding="utf-8")))


def dump(node: object) -> str:
    """Return a syntax tree as text, without docstrings, absent parts, contexts of names and `OF_SETTINGS`."""
    if isinstance(node, list):
        return f"[{','.join(dump(each) for each in node if not is_of_setting(each))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = dict(ast.iter_fields(node))
    fields.pop("ctx", None)
    if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
        fields["body"] = node.body[1:]
    shown = (f"{name}={dump(value)}" for name, value in fields.items() if value not in (None, []))
    return f"{type(node).__name__}({','.join(shown)})"


def is_of_setting(node: object) -> bool:
    """Return whether a syntax tree is a description or a limit of a setting, or imports their class."""
    if isinstance(node, ast.alias):
        return node.name in OF_SETTINGS
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in OF_SETTINGS
