"""Trace calls through the code: print the files that take part, in order, and how often the walk turns back.

    python -m benchmarks.walk               # a table of all walks
    python -m benchmarks.walk parse         # one walk, function by function
    python -m benchmarks.walk sentence -m en-biomedical

Walks: a ``sentence`` of `Parser.parse`, the commands ``parse``, ``train-lpcfg``, ``train-intent`` and
``classify``, and a ``document`` of spaCy. Each call is traced with ``sys.setprofile``, after it has run
once. Each function of the project counts once, at its first call, including comprehensions and kernels. A
walk is the sequence of the functions' files; it turns back when it enters a file that it had left. For a
sentence, calls inside the tokenizer (`split_text`) and the tagger (`TagModel.posteriors`) are not followed.
The packages `runtime` and `jit`, which run functions, are left out.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from unittest.mock import patch

import spectralnlp
from benchmarks import report
from spectralnlp.cli import main as run_command

TEXT = "The keeper of the lighthouse saw many noisy gulls over the cold grey sea."
ROOT = Path(spectralnlp.__file__).parents[1]
_PACKAGES = ("spectralnlp/", "plugins/")
_RUNNERS = ("spectralnlp/runtime/", "spectralnlp/jit/")
_DOORS = {("spectralnlp/text/inputs.py", "split_text"), ("spectralnlp/models/tagger.py", "posteriors")}


def functions(call: Callable[[], object], doors: Iterable[tuple[str, str]] = ()) -> Iterator[tuple[str, str]]:
    """Yield file and name of each project function that a call runs, in the order of first calls.

    Args:
        call: the call to trace.
        doors: files and names of functions that are not followed.
    """
    found: dict[CodeType, tuple[str, str]] = {}
    depth = 0  # depth of calls inside a function that is not followed

    def trace(frame: FrameType, event: str, _: object) -> None:
        nonlocal depth
        path = Path(frame.f_code.co_filename)
        if event not in ("call", "return") or not path.is_relative_to(ROOT):
            return
        where = path.relative_to(ROOT).as_posix(), frame.f_code.co_name
        if not where[0].startswith(_PACKAGES):
            return
        if event == "return":
            depth -= depth > 0
        elif depth or where in doors:
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


def _sentence(model: str, folder: Path) -> Callable[[], object]:
    return partial(spectralnlp.load(model).parse, TEXT)


def _document(model: str, folder: Path) -> Callable[[], object]:
    import spacy

    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    pipeline.add_pipe("spectral_parser", config={"model": model})
    return partial(pipeline, TEXT)


def _command(*arguments: str) -> Callable[[str, Path], Callable[[], object]]:
    """Return a function that prepares a command; in its arguments, FOLDER and MODEL are replaced."""

    def prepare(model: str, folder: Path) -> Callable[[], object]:
        (folder / "text.txt").write_text(TEXT + "\n", encoding="utf-8")
        given = [each.replace("FOLDER", str(folder)).replace("MODEL", model) for each in arguments]

        def run() -> None:
            output, line = io.StringIO(), ["spectralnlp", *given]
            with redirect_stdout(output), redirect_stderr(output), patch.object(sys, "argv", line):
                status = run_command()
            if status:
                sys.exit(output.getvalue())

        return run

    return prepare


_INTENT = ("train", "intent", "corpora/intents/train.tsv", "-o", "FOLDER/intents", "--overwrite")
_LPCFG = ("train", "lpcfg", "corpora/treebank/train.mrg", "-o", "FOLDER/lpcfg", "--overwrite")
WALKS: dict[str, Callable[[str, Path], Callable[[], object]]] = {
    "sentence": _sentence,
    "parse": _command("parse", "FOLDER/text.txt", "-m", "MODEL"),
    "train-lpcfg": _command(*_LPCFG),
    "document": _document,
    "train-intent": _command(*_INTENT),
    "classify": _command("classify", "-m", "FOLDER/intents", "FOLDER/text.txt"),
}


def walk(name: str, model: str, folder: Path) -> list[tuple[str, str]]:
    """Return file and name of the functions of a walk, in the order of their first calls.

    Args:
        name: name of the walk, one of `WALKS`.
        model: name or folder of a parser.
        folder: folder for the files that commands read and write.
    """
    if name == "classify":
        _command(*_INTENT)(model, folder)()
    call = WALKS[name](model, folder)
    call()
    return list(functions(call, _DOORS if name == "sentence" else ()))


def _summary(steps: list[tuple[str, str]]) -> tuple[int, int, int]:
    """Return the numbers of functions, of files and of turns back of a walk."""
    files = [file for file, _ in steps]
    return len(steps), len(set(files)), turns(files)


def main(arguments: list[str] | None = None) -> None:
    """Print one walk, or a table of all walks."""
    options = report.argument_parser(__doc__)
    options.add_argument("walk", nargs="?", choices=list(WALKS), help="the walk to print; by default a table")
    options.add_argument("-m", "--model", default="en", help="name or folder of a parser")
    given = options.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        if given.walk is None:
            print(f"{'walk':<14}{'functions':>10}{'files':>7}{'turns back':>12}")
            for name in WALKS:
                n_functions, n_files, n_turns = _summary(walk(name, given.model, Path(folder)))
                print(f"{name:<14}{n_functions:>10}{n_files:>7}{n_turns:>12}")
            return
        steps = walk(given.walk, given.model, Path(folder))
    here, visited = "", set[str]()
    for file, name in steps:
        if file != here:
            print(f"{file}{'  (again)' if file in visited else ''}")
            here = file
            visited.add(file)
        print(f"    {name}")
    n_functions, n_files, n_turns = _summary(steps)
    print(f"{n_functions} functions in {n_files} files; the walk turns back {n_turns} times")


if __name__ == "__main__":
    main()
