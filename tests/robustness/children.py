"""Child processes with bounds on what they may use."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

# Runs a command and writes the peak of the process, in MB, as the last line of stderr. (``getrusage`` would
# count the parent's memory, too: a process begins as a copy of it.)
# A command that got no more memory may leave none for this: the bound is lifted for that one line.
MAIN = """
import re, resource, sys
from spectralnlp.cli import main
bound = resource.getrlimit(resource.RLIMIT_AS)
lifted = (bound[1], bound[1])
try:
    sys.exit(main())
finally:
    resource.setrlimit(resource.RLIMIT_AS, lifted)
    print(int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) >> 10, file=sys.stderr)
    resource.setrlimit(resource.RLIMIT_AS, bound)
"""


def run_child(
    *arguments: object, memory: int | None = None, file_size: int | None = None, main: str = MAIN
) -> subprocess.CompletedProcess[str]:
    """Run a command, or other code, with bounds on addresses (MB) and on files (bytes)."""

    def limit() -> None:
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory << 20, resource.getrlimit(resource.RLIMIT_AS)[1]))
        if file_size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))

    command = [sys.executable, "-c", main, *map(str, arguments)]
    one_thread = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    return subprocess.run(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=1200,
        preexec_fn=limit,
        env=one_thread,
    )
