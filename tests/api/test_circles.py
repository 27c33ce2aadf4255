"""No file imports itself by way of others, imports inside functions and under ``TYPE_CHECKING`` counted."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = [ROOT / "spectralnlp", *sorted((ROOT / "plugins").glob("spectralnlp_*"))]
# The page of public names, from which everything imports the version; each name is imported when it is used.
PUBLIC_PAGE = "spectralnlp"


def modules(packages: list[Path]) -> dict[str, str]:
    """The sources of all modules, by name."""
    sources = {}
    for package in packages:
        for path in package.rglob("*.py"):
            parts = path.relative_to(package.parent).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            sources[name] = path.read_text(encoding="utf-8")
    return sources


def imported(name: str, source: str, known: Set[str]) -> Iterator[str]:
    """The known modules that a module names in an import; of a name in a package, the package."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} has a relative import"
            for alias in node.names:
                module = f"{node.module}.{alias.name}"
                if module in known or node.module in known:
                    yield module if module in known else str(node.module)


def circles(sources: Mapping[str, str]) -> list[list[str]]:
    """The files of each circle, in alphabetical order: those that reach each other."""
    graph = {name: set(imported(name, text, sources.keys())) - {name} for name, text in sources.items()}
    # What imports nothing that is left is in no circle, nor is what nothing imports that is left.
    while removable := {
        name for name, found in graph.items() if not found or not any(name in each for each in graph.values())
    }:
        graph = {name: found - removable for name, found in graph.items() if name not in removable}
    reached = {name: reachable(graph, name) for name in graph}
    groups = {tuple(sorted(each for each in reached[name] if name in reached[each])) for name in graph}
    return sorted(list(group) for group in groups if group)


def reachable(graph: Mapping[str, Set[str]], start: str) -> set[str]:
    """All that a file imports, and what that imports, and so on."""
    found: set[str] = set()
    opened = [start]
    while opened:
        new = graph[opened.pop()] - found
        found |= new
        opened += new
    return found


def test_no_file_imports_itself_by_way_of_others() -> None:
    sources = modules(PACKAGES)
    del sources[PUBLIC_PAGE]
    found = circles(sources)
    assert found == [], "\n".join(" · ".join(group) for group in found)


@pytest.mark.parametrize(
    ("sources", "found"),
    [
        ({"a": "import b", "b": "import c", "c": ""}, []),
        (
            {"a": "import b", "b": "def f():\n    from c import x", "c": "if x:\n    import a"},
            [["a", "b", "c"]],
        ),
        ({"p": "from p.a import x", "p.a": "from p import y", "q": "import p"}, [["p", "p.a"]]),
        ({"p": "", "p.a": "from p import b", "p.b": "import p"}, []),
        ({"a": "import b", "b": "import a, c", "c": "import d", "d": "import c"}, [["a", "b"], ["c", "d"]]),
    ],
)
def test_circles_are_found(sources: dict[str, str], found: list[list[str]]) -> None:
    assert circles(sources) == found
