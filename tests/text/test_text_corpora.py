"""Conventions and tokens on real treebanks, whose leaves a crude pattern finds."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from spectralnlp.text.conventions import Conventions
from spectralnlp.text.tokenizer import Tokenizer

TREEBANKS = Path(__file__).parents[3] / "shared" / "corpora" / "treebanks"
NODE = re.compile(r"\(([^\s()]+)\s+([^\s()]+)[^()]*\)|\(|\)")

# What GUM and CRAFT have in common.
MODERN = Conventions(
    ascii_escapes=False,
    square=("[", "]"),
    curly=("{", "}"),
    single_quotes=("'", "'"),
    split_hyphens=True,
    split_slashes=True,
)

pytestmark = pytest.mark.corpus


@cache
def sentences(name: str) -> list[list[str]]:
    found: list[list[str]] = []
    for path in sorted((TREEBANKS / name / "train").iterdir()):
        depth, words = 0, []
        for match in NODE.finditer(path.read_text("iso-8859-15" if name == "cess_esp" else "utf-8")):
            if match[1] is None:
                depth += 1 if match[0] == "(" else -1
                if depth == 0 and words:
                    found.append(words)
                    words = []
            elif match[1] != "-NONE-" and match[2] != "*0*":
                words.append(match[2])
    return found


@cache
def learned(name: str) -> Conventions:
    return Conventions.learn(word for sentence in sentences(name) for word in sentence)


def test_learns_the_wall_street_journal() -> None:
    assert learned("wsj") == Conventions()


def test_learns_gum() -> None:
    assert learned("gum") == replace(MODERN, double_quotes=('"', '"'), typography="–—‘’“”…")


def test_learns_craft() -> None:
    assert learned("craft") == replace(MODERN, typography="–—‘’“”′−", split_fractions=True)


def test_learns_cess_esp() -> None:
    assert learned("cess_esp") == Conventions(
        round=("-Fpa-", "-Fpt-"),
        double_quotes=('"', '"'),
        single_quotes=("'", "'"),
        split_units=False,
        split_clitics=False,
        ascii_escapes=False,
        joiner="_",
        language="neutral",
    )


@pytest.mark.parametrize(
    ("name", "least"), [("wsj", 0.9995), ("gum", 0.9985), ("craft", 0.9995), ("cess_esp", 0.998)]
)
def test_tokens_joined_by_blanks_come_back(name: str, least: float) -> None:
    tokenizer = Tokenizer(learned(name))
    total = kept = 0
    for words in sentences(name):
        again = Counter(token.form for token in tokenizer.tokenize(" ".join(words)))
        total += len(words)
        kept += (Counter(words) & again).total()
    assert kept >= least * total
