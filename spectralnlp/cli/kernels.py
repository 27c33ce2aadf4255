"""Report that kernels (numba functions) are compiled, and compile those of a parser in two processes.

The first process compiles the functions in the order in which parsing needs them; the second process compiles
those of the last stages first. `compiling_ahead` starts the second process, which runs `main` with the same
module path, but without the current folder, whose files must not be imported by mistake.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_OF = "spectralnlp.inference."

# Prefixes of the modules whose kernels a parse needs, with names of the stages, in order.
_PARTS = {
    f"{_OF}words": "words",
    f"{_OF}sentences": "ends of sentences",
    f"{_OF}chains": "tags",
    f"{_OF}trees.open_cells": "open cells",
    f"{_OF}trees.co": "the chart",
    f"{_OF}trees.dense": "grammars",
    f"{_OF}trees.rescoring": "labels",
    f"{_OF}trees.spans": "the tree",
}


@contextmanager
def compiling_ahead(model: str) -> Iterator[Callable[[], None]]:
    """Yield a function that starts a second process, which compiles the kernels of a parser in advance.

    Only the first call of the function starts a process, which is killed after the ``with`` block. A kernel
    (numba function) is compiled by the process that needs it first; the other process waits for the result.

    Args:
        model: name or folder of a parser.
    """
    started: list[subprocess.Popen[bytes]] = []
    collects = gc.isenabled()

    def start() -> None:
        if started:
            return
        gc.disable()  # of the compiler's garbage, which takes a tenth of the time; parses leave none
        command = [sys.executable, "-P", "-c", f"from {__name__} import main; main({model!r})"]
        path = os.pathsep.join(each for each in sys.path if each)
        quiet = subprocess.DEVNULL  # an error there occurs in this process, too
        started.append(
            subprocess.Popen(
                command, stdin=quiet, stdout=quiet, stderr=quiet, env={**os.environ, "PYTHONPATH": path}
            )
        )

    try:
        yield start
    finally:
        if collects:
            gc.enable()
        for each in started:
            each.kill()
            each.wait()


@contextmanager
def announced_kernels(*, here: bool = True, parser: str | None = None) -> Iterator[None]:
    """Report on stderr when the ``with`` block compiles kernels (numba functions), because users must wait.

    Kernels are compiled only once on a machine.

    Args:
        here: whether this process runs kernels. If False, it only waits for workers, and nothing is reported.
        parser: name or folder of the parser that the block uses, if any. To save time, a second process then
            compiles its kernels at the same time.
    """
    if not here:
        yield
        return
    from spectralnlp.cli.console import note
    from spectralnlp.jit import announced_compilation

    if parser is None:
        with announced_compilation(note):
            yield
        return
    with compiling_ahead(parser) as start:

        def report(line: str) -> None:
            note(line)
            start()

        with announced_compilation(report, _PARTS):
            yield


def main(model: str) -> None:
    """Compile the numba functions (kernels) of a parser, those of the last stages of parsing first.

    Args:
        model: name or folder of the parser.
    """
    gc.disable()  # as in `compiling_ahead`

    from spectralnlp import load_parser
    from spectralnlp.inference.trees.dummy_forest import run_last_stages

    parser = load_parser(model)
    run_last_stages(parser.forest_parser, parser.default_decoder, "the")
    parser.parse_tokens(["the"])
