"""Processes that compile the same kernels: one does it, the others wait."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import spectralnlp
from spectralnlp.inference.trees.dummy_forest import run_last_stages
from spectralnlp.jit.turns import Turn
from spectralnlp.trees import read_brackets

ASKING = """
import sys
from spectralnlp.jit.turns import Turn
turn = Turn([sys.argv[1]], "kernel")
print("asks", flush=True)
turn.take()
print("has it", flush=True)
"""
COUNTED = """
import sys
import spectralnlp
from numba.core.dispatcher import Dispatcher
from spectralnlp.inference.trees.dummy_forest import run_last_stages

def signatures():
    modules = [module for name, module in sys.modules.items() if name.startswith("spectralnlp")]
    kernels = {each for module in modules for each in vars(module).values() if isinstance(each, Dispatcher)}
    return {each: len(each.signatures) for each in kernels if each.signatures}

parser = spectralnlp.load("en")
run_last_stages(parser.forest_parser, parser.default_decoder, "the")
before = signatures()
parser.parse("The gulls are noisy.")
after = signatures()
print(len(before), len(after), sum(after[each] - before[each] for each in before))
"""


def test_one_process_waits_for_another(tmp_path: Path) -> None:
    turn, other = Turn([str(tmp_path)], "kernel"), Turn([str(tmp_path)], "another")
    turn.take()
    other.take()
    asking = [sys.executable, "-c", ASKING, str(tmp_path)]
    with subprocess.Popen(asking, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "asks\n"
        assert process.poll() is None
        turn.end()
        assert process.stdout.readline() == "has it\n"
    turn.take()  # the other's ended with it


def test_a_turn_where_nothing_can_be_locked(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    turn = Turn([str(tmp_path / "file")], "kernel")
    turn.take()
    turn.end()


def test_the_second_process_compiles_what_a_parse_needs() -> None:
    script = [sys.executable, "-c", COUNTED]
    subprocess.run(script, capture_output=True, check=True)  # compiles, where others count as called, too
    before, after, more = map(int, subprocess.run(script, capture_output=True, check=True).stdout.split())
    assert before > 10
    assert after <= 2 * before  # half of all
    assert more == 0


def test_a_grammar_without_unary_rules_has_nothing_to_compile() -> None:
    parser = spectralnlp.train("pcfg", list(read_brackets(["(S (NN a) (VB b))"])))
    run_last_stages(parser.forest_parser, parser.default_decoder, "a")
