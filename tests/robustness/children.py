"""Child processes with bounds on what they may use."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

# Runs a command and writes the peak of the process, in MB, as the last line of stderr. (``getrusage`` would
# count the parent's memory, too: a process begins as a copy of it.)
MAIN = """
import re, sys
from spectralnlp.cli import main
try:
    sys.exit(main())
finally:
    print(int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) >> 10, file=sys.stderr)
"""


def run_child(
    *arguments: object, memory: int | None = None, file_size: int | None = None, main: str = MAIN
) -> subprocess.CompletedProcess[str]:
    """Run a command, or other code, with bounds on addresses (MB) and on files (bytes)."""

    def limit() -> None:
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory << 20, memory << 20))
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
