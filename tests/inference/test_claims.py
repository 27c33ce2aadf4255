"""Tensors of rules that a thread is writing while the process forks."""

from __future__ import annotations

import subprocess
import sys

import pytest

CHILD = """
import os, signal, spectralnlp
from spectralnlp.inference.trees.latent import rule_tensors

parser = spectralnlp.load("en")
for each in parser.grammar_sets:
    for grammar in each.grammars:
        rule_tensors(grammar).claims[:] = 1  # by a thread that is not there after the fork
if child := os.fork():
    _, status = os.waitpid(child, 0)
    assert status == 0, status
else:
    signal.alarm(20)
    parser.parse("The gulls are noisy.")
    os._exit(0)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no forks")
def test_a_forked_process_writes_them_anew() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", CHILD], check=True, timeout=120)
