"""Count lines of code: those that are left without docstrings, comments and blank lines.

    python -m benchmarks.sizes [REVISION]

Lines are counted of the files that Git tracks, by package; tests and documentation are left out. With a
revision, the table shows its numbers, too, and the differences.
"""

from __future__ import annotations

import ast
import io
import subprocess
import tokenize
from collections import Counter
from pathlib import Path

from benchmarks import report

ROOT = Path(__file__).resolve().parents[1]
_NOT_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
_NOT_CODE |= {tokenize.ENCODING, tokenize.ENDMARKER}
_GROUPS = {"spectralnlp": "core", "plugins": "plugins", "benchmarks": "benchmarks"}


def lines_of_code(text: str) -> int:
    """Return the number of lines of a Python source that hold code other than docstrings.

    Args:
        text: the source.
    """
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            value = first.value if isinstance(first, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                lines.difference_update(range(value.lineno, (value.end_lineno or 0) + 1))
    return len(lines)


def sizes(revision: str | None = None) -> Counter[str]:
    """Return lines of code by package, such as ``spectralnlp/trees``; those of whole groups under ``core``.

    Args:
        revision: revision of the repository; None for the files as they are now.
    """
    listing = ("ls-files",) if revision is None else ("ls-tree", "-r", "--name-only", revision)
    found: Counter[str] = Counter()
    for name in _git(*listing, "--", *_GROUPS).splitlines():
        path = Path(name)
        if path.suffix != ".py" or (revision is None and not (ROOT / path).exists()):
            continue
        text = (
            (ROOT / path).read_text(encoding="utf-8")
            if revision is None
            else _git("show", f"{revision}:{name}")
        )
        n_lines = lines_of_code(text)
        group = _GROUPS[path.parts[0]]
        found[group] += n_lines
        found["core and plugins"] += n_lines * (group != "benchmarks")
        found[f"{path.parts[0]}/{path.parts[1] if len(path.parts) > 2 else '*.py'}"] += n_lines
    return found


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def main(arguments: list[str] | None = None) -> None:
    """Print lines of code by package, with differences to a revision if one is given."""
    options = report.argument_parser(__doc__)
    options.add_argument("revision", nargs="?", help="revision to compare with")
    revision = options.parse_args(arguments).revision
    now = sizes()
    before = sizes(revision) if revision else now
    names = sorted(now | before, key=lambda name: ("/" in name, name))
    for name in names:
        change = f"{before[name]:>10,}{now[name] - before[name]:>+9,}" if revision else ""
        print(f"{name:<36}{now[name]:>8,}{change}")


if __name__ == "__main__":
    main()
