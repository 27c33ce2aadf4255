"""Start and kill worker processes, in which a server runs long computations."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress


async def start_process(module: str, *, longest_line: int = 2**16) -> Process:
    """Start ``main()`` of a module in a new Python process, with pipes on its standard input and output.

    The process has this process's module path, but not the current folder (-P), which may hold untrusted
    modules. It has its own process group, so that only this process receives Ctrl-C from a terminal.

    Args:
        module: full name of the module.
        longest_line: maximum length of a line of its output, in bytes.
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
