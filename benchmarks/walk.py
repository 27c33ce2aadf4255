"""Trace one sentence through the code: print the files that take part in parsing it, in order.

    python -m benchmarks.walk [MODEL]

One call of ``Parser.parse`` is traced with ``sys.setprofile``, after the same call has run once. Each
function of the project counts once, at its first call, including comprehensions and kernels. The walk is the
sequence of the functions' files; it turns back when it enters a file that it had left. Calls inside the
tokenizer (`split_text`) and the tagger (`TagModel.posteriors`) are not followed. The packages `runtime` and
`jit`, which run functions, are left out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import CodeType, FrameType

import spectralnlp

TEXT = "The keeper of the lighthouse saw many noisy gulls over the cold grey sea."
ROOT = Path(spectralnlp.__file__).parent
_DOORS = {("text/inputs.py", "split_text"), ("models/tagger.py", "posteriors")}
_RUNNERS = ("runtime/", "jit/")


def functions(call: Callable[[], object]) -> Iterator[tuple[str, str]]:
    """Yield file and name of each project function that a call runs, in the order of first calls."""
    found: dict[CodeType, tuple[str, str]] = {}
    depth = 0  # depth of calls inside a function that is not followed

    def trace(frame: FrameType, event: str, _: object) -> None:
        nonlocal depth
        path = Path(frame.f_code.co_filename)
        if event not in ("call", "return") or not path.is_relative_to(ROOT):
            return
        where = path.relative_to(ROOT).as_posix(), frame.f_code.co_name
        if event == "return":
            depth -= depth > 0
        elif depth or where in _DOORS:
            depth += 1
        elif not where[0].startswith(_RUNNERS):
            found.setdefault(frame.f_code, where)

    sys.setprofile(trace)
    try:
        call()
    finally:
        sys.setprofile(None)
    yield from found.values()


def turns(files: Iterable[str]) -> int:
    """Return how often a sequence of files enters a file that it had left before."""
    left: set[str] = set()
    here, count = "", 0
    for file in files:
        if file != here:
            count += file in left
            left.add(here)
            here = file
    return count


def main(arguments: list[str] | None = None) -> None:
    """Print the files that take part in parsing a sentence, in order, and their number."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("model", nargs="?", default="en", help="name or folder of a parser")
    parser = spectralnlp.load(options.parse_args(arguments).model)
    for _ in range(2):
        parser.parse(TEXT)
    walk = list(functions(lambda: parser.parse(TEXT)))
    here, visited = "", set[str]()
    for file, name in walk:
        if file != here:
            print(f"{file}{'  (again)' if file in visited else ''}")
            here = file
            visited.add(file)
        print(f"    {name}")
    files = [file for file, _ in walk]
    print(f"{len(walk)} functions in {len(set(files))} files; the walk turns back {turns(files)} times")


if __name__ == "__main__":
    main()
