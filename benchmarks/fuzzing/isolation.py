"""Run a fuzzing case in a child process, to detect crashes, endless loops and lack of memory."""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import report

# Classes of outcomes; the first two are correct behaviour.
ACCEPTED, REFUSED, UNCLEAR, TRACEBACK, CRASH, SLOW, LARGE = (
    "accepted",
    "refused",
    "unclear",
    "traceback",
    "crash",
    "slow",
    "large",
)
CLASSES = (ACCEPTED, REFUSED, UNCLEAR, TRACEBACK, CRASH, SLOW, LARGE)
GOOD = (ACCEPTED, REFUSED)

MAX_SECONDS = 10  # of CPU time
MAX_WAITING = 90  # wall seconds
MAX_MEGABYTES = 1000  # memory growth during the case
LONGEST_LINE = 1200  # characters of a message, without the path


class Outcome(NamedTuple):
    """Outcome of one fuzzing case.

    Attributes:
        kind: one of `CLASSES`.
        detail: last lines of the case's output.
        seconds: CPU seconds.
        megabytes: growth of memory.
    """

    kind: str
    detail: str
    seconds: float
    megabytes: float


def run_apart(case: Callable[[], int], folder: Path) -> Outcome:
    """Run a case in a child process with limits on time and memory, and return its outcome.

    A case that reaches the wall-time limit with little CPU time is run again, because a busy machine may have
    delayed it.

    Args:
        case: function that returns an exit status and may write to stderr.
        folder: folder for the output of the child.
    """
    outcome = _run_once(case, folder)
    kept = outcome.kind == SLOW and outcome.seconds < MAX_SECONDS
    return _run_once(case, folder) if kept else outcome


def run_together(cases: Sequence[Callable[[], int]], folder: Path) -> list[Outcome]:
    """Run cases in one child process, until one does not end well; return the outcomes of those before it.

    Args:
        cases: functions as for `run_apart`, which may write below the folder.
        folder: folder for the output of the child.
    """
    written = folder / "outcomes"
    written.unlink(missing_ok=True)

    def run_all() -> int:
        with written.open("w", encoding="utf-8") as file:
            for case in cases:
                outcome = _measured(case, folder)
                if outcome.kind not in GOOD:
                    break
                print(json.dumps(outcome), file=file, flush=True)
        return 0

    _run_once(run_all, folder)
    lines = written.read_text(encoding="utf-8").splitlines() if written.exists() else []
    return [Outcome(*json.loads(line)) for line in lines]


def _measured(case: Callable[[], int], folder: Path) -> Outcome:
    """Run a case in this process, which is a child, under limits, and return its outcome."""
    signal.alarm(MAX_WAITING)
    used = sum(os.times()[:4])
    resource.setrlimit(resource.RLIMIT_CPU, (int(used) + MAX_SECONDS, resource.RLIM_INFINITY))
    before, place = _held("VmRSS"), os.lseek(2, 0, os.SEEK_END)
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the peak is now what is held now
    status = case()
    sys.stdout.flush()
    sys.stderr.flush()
    size = os.lseek(2, 0, os.SEEK_END) - place
    lines = os.pread(2, size, place).decode("utf-8", "replace").strip().splitlines()
    found: dict[str, Any] = {"status": status, "megabytes": max(report.peak_megabytes() - before, 0.0)}
    kind, detail = _classify(0, found, lines, folder)
    return Outcome(kind, detail, sum(os.times()[:4]) - used, found["megabytes"])


def _run_once(case: Callable[[], int], folder: Path) -> Outcome:
    said, result = folder / "stderr", folder / "result"
    result.unlink(missing_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the parent has idle threads
        child = os.fork()
    if child == 0:
        _run_child(case, said, result)
    _, status, used = os.wait4(child, 0)
    lines = said.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    found = json.loads(result.read_text()) if result.exists() else {"megabytes": 0.0}
    kind, detail = _classify(status, found, lines, folder)
    return Outcome(kind, detail, used.ru_utime + used.ru_stime, found["megabytes"])


def _run_child(case: Callable[[], int], said: Path, result: Path) -> None:
    """Run the case in a forked child, and exit without running any cleanup code of the parent.

    Args:
        case: the case.
        said: file for the output.
        result: file for time and memory.
    """
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(MAX_WAITING)
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.disable()
    warnings.resetwarnings()  # without pytest's filters, which raise errors
    before = _held("VmRSS")
    most = (_held("VmSize") + 2 * MAX_MEGABYTES) * 2**20  # address space, which exceeds memory
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
    with open(said, "w+b", buffering=0) as file, open(os.devnull, "r+b") as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(nothing.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    outcome: dict[str, object] = {}
    try:
        outcome["status"] = case()
        sys.stdout.flush()
    except MemoryError:
        outcome["memory"] = traceback.format_exc()
    except BaseException:
        outcome["traceback"] = traceback.format_exc()
    sys.stderr.flush()
    outcome["megabytes"] = max(report.peak_megabytes() - before, 0.0)
    result.write_text(json.dumps(outcome))
    os._exit(0)


def _held(field: str) -> int:
    """Return a memory field of this process's status in megabytes; 0 if the system does not report it."""
    path = Path("/proc/self/status")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((int(line.split()[1]) // 2**10 for line in lines if line.startswith(field)), 0)


def _classify(status: int, found: dict[str, Any], lines: list[str], folder: Path) -> tuple[str, str]:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number in (signal.SIGALRM, signal.SIGXCPU):
            return SLOW, f"more than {MAX_SECONDS} s of CPU time, or {MAX_WAITING} s"
        return CRASH, signal.Signals(number).name
    if "status" not in found:
        if "memory" in found:
            return LARGE, "\n".join(str(found["memory"]).strip().splitlines()[-5:])
        return TRACEBACK, str(found.get("traceback", "no result"))
    if float(str(found["megabytes"])) > MAX_MEGABYTES:
        return LARGE, f"{found['megabytes']:.0f} MB"
    last = lines[-1].replace(str(folder), "") if lines else ""
    if found["status"] == 0:
        return ACCEPTED, last
    is_clear = found["status"] == 2 and last.startswith("spectralnlp: ") and len(last) <= LONGEST_LINE
    if is_clear and not any(line.startswith("Traceback") for line in lines):
        return REFUSED, last
    return UNCLEAR, f"status {found['status']}: {last[:2000]}"
