"""Regular expressions that would take for ever on a label."""

from __future__ import annotations

import signal
import threading
import time

import pytest
from spectralnlp_trees import count
from spectralnlp_trees.tregex import labels
from spectralnlp_trees.tregex.time_limit import limited_time

from spectralnlp.errors import InputError
from spectralnlp.trees import Tree

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")


@pytest.mark.parametrize("pattern", ["/(a+)+$/", "/^(a|a)*$/", "/^(a|aa)+$/", "@/(a*)*$/", "/(.*a){20}$/"])
def test_an_expression_that_takes_too_long_is_refused(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "_SECONDS", 0.1)
    outer = signal.getsignal(signal.SIGVTALRM)
    tree = Tree("S", [Tree("NN", word="a" * 41 + "b")])
    with pytest.raises(InputError, match=r"takes too long for the label 'a+…?b?'; write it without"):
        count([tree], pattern)
    assert signal.getsignal(signal.SIGVTALRM) is outer
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    assert count([tree], "/a+b$/") == 1


def test_other_threads_have_no_limit() -> None:
    reached = []

    def work() -> None:
        with limited_time(0.01) as begin:
            begin()
            end = time.thread_time() + 0.05
            while time.thread_time() < end:
                pass
            reached.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert reached == [True]
