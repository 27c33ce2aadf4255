"""Interrupts at any moment: status 130, nothing on stderr, nothing left behind, no process left alive."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from spectralnlp.runtime import deferred_interrupts

pytestmark = [
    pytest.mark.slow,  # a signal to itself would end a worker of pytest-xdist
    pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals"),
]

PROGRAM = "import sys; from spectralnlp.cli import main; print('here', flush=True); sys.exit(main())"
ROUNDS = 8

# Interrupts a hundred times, some milliseconds after it was asked to; prints how many came.
MANY = """
import os, random, signal, sys, threading, time
import spectralnlp

parser, words = spectralnlp.load("en"), "The keeper saw many noisy gulls over the cold grey sea .".split()
parser.parse_tokens(words)
wanted, random_state = threading.Event(), random.Random(0)

def interrupt():
    while True:
        wanted.wait()
        time.sleep(random_state.uniform(0, 0.02))
        wanted.clear()
        os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
came = 0
for _ in range(100):
    try:
        wanted.set()
        while True:
            parser.parse_tokens(words)
    except KeyboardInterrupt:
        came += 1
print(came)
"""

# Calls `interrupt`, in which the KeyboardInterrupt is discarded, and then waits for it to come again.
DISCARDED = """
import signal, sys, time, types, weakref
import spectralnlp.cli.app as app
from spectralnlp.cli import main

def run(**options):
    interrupt()
    print("here", flush=True)
    try:
        time.sleep(30)
    except KeyboardInterrupt:
        return 130
    return 0

app.run = run
sys.exit(main())
"""

# Python discards what a callback of a weak reference raises.
CALLBACK = """
def interrupt():
    kept = type("Kept", (), {})()
    reference = weakref.ref(kept, lambda _: signal.raise_signal(signal.SIGINT))
    del kept
"""

# A function of Cython that cannot raise first prints the exception (PyErr_PrintEx), then discards it.
CYTHON = """
def interrupt():
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt as error:
        sys.excepthook(*sys.exc_info())
        sys.unraisablehook(types.SimpleNamespace(exc_value=error))
"""

# Is interrupted while a plugin is imported, which then seems to be broken.
SWALLOWED = """
import signal, sys
from spectralnlp import registry
from spectralnlp.cli import main

class Tasks:
    def get(self, name):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise registry.RegistryError("task 'parsing' is broken")

registry.tasks = Tasks()
sys.exit(main())
"""

# Is interrupted at the very end, where Python has put back the default handlers.
AT_THE_END = """
import os, signal, sys
from spectralnlp.cli import main

class Late:
    def __init__(self):
        self.kill, self.process, self.number = os.kill, os.getpid(), int(sys.argv[1])
    def __del__(self):
        self.kill(self.process, self.number)

late = Late()
sys.argv[1:] = ["--version"]
sys.exit(main())
"""


def interrupted(arguments: Sequence[str | Path], after: float, *signals: int) -> tuple[int, str]:
    """Run the command line, send signals after some seconds, and return its exit status and its stderr."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    time.sleep(after)
    for number in signals:
        if process.poll() is None:
            if number == signal.SIGINT:  # a terminal's goes to all processes
                os.killpg(process.pid, number)
            else:
                process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    # That further kernels are compiled, once on a machine, is no matter of these tests.
    lines = [line for line in errors.splitlines(keepends=True) if "compiling" not in line]
    return process.returncode, "".join(lines)


@pytest.fixture(scope="module", autouse=True)
def _compiled_kernels(own_treebank: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Run both commands once, so that interrupts do not only come while kernels are compiled."""
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "text.txt").write_text("The keeper saw gulls .\n")
    for arguments in (
        ("parse", "-m", "en", "--tokenized", folder / "text.txt", "-o", folder / "trees"),
        ("train", "lpcfg", own_treebank / "train.mrg", "-o", folder / "model"),
    ):
        command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
        subprocess.run(command, capture_output=True, check=True, timeout=300)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sentences that take longer to parse than the tests wait."""
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("The keeper of the lighthouse saw many noisy gulls over the cold grey sea .\n" * 20_000)
    return path


@pytest.fixture(scope="module")
def treebank(own_treebank: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trees that take longer to learn from than the tests wait."""
    path = tmp_path_factory.mktemp("treebank") / "train.mrg"
    path.write_text((own_treebank / "train.mrg").read_text(encoding="utf-8") * 20, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("signals", "status"),
    [((signal.SIGINT,), 130), ((signal.SIGINT, signal.SIGINT), 130), ((signal.SIGTERM,), 143)],
    ids=["interrupt", "two", "termination"],
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_parse_ends_cleanly(
    text: Path, tmp_path: Path, signals: tuple[int, ...], status: int, jobs: int
) -> None:
    moments = random.Random(0)
    for _ in range(ROUNDS if jobs == 1 else ROUNDS // 2):
        arguments = ("parse", "-m", "en", "--tokenized", text, "--jobs", str(jobs), "-o", tmp_path / "trees")
        assert interrupted(arguments, moments.uniform(0.0, 3.0 * jobs), *signals) == (status, "")
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("jobs", [1, 2])
def test_training_ends_cleanly(treebank: Path, tmp_path: Path, number: int, status: int, jobs: int) -> None:
    moments = random.Random(0)
    for _ in range(ROUNDS // (2 * jobs)):  # a worker that stays alive keeps stderr open, which is waited for
        arguments = ("train", "lpcfg", treebank, "-o", tmp_path / "model", "--jobs", str(jobs))
        assert interrupted(arguments, moments.uniform(0.0, 3.0 * jobs), number) == (status, "")
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("interrupt", [CALLBACK, CYTHON], ids=["callback", "Cython"])
@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_an_interrupt_that_is_discarded_is_not_lost(interrupt: str, name: str, status: int) -> None:
    ignored = "" if name == "SIGINT" else "signal.signal(signal.SIGINT, signal.SIG_IGN)"  # a background job
    program = interrupt.replace("SIGINT", name) + DISCARDED.replace("def run", f"{ignored}\ndef run", 1)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (status, "here\n", "")


def test_an_error_after_an_interrupt_is_its_consequence(own_treebank: Path, tmp_path: Path) -> None:
    arguments = ("train", "pcfg", own_treebank / "train.mrg", "-o", tmp_path / "model")
    done = subprocess.run(
        [sys.executable, "-c", SWALLOWED, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_at_the_very_end_changes_nothing(number: int) -> None:
    command = [sys.executable, "-c", AT_THE_END, str(int(number))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_python_user_may_interrupt_as_often_as_they_like() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MANY], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "100\n", "")


def test_an_interrupt_waits_for_the_end_of_all_blocks() -> None:
    reached = []
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012
        with deferred_interrupts:
            with deferred_interrupts:
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)
                reached.append("inner")
            reached.append("outer")
        reached.append("after")
    assert reached == ["inner", "outer"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with deferred_interrupts:  # and it comes once
        pass


def test_an_interrupt_is_not_lost_to_an_error() -> None:
    with pytest.raises(KeyboardInterrupt) as caught, deferred_interrupts:  # noqa: PT012
        signal.raise_signal(signal.SIGINT)
        raise ValueError
    assert isinstance(caught.value.__context__, ValueError)


def test_interrupts_that_are_ignored_stay_so() -> None:
    outer = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with deferred_interrupts:
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, outer)
