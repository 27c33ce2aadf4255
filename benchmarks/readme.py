"""Run the examples and tables of the README, or of another page, again, and write what they print into it.

Three kinds of place are filled in, in order. Commands run in a folder that looks like the root of the
repository, without its ``models/``:

- after ``<!-- run -->``, a ``console`` block: every line that begins with ``$`` is run in bash, and what it
  prints to standard output follows it;
- after ``<!-- run -->``, a ``python`` block followed by a ``text`` block: the code prints the text;
- from ``<!-- table: COMMAND -->`` to ``<!-- end -->``, with ``--tables`` only, for these take minutes.

    python -m benchmarks.readme
    python -m benchmarks.readme README.md docs/parsing.md docs/python.md docs/tour.md
    python -m benchmarks.readme --tables
    python -m benchmarks.readme --tables docs/sketches.md --only leverage
"""

from __future__ import annotations

import argparse
import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
CONSOLE = re.compile(r"(<!-- run -->\n```console\n)(.*?)(```\n)", re.DOTALL)
PYTHON = re.compile(r"(<!-- run -->\n```python\n)(.*?)(```\n\n```text\n)(.*?)(```\n)", re.DOTALL)
TABLE = re.compile(r"(<!-- table: (.*?) -->\n).*?(<!-- end -->\n)", re.DOTALL)


def printed_by(command: list[str]) -> str:
    """Return the standard output of a command, which must succeed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    print(f"running {command[-1].splitlines()[0]} ...", file=sys.stderr, flush=True)
    done = subprocess.run(
        command, cwd=stage(), env={**os.environ, "PATH": path}, stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        sys.exit(f"{command[-1]}: exit status {done.returncode}; nothing was written")
    return done.stdout.rstrip("\n") + "\n" if done.stdout else ""


@cache
def stage() -> Path:
    """A folder of links to all that is in the repository, but the models of earlier runs; goes at the end."""
    folder = Path(tempfile.mkdtemp(prefix="spectralnlp-readme-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = folder / ROOT.name
    root.mkdir()
    for each in ROOT.iterdir():
        if each.name != "models":
            (root / each.name).symlink_to(each)
    if (ROOT.parent / "shared").exists():
        (folder / "shared").symlink_to(ROOT.parent / "shared")
    return root


def in_bash(line: str) -> str:
    """Return the output of a line of bash."""
    return printed_by(["bash", "-c", line])


def fill_console(block: re.Match[str]) -> str:
    """A block of commands with what they print now."""
    commands = [line for line in block[2].splitlines() if line.startswith("$ ")]
    return block[1] + "".join(f"{line}\n{in_bash(line[2:])}" for line in commands) + block[3]


def fill_python(block: re.Match[str]) -> str:
    """A block of Python followed by what it prints now."""
    return block[1] + block[2] + block[3] + printed_by([sys.executable, "-c", block[2]]) + block[5]


def fill_table(block: re.Match[str]) -> str:
    """The output of a benchmark."""
    return f"{block[1]}\n{in_bash(block[2]).strip()}\n\n{block[3]}"


def main() -> None:
    """Rewrite README.md, or other pages."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", action="store_true", help="run the benchmarks too")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="only benchmarks whose command contains it"
    )
    parser.add_argument("pages", nargs="*", default=["README.md"], help="default: README.md")
    arguments = parser.parse_args()
    for page in arguments.pages:
        fill_page(ROOT / page, tables=arguments.tables, only=arguments.only)


def fill_page(path: Path, *, tables: bool, only: str) -> None:
    """Rewrite a page.

    Args:
        path: the page.
        tables: whether benchmarks are run too.
        only: of these, those whose command contains it.
    """
    text = CONSOLE.sub(fill_console, path.read_text(encoding="utf-8"))
    text = PYTHON.sub(fill_python, text)
    if tables:
        text = TABLE.sub(lambda block: fill_table(block) if only in block[2] else block[0], text)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
