"""Update the outputs shown on the README and other pages, by running their examples and benchmarks again.

Three kinds of blocks are updated. Examples run in the order of the page, in a folder that resembles the root
of the repository without its ``models/``:

- a ``console`` block after ``<!-- run -->``: each line that begins with ``$`` is run in bash, and followed by
  its standard output;
- a ``python`` block after ``<!-- run -->``, followed by a ``text`` block with its output, if any. The blocks
  of a page share a namespace;
- the lines from ``<!-- table: COMMAND -->`` to ``<!-- end: DATE DIGEST -->``, with ``--tables`` only, because
  these take minutes. The digest is that of the code that ran (``benchmarks.stamps``).

    python -m benchmarks.readme
    python -m benchmarks.readme README.md docs/parsing.md docs/python.md docs/tutorials/*.md
    python -m benchmarks.readme --tables
    python -m benchmarks.readme --tables benchmarks/results/sketches.md --only leverage
    python -m benchmarks.readme --check

The last command runs nothing. It lists the tables whose code has changed since, or is not known, and exits
with status 1 if there are any.

``tests/docs`` runs the examples of the README, the tutorials and the how-tos, and compares their output.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from benchmarks import report
from benchmarks.stamps import ROOT, TABLE, digest, end_marker, pages_of, stale_tables

EXAMPLE = re.compile(
    r"^<!-- run -->\n```(?P<kind>console|python)\n(?P<code>.*?)^```\n(?P<printed>\n```text\n.*?^```\n)?",
    re.DOTALL | re.MULTILINE,
)


def printed_by(command: str, folder: Path) -> str:
    """Return the standard output of a bash command, run in a folder; exit if it fails."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    print(f"running {command} ...", file=sys.stderr, flush=True)
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{command}: exit status {done.returncode}; nothing was written")
    return done.stdout.rstrip("\n") + "\n" if done.stdout else ""


@contextlib.contextmanager
def stage() -> Iterator[Path]:
    """Yield a temporary folder of links to everything in the repository but ``models/``."""
    with tempfile.TemporaryDirectory(prefix="spectralnlp-readme-") as folder:
        root = Path(folder) / ROOT.name
        root.mkdir()
        for each in ROOT.iterdir():
            if each.name != "models":
                (root / each.name).symlink_to(each)
        if (ROOT.parent / "shared").exists():
            (Path(folder) / "shared").symlink_to(ROOT.parent / "shared")
        yield root


def printed_in(names: dict[str, Any], code: str, folder: Path) -> str:
    """Run a Python block of a page, and return its output.

    Args:
        names: namespace of the page, to which the block adds its names.
        code: source of the block.
        folder: folder in which it runs.
    """
    output = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(output):
        exec(compile(code, "<example>", "exec"), names)
    return output.getvalue()


def rerun(text: str, folder: Path) -> str:
    """Return a page with its examples' current output, run in a folder."""
    names: dict[str, Any] = {"__name__": "__main__"}

    def again(example: re.Match[str]) -> str:
        kind, code = example["kind"], example["code"]
        if kind == "python":
            printed = printed_in(names, code, folder)
            behind = f"\n```text\n{printed}```\n" if printed else ""
            return f"<!-- run -->\n```python\n{code}```\n{behind}"
        commands = [line for line in code.splitlines() if line.startswith("$ ")]
        shown = "".join(f"{line}\n{printed_by(line[2:], folder)}" for line in commands)
        return f"<!-- run -->\n```console\n{shown}```\n{example['printed'] or ''}"

    return EXAMPLE.sub(again, text)


def fill_table(block: re.Match[str], folder: Path) -> str:
    """Return a table block with the current output of its benchmark, and the digest of the code that ran."""
    stamp = digest(block["command"])
    return f"{block['start']}\n{printed_by(block['command'], folder).strip()}\n\n{end_marker(stamp)}"


def main() -> None:
    """Update README.md, or the pages that the command line names."""
    parser = report.argument_parser(__doc__)
    parser.add_argument("--tables", action="store_true", help="run the benchmarks too")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="only benchmarks whose command contains it"
    )
    parser.add_argument(
        "--check", action="store_true", help="run nothing, but list the tables that are stale"
    )
    parser.add_argument("pages", nargs="*", help="default: README.md; with --check, all pages")
    arguments = parser.parse_args()
    if arguments.check:
        check([ROOT / page for page in arguments.pages] or pages_of(ROOT))
    for page in arguments.pages or ["README.md"]:
        fill_page(ROOT / page, tables=arguments.tables, only=arguments.only)


def check(pages: list[Path]) -> NoReturn:
    """Print the stale tables of some pages, and exit with 1 if there are any."""
    lines = list(stale_tables(pages))
    print("\n".join(lines) if lines else "All tables are up to date.")
    sys.exit(1 if lines else 0)


def fill_page(path: Path, *, tables: bool, only: str) -> None:
    """Run the examples of a page again, and write their outputs into its file; tables as well if wanted.

    Args:
        path: file of the page.
        tables: whether to run the benchmarks of tables, too.
        only: run only the benchmarks whose command contains this text.
    """
    with stage() as folder:
        text = rerun(path.read_text(encoding="utf-8"), folder)
        if tables:
            text = TABLE.sub(
                lambda block: fill_table(block, folder) if only in block["command"] else block[0], text
            )
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
