from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectralnlp.errors import ConfigError
from spectralnlp.trees import english_head, head_finder, neutral_head

# Phrase → children → the child that is the head.
ENGLISH = """
NP → DT JJ NN → NN
NP → NP PP → NP
NP → NNP NNP POS → POS
NP → DT JJ → JJ
NP → -LRB- NP -RRB- → NP
NP → DT → DT
NML → NN HYPH NN → NN
VP → ADVP VBZ NP → VBZ
VP → MD VP → MD
S → NP VP . → VP
PP → IN NP → IN
SBAR → WHNP S → WHNP
ADVP|PRT → RP RB → RB
X → , FW NN → FW
FRAG → NP . → NP
PRN → -LRB- -RRB- → -LRB-
"""
NEUTRAL = """
sn → espec.ms grup.nom.ms sn → sn
grup.nom.ms → Fe ncms000 grup.a → grup.a
NP → DT NNP NN → NNP
VP → VB NP → VB
PP → -LRB- IN NP → IN
S → , . → ,
"""


def heads(table: str) -> pytest.MarkDecorator:
    rows = [line.split(" → ") for line in table.strip().splitlines()]
    return pytest.mark.parametrize(("phrase", "children", "head"), rows)


@heads(ENGLISH)
def test_english_heads(phrase, children, head):
    labels = children.split()
    assert labels[english_head(phrase, labels)] == head


@pytest.mark.parametrize(
    ("phrase", "children", "head"),
    [
        ("NP", "NP CC NP", 0),
        ("NP", "NN , NNS , CC NN", 2),
        ("ADVP", "RB CC RB", 0),
        ("NP", "CC NN", 1),
        ("UCP", ", CC NP", 2),
    ],
)
def test_the_first_conjunct_is_the_head(phrase, children, head):
    assert english_head(phrase, children.split()) == head


@heads(NEUTRAL)
def test_neutral_heads(phrase, children, head):
    labels = children.split()
    assert labels[neutral_head(phrase, labels)] == head


@given(
    st.sampled_from(["english", "neutral"]),
    st.text(max_size=3),
    st.lists(st.sampled_from(["NP", "NN", "CC", ",", ".", "X"]), min_size=1),
)
def test_a_head_is_always_a_child(name, phrase, children):
    assert 0 <= head_finder(name)(phrase, children) < len(children)


def test_unknown_rules_are_refused():
    with pytest.raises(ConfigError, match="no head rules are called 'french'"):
        head_finder("french")
