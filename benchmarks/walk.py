"""The walk of one sentence through the code: which files its words pass on the way to a tree.

    python -m benchmarks.walk [MODEL]

One call of ``Parser.parse`` is traced, in a process where the same call has run before, with
``sys.setprofile``: each function of the project at its first call, comprehensions and kernels too, for a
reader reads it once. The walk is the sequence of their files; it turns back where it enters a file that it
had left. Two models of their own are entered but not followed: the tokenizer (`split_text`) and the tagger
(`TagModel.posteriors`). What runs functions, `runtime` and `jit`, is left out.
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
    """The file and the name of each of the project's functions, in the order of their first calls."""
    found: dict[CodeType, tuple[str, str]] = {}
    depth = 0  # of calls behind a door

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
    """How often a walk enters a file that it had left before."""
    left: set[str] = set()
    here, count = "", 0
    for file in files:
        if file != here:
            count += file in left
            left.add(here)
            here = file
    return count


def main(arguments: list[str] | None = None) -> None:
    """Print the walk, and how long it is."""
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
