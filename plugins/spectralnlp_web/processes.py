"""Processes beside a server that do the heavy work: they can be ended whatever they do."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress


async def start_process(module: str, *, longest_line: int = 2**16) -> Process:
    """Start ``main()`` of a module in a Python of its own; it is asked and answers by pipes.

    It sees all modules that this process sees, but not the folder where it is started (-P), whose modules
    are anybody's. It has a group of its own, for Ctrl-C in a terminal is this process's to handle.

    Args:
        module: its full name.
        longest_line: bytes of a line that it may answer.
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
    """Kill a process, whatever it does, and wait until it has ended."""
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()
