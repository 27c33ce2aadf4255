"""Adaptation: weighted trees, the usual weight, unlabelled text, the command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from change_runs import Run

import spectralnlp
from spectralnlp import PCFG, InMemoryCorpus, changes, read_treebank
from spectralnlp.cli.adapt import _partial_trees
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.parser.parsers import LPCFGParser
from spectralnlp.estimators.shared.lexicon import LexiconMaker, LexiconOptions, TokenCounts
from spectralnlp.text.constraints import Constraints
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree, read_brackets

SMALL = LPCFGParser(grammars="clusters", n_states=2, pruner_states=0)


@pytest.fixture
def trees(own_corpora: Path) -> list[Tree]:
    return list(read_treebank(own_corpora / "treebank" / "train.mrg"))


def test_weights_are_repetitions_for_rules(trees: list[Tree]) -> None:
    general, own = trees[:60], trees[60:80]
    moments = changes.moments_of(SMALL, InMemoryCorpus(general))
    adapted = changes.adapt(SMALL, moments, InMemoryCorpus(own), weight=3.0)
    repeated = LPCFGParser(**SMALL.get_params()).fit(InMemoryCorpus([*general, *own, *own, *own]))
    ours, theirs = adapted.coarse, repeated.grammar_.coarse_
    assert ours.symbols == theirs.symbols
    np.testing.assert_array_equal(ours.binary_rules, theirs.binary_rules)
    np.testing.assert_allclose(ours.binary.values, theirs.binary.values, rtol=1e-12)
    np.testing.assert_allclose(ours.root, theirs.root, rtol=1e-12)
    assert adapted.info["training trees"] == 80


def test_a_word_that_counts_more_is_as_rare_as_before() -> None:
    options = LexiconOptions(scheme="english", rare=5, keep_rare_words=True, tag_weight=0.0)
    tokens = TokenCounts(
        words=["alpha", "beta"],
        word=np.array([0, 1], np.int32),
        tag=np.array([0, 1], np.int32),
        count=np.array([40.0, 40.0]),
        initial=np.zeros(2),
        n_tokens=np.array([40.0, 4.0]),
    )
    lexicon, _ = LexiconMaker(tokens, options).make(np.ones(2, np.int32), np.array([[40.0], [40.0]]))
    assert lexicon.backoff[0] == 0.0  # frequent: it keeps its own tags
    assert lexicon.backoff[1] == pytest.approx(1 / 5)  # seen four times, however often these count
    assert lexicon.log_weight[0] == lexicon.log_weight[1]


def test_own_trees_decide_what_the_general_ones_leave_open() -> None:
    def attachment(low: bool, n: int) -> list[Tree]:
        noun = "(NP (NP (D a) (N man)) (PP (P of) (NP (N wax))))"
        high = "(NP (D a) (N man)) (PP (P of) (NP (N wax)))"
        return list(read_brackets([f"(S (NP (N I)) (VP (V saw) {noun if low else high}))"] * n))

    general = changes.moments_of(PCFG_LIKE, InMemoryCorpus(attachment(True, 100)))
    own = InMemoryCorpus(attachment(False, 5))
    words = ["I", "saw", "a", "man", "of", "wax"]
    found = [
        str(changes.adapt(PCFG_LIKE, general, own, weight=weight).parse_tokens(words).tree)
        for weight in (1.0, 40.0)
    ]
    assert "(NP (NP" in found[0]
    assert "(NP (NP" not in found[1]


PCFG_LIKE = LPCFGParser(grammars="clusters", n_states=1, pruner_states=0)


def test_labels_of_both_schemes_are_there(trees: list[Tree]) -> None:
    general = changes.moments_of(SMALL, InMemoryCorpus(trees[:40]))
    own = InMemoryCorpus(
        read_brackets(["(HEADING (NX (NN results)))", "(S (NP (NN cells)) (VP (VBP grow)))"])
    )
    symbols = changes.adapt(SMALL, general, own).coarse.symbols
    assert {"HEADING", "NP", "VP"} <= set(symbols)


def test_the_usual_weight_is_a_root_within_bounds(trees: list[Tree]) -> None:
    general = changes.moments_of(SMALL, InMemoryCorpus(trees[:90]))
    assert changes.default_weight(general, 10) == pytest.approx(3.0)
    assert changes.default_weight(general, 1) == 7.5
    assert changes.default_weight(general, 1000) == 1.0


def test_unlabelled_sentences_are_parsed_and_learned_from(trees: list[Tree]) -> None:
    general = changes.moments_of(SMALL, InMemoryCorpus(trees[:80]))
    own, text = InMemoryCorpus(trees[80:100]), [tree.words() for tree in trees[100:]]
    parser = changes.adapt(SMALL, general, own, weight=2.0, unlabelled=text)
    assert parser.info["training trees"] > 150
    assert spectralnlp.evaluate(parser, InMemoryCorpus(trees[100:])).to_flat_dict()["f1"] > 70


def test_what_cannot_be_adapted(trees: list[Tree]) -> None:
    corpus = InMemoryCorpus(trees[:5])
    with pytest.raises(ConfigError, match="PCFG cannot be adapted"):
        changes.adapt(PCFG(), changes.moments_of(PCFG(), corpus), corpus)
    general = changes.moments_of(SMALL, corpus)
    with pytest.raises(InputError, match="no trees to adapt to"):
        changes.adapt(SMALL, general, InMemoryCorpus([]))
    with pytest.raises(ConfigError, match="a weight must be above 0"):
        changes.adapt(SMALL, general, corpus, weight=0.0)


def test_the_command(run: Run, own_corpora: Path, tmp_path: Path) -> None:
    train, dev = (own_corpora / "treebank" / f"{name}.mrg" for name in ("train", "dev"))
    settings = ["--set", "grammars=clusters", "--set", "n_states=2"]
    assert run("train", "lpcfg", train, "-o", tmp_path / "general", *settings, "--keep-moments").status == 0
    assert run("train", "lpcfg", train, "-o", tmp_path / "bare", *settings).status == 0
    text = tmp_path / "text.txt"
    text.write_text("The keeper climbs the stairs. The lamp burns.\n")
    partial = tmp_path / "partial.jsonl"
    partial.write_text('{"tokens": ["The", "lamp", "burns", "."], "brackets": [[0, 2, "NP"]]}\n')
    more = ("--unlabelled", text, "--partial", partial)
    outcome = run("adapt", tmp_path / "general", dev, "-o", tmp_path / "own", *more)
    assert outcome.status == 0, outcome.err
    assert "adapt: 1 of 1 partial trees completed, " in outcome.out
    assert "adapt: each of 30 trees counts 2.4 times" in outcome.out
    assert "adapt: 2 sentences of unlabelled text are parsed" in outcome.out
    assert run("info", tmp_path / "own").status == 0

    status, _, err = run("adapt", tmp_path / "bare", dev, "-o", tmp_path / "quick", "--unlabelled", text)
    assert (status, err.count("\n")) == (2, 1)
    assert "keeps no moments, and learns nothing from text without trees" in err
    assert not (tmp_path / "quick").exists()
    outcome = run("adapt", tmp_path / "bare", dev, "-o", tmp_path / "quick", "--partial", partial)
    assert outcome.status == 0, outcome.err
    assert "keeps no moments: its grammars" in outcome.out
    assert spectralnlp.load(tmp_path / "quick").about["adapted to trees"] == 31
    assert "**Adapted** to 31 more trees" in (tmp_path / "quick" / "README.md").read_text()
    outcome = run("adapt", tmp_path / "bare", dev, "-o", tmp_path / "other", "--with", train, "--weight", "2")
    assert outcome.status == 0, outcome.err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1, 2]", "no partial tree"),
        ('{"brackets": [[0, 1]]}', "no partial tree"),
        ('{"tokens": []}', "no partial tree"),
        ('{"tokens": ["a", "b"], "brackets": [[0]]}', "bracket"),
    ],
)
def test_partial_trees_that_are_none(line: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "partial.jsonl").write_text(f"\n{line}\n")
    with pytest.raises(InputError, match=message) as raised:
        list(_partial_trees(str(tmp_path / "partial.jsonl")))
    assert raised.value.line == 2


def test_partial_trees_are_learned_with_their_brackets() -> None:
    def trees(low: bool, n: int) -> list[Tree]:
        noun = "(NP (NP (D a) (N man)) (PP (P of) (NP (N wax))))"
        high = "(NP (D a) (N man)) (PP (P of) (NP (N wax)))"
        return list(read_brackets([f"(S (NP (N I)) (VP (V saw) {noun if low else high}))"] * n))

    words = ["I", "saw", "a", "man", "of", "wax"]
    general = changes.moments_of(PCFG_LIKE, InMemoryCorpus([*trees(True, 40), *trees(False, 10)]))
    own = InMemoryCorpus(trees(True, 1))
    known = replace(Sentence.from_words(words), constraints=Constraints.of(forbidden=[(2, 6)]))
    found = [
        str(changes.adapt(PCFG_LIKE, general, own, weight=5.0, partial=partial).parse_tokens(words).tree)
        for partial in (None, [known] * 60)
    ]
    assert "(NP (NP" in found[0]
    assert "(NP (NP" not in found[1]
