"""Start and kill worker processes, in which a server runs long computations."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress


async def start_process(module: str, *, longest_line: int = 2**16) -> Process:
    """Start ``main()`` of a module in a new Python process, with pipes on its standard input and output.

    The new process has the same module path, but without the current folder (-P), which may hold untrusted
    modules. It is in a process group of its own, so that Ctrl-C in a terminal does not reach it.

    Args:
        module: full name of the module.
        longest_line: maximum length of a line of the new process's output, in bytes.
    """
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *("-P", "-c", f"from {module} import main; main()"),
        stdin=PIPE,
        stdout=PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        process_group=0,
        limit=longest_line,
    )


async def end_process(process: Process) -> None:
    """Kill a process and wait until it has ended."""
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()
