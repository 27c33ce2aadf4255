from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from exact_options import UNSMOOTHED
from grammar_bytes import corpus, differences, fingerprint, own_trees, trees

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.pcfg import PCFG, RuleCounts
from spectralnlp.estimators.pcfg.solve import solve_pcfg
from spectralnlp.estimators.shared.unary_chains import commonest_chains
from spectralnlp.inference.trees.tree_scores import tensor, tree_log_probability
from spectralnlp.parameters import LatentGrammar
from spectralnlp.runtime import InMemoryCorpus, accumulate, use_engine
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.trees import Binariser

THREE = """
(S (NP (D the) (N cat)) (VP (V saw) (NP (D the) (N dog))))
(S (NP (N tom)) (VP (V slept)))
(S (VP (V run)) (NP (D a) (N cat)))
"""
ENGLISH = signature_by_name("english")


def rules(grammar: LatentGrammar) -> dict[str, np.ndarray]:
    """Each rule's tensor, by what it looks like."""
    named = {}
    for order, table, tensors in (
        (3, grammar.binary_rules, grammar.binary),
        (2, grammar.unary_rules, grammar.unary),
    ):
        for rule, symbols in enumerate(table.tolist()):
            left, *right = (grammar.symbols[symbol] for symbol in symbols)
            named[f"{left} -> {' '.join(right)}"] = tensor(grammar, tensors, rule, order)
    return named


def unsmoothed(text: str, binariser: Binariser) -> LatentGrammar:
    counts = accumulate(RuleCounts(binariser.to_dict()), corpus(text))
    return solve_pcfg(counts.events_by_kind(), UNSMOOTHED)


def test_relative_frequencies() -> None:
    fitted = PCFG.from_preset("plain").fit(corpus(THREE))
    assert fitted.grammars_ == (fitted.coarse_,)
    assert {rule: float(p.squeeze()) for rule, p in rules(fitted.coarse_).items()} == pytest.approx(
        {
            "S -> NP VP": 2 / 3,
            "S -> VP NP": 1 / 3,
            "NP -> D N": 3 / 4,
            "NP -> N": 1 / 4,
            "VP -> V NP": 1 / 3,
            "VP -> V": 2 / 3,
        }
    )
    root = dict(zip(fitted.coarse_.symbols, fitted.coarse_.root.tolist(), strict=True))
    assert root == {"D": 0, "N": 0, "NP": 0, "S": 1, "V": 0, "VP": 0}
    assert fitted.n_trees_ == 3
    assert fitted.word_counts_ == {
        "the": 2,
        "cat": 2,
        "saw": 1,
        "dog": 1,
        "tom": 1,
        "slept": 1,
        "run": 1,
        "a": 1,
    }


def test_a_parent_is_a_state() -> None:
    fitted = PCFG(vertical=1, horizontal=0, annotate_tags=False).fit(corpus(THREE))
    (grammar,) = fitted.grammars_
    assert grammar.symbols == fitted.coarse_.symbols
    n_states = dict(zip(grammar.symbols, grammar.n_states.tolist(), strict=True))
    assert n_states == {"D": 1, "N": 1, "NP": 2, "S": 1, "V": 1, "VP": 1}
    found = rules(grammar)
    np.testing.assert_allclose(found["NP -> D N"].ravel(), [2 / 3, 1])  # NP^S, NP^VP
    np.testing.assert_allclose(found["NP -> N"].ravel(), [1 / 3, 0])
    np.testing.assert_allclose(found["S -> NP VP"].ravel(), [2 / 3, 0])
    np.testing.assert_allclose(found["VP -> V NP"].ravel(), [0, 1 / 3])


def test_what_was_attached_before_is_a_state() -> None:
    flat = "(X (A a) (B b) (C c) (D d))\n(X (A a) (E e) (C c) (F f))\n"
    remembers, forgets = (
        PCFG(direction="left", vertical=0, horizontal=h, annotate_tags=False).fit(corpus(flat))
        for h in (1, 0)
    )
    assert forgets.grammars_[0] is forgets.coarse_
    (grammar,) = remembers.grammars_
    n_states = dict(zip(grammar.symbols, grammar.n_states.tolist(), strict=True))
    assert n_states["@X>"] == 3  # after B, after E, after C
    assert n_states["X"] == 1


@pytest.mark.parametrize("unaries", ["compress", "collapse"])
@pytest.mark.parametrize("vertical", [0, 1, 2])
def test_tree_probabilities_add_up_to_one(vertical: int, unaries: str) -> None:
    binariser = Binariser(vertical=vertical, horizontal=1, annotate_tags=vertical > 0, unaries=unaries)  # type: ignore[arg-type]
    grammar = unsmoothed(THREE, binariser)
    # The language is finite: every NP and VP over these words, in both orders.
    nouns, verbs = ["cat", "dog", "tom"], ["saw", "slept", "run"]
    noun_phrases = [f"(NP (N {n}))" for n in nouns] + [
        f"(NP (D {d}) (N {n}))" for d in ("the", "a") for n in nouns
    ]
    verb_phrases = [f"(VP (V {v}))" for v in verbs]
    verb_phrases += [f"(VP (V {v}) {phrase})" for v in verbs for phrase in noun_phrases]
    language = [f"(S {a} {b})" for n in noun_phrases for v in verb_phrases for a, b in ((n, v), (v, n))]
    log_p = [
        tree_log_probability(binariser.binarise(tree), grammar, ENGLISH)
        for tree in trees("\n".join(language))
    ]
    assert np.exp(log_p).sum() == pytest.approx(1)
    for tree in trees(THREE):
        assert tree_log_probability(binariser.binarise(tree), grammar, ENGLISH) > -np.inf


def test_annotation_fits_the_training_trees_better() -> None:
    def fit(binariser: Binariser) -> float:
        grammar = unsmoothed(THREE, binariser)
        return sum(tree_log_probability(binariser.binarise(t), grammar, ENGLISH) for t in trees(THREE))

    assert fit(Binariser(vertical=1, annotate_tags=True)) > fit(Binariser())


def test_the_commonest_chain_is_written_back() -> None:
    chains = {("S", "NP", "N"): 2, ("S", "VP", "N"): 2, ("S", "N"): 1, ("S", "VP", "V"): 1, ("S", "V"): 2}
    assert commonest_chains(chains) == {("S", "N"): ("S", "NP", "N")}  # of equals, the first
    fitted = PCFG().fit(corpus("(S (VP (V go)))\n(S (NP (N cat)))\n"))
    assert fitted.chains_ == {("S", "V"): ("S", "VP", "V"), ("S", "N"): ("S", "NP", "N")}


def test_a_treebank_of_one_tree() -> None:
    for tree in ("(S (NP (N tom)) (VP (V slept)))", "(X hi)", "(S (VP (V go)))"):
        fitted = PCFG().fit(corpus(tree))
        for grammar in (fitted.coarse_, *fitted.grammars_):
            binary = Binariser().binarise(trees(tree)[0])
            assert np.isfinite(tree_log_probability(binary, fitted.coarse_, ENGLISH))
            assert np.isfinite(grammar.lexicon.values).all()
            assert np.isfinite(grammar.lexicon.log_weight).all()


def test_no_trees_are_refused() -> None:
    with pytest.raises(InputError, match="no trees"):
        PCFG().fit(corpus(""))


@pytest.mark.parametrize(
    "changed",
    [
        {"direction": "left"},
        {"vertical": 2},
        {"horizontal": -1},
        {"annotate_tags": False},
        {"unaries": "collapse"},
        {"heads": "neutral"},
        {"signatures": "neutral"},
    ],
    ids=str,
)
def test_every_switch_does_something(changed: dict[str, object], own_treebank: Path) -> None:
    examples = InMemoryCorpus(own_trees(own_treebank))
    default, other = PCFG().fit(examples), PCFG(**changed).fit(examples)  # type: ignore[arg-type]
    assert differences(default, other)


@pytest.mark.parametrize("bad", [{"direction": "up"}, {"heads": "none"}, {"signatures": "none"}], ids=str)
def test_nonsense_is_refused_in_one_line(bad: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"up|none"):
        PCFG(**bad).fit(corpus(THREE))  # type: ignore[arg-type]


@pytest.mark.slow
def test_engines_and_partitions_give_the_same_bytes(own_treebank: Path) -> None:
    examples = own_trees(own_treebank)
    expected = fingerprint(PCFG().fit(InMemoryCorpus(examples)))
    for engine in ("serial", "threads", "processes"):
        with use_engine(engine, **({} if engine == "serial" else {"jobs": 2})):
            assert fingerprint(PCFG().fit(InMemoryCorpus(examples, n_partitions=4))) == expected
