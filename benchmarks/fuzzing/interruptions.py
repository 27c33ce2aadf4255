"""Fuzzer target: signals at random moments of commands, which run in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import ClassVar

from benchmarks.fuzzing.targets import CORPORA, Target

_MAIN = "import sys; from spectralnlp.cli import main; print('here', flush=True); sys.exit(main())"
_STATUSES = {signal.SIGINT: 130, signal.SIGTERM: 143}
_SECONDS = 5.0  # from the beginning of the command to the first signal, at most
_PATIENCE = 60.0  # until the command has ended
_ORPHANS = 5.0  # until its workers have ended

COMMANDS = tuple(
    line.split()
    for line in (
        "parse -m en HERE/text.txt -o HERE/out",
        "parse -m en HERE/text.txt -o HERE/out --jobs 2",
        "parse -m en HERE/text.txt --tokenized --format json --k 3 -o HERE/out",
        "search NP -m en HERE/text.txt -o HERE/out",
        "search __=a<<__=b HERE/trees.mrg -o HERE/out",
        "train lpcfg HERE/trees.mrg -o HERE/out",
        "train lpcfg HERE/trees.mrg -o HERE/out --jobs 2",
        "train tagger HERE/trees.mrg -o HERE/out",
        "train pcfg HERE/trees.mrg --keep-moments -o HERE/out",
        "tag -m en-tagger HERE/text.txt -o HERE/out",
    )
)


@dataclass
class Interruptions(Target):
    """Fuzzer target for SIGINT and SIGTERM, once or twice, to a process or to its group.

    A command should end at once with 130 or 143 (or 0 if it was done), without a traceback, and leave neither
    files nor processes.
    """

    name: str = "signal"
    text: ClassVar[bytes] = (CORPORA / "text" / "lighthouse.txt").read_bytes() * 200
    trees: ClassVar[bytes] = (CORPORA / "treebank" / "train.mrg").read_bytes() * 20

    def write(self, random: Random, folder: Path) -> None:
        """Write a command into a folder, its files, and the signals that interrupt it."""
        number = random.choice((signal.SIGINT, signal.SIGTERM))
        pauses = [random.uniform(0, _SECONDS)]
        if random.random() < 0.3:
            pauses.append(random.choice((0, 0.01, 0.3)))
        self._write(folder, random.choice(COMMANDS), number, pauses, random.random() < 0.5)

    def write_sound(self, folder: Path) -> None:
        """Write a command that is not interrupted, and its files, into a folder."""
        self._write(folder, ["info"], signal.SIGINT, [], False)

    def _write(
        self, folder: Path, arguments: list[str], number: int, pauses: list[float], is_for_group: bool
    ) -> None:
        (folder / "text.txt").write_bytes(self.text)
        (folder / "trees.mrg").write_bytes(self.trees)
        asked = {"arguments": arguments, "number": int(number), "pauses": pauses, "group": is_for_group}
        (folder / "asked").write_text(json.dumps(asked), encoding="utf-8")

    def run(self, folder: Path) -> int:
        """Run the command and send the signals.

        Returns 0 if the command ended as it should; otherwise prints what is wrong and returns 1.
        """
        asked = json.loads((folder / "asked").read_text(encoding="utf-8"))
        arguments = [each.replace("HERE", str(folder)) for each in asked["arguments"]]
        before = {each.name for each in folder.iterdir()}
        with (folder / "said").open("w+") as said:
            process = subprocess.Popen(
                [sys.executable, "-c", _MAIN, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=said,
                start_new_session=True,
            )
            assert process.stdout is not None
            process.stdout.readline()
            status = _interrupt(process, asked["number"], asked["pauses"], asked["group"])
            process.stdout.close()
            said.seek(0)
            errors = said.read()
        left = {each.name for each in folder.iterdir()} - before - {"said", "stderr"}
        wrong = []
        if status not in (0, _STATUSES[asked["number"]]):
            wrong.append(f"status {status}")
        if "Traceback" in errors or "Exception ignored" in errors:
            wrong.append(f"it said {errors[-800:]!r}")
        if left - ({"out"} if status == 0 else set()):
            wrong.append(f"left {', '.join(sorted(left))}")
        if workers := _session(process.pid):
            wrong.append(f"{len(workers)} workers live")
            for each in workers:
                with suppress(ProcessLookupError):
                    os.kill(each, signal.SIGKILL)
        print(f"{asked}: {'; '.join(wrong)}" if wrong else "", file=sys.stderr)
        return bool(wrong)


def _interrupt(
    process: subprocess.Popen[bytes], number: int, pauses: list[float], is_for_group: bool
) -> object:
    """Send signals to a process; return its exit status, or a text that says that it did not end.

    Args:
        process: the process.
        number: number of the signal.
        pauses: seconds before each time that the signal is sent.
        is_for_group: whether the signal goes to the whole process group.
    """
    for pause in pauses:
        time.sleep(pause)
        if process.poll() is None:
            (os.killpg if is_for_group else os.kill)(process.pid, number)
    try:
        return process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return f"none after {_PATIENCE:.0f} s"


def _session(leader: int) -> list[int]:
    """Return the processes of a session that are still alive after a short wait.

    Args:
        leader: number of the process that started the session.
    """
    end = time.monotonic() + _ORPHANS
    while found := list(_members(leader)):
        if time.monotonic() > end:
            return found
        time.sleep(0.05)
    return []


def _members(leader: int) -> list[int]:
    found = []
    for each in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # the process has ended
            number, rest = each.read_text().split(" (", 1)
            state, _, _, session = rest.rsplit(") ", 1)[1].split()[:4]
            if int(session) == leader and state not in "ZX":
                found.append(int(number))
    return found
