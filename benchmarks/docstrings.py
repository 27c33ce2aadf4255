"""Draw docstrings and first lines of modules at random, for a judge who has not seen the project.

python -m benchmarks.docstrings --seed 2020
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from random import Random

from benchmarks import report

ROOT = Path(__file__).parent.parent
DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Yield the path and the syntax tree of each module of the core and the plugins."""
    for folder in ("spectralnlp", "plugins"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def docstrings(path: str, module: ast.Module) -> Iterator[str]:
    """Yield the docstring of each class and function of a module, below its path, name and arguments."""
    for node in ast.walk(module):
        if isinstance(node, DEFINITIONS) and (text := ast.get_docstring(node)):
            arguments = "" if isinstance(node, ast.ClassDef) else f"({ast.unparse(node.args)})"
            yield f"--- {path}:{node.lineno} {node.name}{arguments}\n{text}\n"


def main() -> None:
    """Print the docstrings and first lines that were drawn."""
    parser = report.argument_parser(__doc__)
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--docstrings", type=int, default=60, metavar="N", help="default 60")
    parser.add_argument("--modules", type=int, default=20, metavar="N", help="default 20")
    arguments = parser.parse_args()
    random = Random(arguments.seed)
    parsed = list(modules())
    texts = [text for path, module in parsed for text in docstrings(path, module)]
    documented = [(path, text) for path, module in parsed if (text := ast.get_docstring(module))]
    print("\n".join(random.sample(texts, arguments.docstrings)))
    for path, text in random.sample(documented, arguments.modules):
        print(f"{path}: {text.splitlines()[0]}")


if __name__ == "__main__":
    main()
