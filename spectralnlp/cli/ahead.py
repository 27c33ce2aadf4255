"""A second process that compiles kernels for a first parse, from the last stage of parsing on.

``python -m spectralnlp.cli.ahead MODEL`` is that process; `compiling_ahead` starts it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_OF = "spectralnlp.inference."

# How the modules begin whose kernels a parse needs, in the order of its stages.
PARTS = {
    f"{_OF}words": "words",
    f"{_OF}sentences": "ends of sentences",
    f"{_OF}chains": "tags",
    f"{_OF}trees.opening": "open cells",
    f"{_OF}trees.co": "the chart",
    f"{_OF}trees.dense": "grammars",
    f"{_OF}trees.rescoring": "labels",
    f"{_OF}trees.spans": "the tree",
}


@contextmanager
def compiling_ahead(model: str) -> Iterator[Callable[[], None]]:
    """Yield a function that starts the process, once; at the end of the block it is ended.

    Whichever process comes to a kernel first compiles it, and the other waits for it (`Turn`).

    Args:
        model: name or folder of a parser.
    """
    started: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        if started:
            return
        command = [sys.executable, "-m", "spectralnlp.cli.ahead", model]
        quiet = subprocess.DEVNULL  # what goes wrong there goes wrong here, too
        started.append(subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet))

    try:
        yield start
    finally:
        for each in started:
            each.kill()
            each.wait()


def main(model: str) -> None:
    """Compile the kernels of a parser, those of the last stages first.

    Args:
        model: name or folder.
    """
    from spectralnlp import load_parser
    from spectralnlp.inference.trees.dummy_forest import run_last_stages

    parser = load_parser(model)
    run_last_stages(parser.forest_parser, parser.usual_decoder, "the")
    parser.parse_tokens(["the"])


if __name__ == "__main__":
    main(sys.argv[1])
