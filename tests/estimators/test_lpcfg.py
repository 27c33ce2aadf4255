from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from grammar_bytes import corpus, differences, fingerprint, own_trees, trees

import spectralnlp
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.eigenwords import Eigenwords
from spectralnlp.estimators.lpcfg import LPCFG
from spectralnlp.estimators.parser import sentence_ends
from spectralnlp.estimators.parser.open_cells import OpenCells
from spectralnlp.estimators.parser.parsers import LPCFGParser
from spectralnlp.estimators.parser.sentence_ends import SentenceEnds
from spectralnlp.estimators.parser.span_scorer import SpanScoring
from spectralnlp.estimators.parser.trainer import ParserTrainer
from spectralnlp.estimators.pcfg.estimator import PCFG
from spectralnlp.inference.trees.tree_scores import tree_log_probability
from spectralnlp.runtime import InMemoryCorpus, use_engine
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.tasks.vectors import VectorsTask
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.trees import Tree

# Sizes that a treebank of 171 trees can fill.
SMALL = {"n_states": 4, "pruner_states": 2, "nodes_per_state": 10.0}
# What each hyper-parameter is set to instead, and what must be set for it to matter.
CHANGES: dict[str, dict[str, object]] = {
    "grammars": {"grammars": "tensors"},
    "n_states": {"n_states": 3},
    "em_iterations": {"em_iterations": 0},
    "pruner_states": {"pruner_states": 0},
    "features": {"features": "simple"},
    "scaling": {"scaling": False},
    "shrinkage": {"shrinkage": 0.0},
    "nodes_per_state": {"nodes_per_state": 40.0},
    "smoothing": {"smoothing": False},
    "binarisations": {"binarisations": "right"},
    "closed_cells": {"closed_cells": False},
    "sentence_ends": {"sentence_ends": False},
    "unaries": {"unaries": "collapse"},
    "heads": {"heads": "neutral"},
    "signatures": {"signatures": "neutral"},
    "keep_rare_words": {"keep_rare_words": False},
    "decoder": {"decoder": "max-rule"},
    "absolute_marginals": {"absolute_marginals": False},
    "span_scorer": {"span_scorer": False},
    "eigenwords": {},  # a folder, made in the test
    "unlabelled": {},  # a file, made in the test
    "random_state": {"random_state": 7},
}
# These are about span scorers, which so few trees have only if told to.
ABOUT_SCORERS = ("span_scorer", "eigenwords", "unlabelled")
CONTEXT = {"absolute_marginals": {"decoder": "labelled-recall"}}


@pytest.fixture(scope="module")
def examples(own_treebank: Path) -> list[Tree]:
    return own_trees(own_treebank)


def fit(examples: list[Tree], **params: object) -> LPCFG:
    return LPCFG(**{**SMALL, **params}).fit(InMemoryCorpus(examples))  # type: ignore[arg-type]


def train(examples: list[Tree], **params: object) -> ParserTrainer:
    return LPCFGParser(**{**SMALL, **params}).fit(InMemoryCorpus(examples))


def test_every_switch_is_tried() -> None:
    # The segmenter learns nothing where words are written apart: tests/text/test_segmentation.py tries it.
    # Silver trees and annotations are files: test_parser_trainer.py and test_span_scorer.py try them.
    assert {*CHANGES, "segmenter", "silver", "silver_weight", "annotations"} == set(
        inspect.signature(LPCFGParser).parameters
    )


@pytest.fixture(scope="module")
def eigenwords(examples: list[Tree], tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("eigenwords") / "model"
    corpus = InMemoryCorpus([tree.words() for tree in examples])
    VectorsTask().train(Eigenwords(dimensions=4, min_count=1), corpus).save(folder)
    return str(folder)


@pytest.fixture(scope="module")
def unlabelled(examples: list[Tree], tmp_path_factory: pytest.TempPathFactory) -> str:
    text = tmp_path_factory.mktemp("unlabelled") / "text.txt"
    text.write_text("".join(f"{' '.join(tree.words())}\n" for tree in examples))
    return str(text)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_every_switch_does_something(
    name: str, examples: list[Tree], eigenwords: str, unlabelled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in ABOUT_SCORERS:
        monkeypatch.setattr(SpanScoring, "least_trees", 1)
    if name == "closed_cells":  # 171 trees are too few to close cells
        monkeypatch.setattr(OpenCells, "least_trees", 100)
    if name == "sentence_ends":  # all of these trees end in a stop, so that rules would do
        monkeypatch.setattr(SentenceEnds, "least_trees", 100)
        monkeypatch.setattr(sentence_ends, "_WORTH", float("nan"))
    context = CONTEXT.get(name, {})
    made = {"eigenwords": eigenwords, "unlabelled": unlabelled}
    change = {name: made[name]} if name in made else CHANGES[name]
    before, after = train(examples, **context), train(examples, **context, **change)
    assert differences(before, after)


@pytest.mark.parametrize("preset", [None, *LPCFGParser.presets])
def test_the_same_seed_gives_the_same_bytes(preset: str | None, examples: list[Tree]) -> None:
    def fitted() -> ParserTrainer:
        estimator = LPCFGParser() if preset is None else LPCFGParser.from_preset(preset)
        return estimator.fit(InMemoryCorpus(examples))

    assert fingerprint(fitted()) == fingerprint(fitted())


def test_engines_and_partitions_give_the_same_bytes(examples: list[Tree]) -> None:
    expected = fingerprint(fit(examples))
    for engine in ("serial", "threads", "processes"):
        with use_engine(engine, **({} if engine == "serial" else {"jobs": 2})):
            estimator = LPCFG(**SMALL).fit(InMemoryCorpus(examples, n_partitions=4))  # type: ignore[arg-type]
            assert fingerprint(estimator) == expected


def test_the_coarse_grammar_is_the_plain_pcfg(examples: list[Tree]) -> None:
    ours, theirs = fit(examples).coarse_, PCFG.from_preset("plain").fit(InMemoryCorpus(examples)).coarse_
    assert ours.symbols == theirs.symbols
    np.testing.assert_array_equal(ours.binary_rules, theirs.binary_rules)
    np.testing.assert_allclose(ours.binary.values, theirs.binary.values)
    np.testing.assert_allclose(ours.unary.values, theirs.unary.values)
    np.testing.assert_allclose(ours.root, theirs.root)


def test_the_grammars_of_one_fit_share_symbols_and_rules(examples: list[Tree]) -> None:
    fitted = fit(examples)
    for grammar in fitted.grammars_:
        assert grammar.symbols == fitted.coarse_.symbols
        np.testing.assert_array_equal(grammar.binary_rules, fitted.coarse_.binary_rules)
        np.testing.assert_array_equal(grammar.unary_rules, fitted.coarse_.unary_rules)
        assert 1 < grammar.n_states.max() <= 4
        assert np.isfinite(grammar.binary.values).all()


def test_a_treebank_of_one_tree_and_symbols_seen_once() -> None:
    for text in (
        "(S (NP (N tom)) (VP (V slept)))",
        "(X hi)",
        "(S (VP (V go)))",
        "(S (A a) (B b) (C c) (D d))",
    ):
        for params in ({}, {"nodes_per_state": 0.0}):
            fitted = LPCFG(**params).fit(corpus(text))  # type: ignore[arg-type]
            tree = fitted.binariser_.binarise(trees(text)[0])
            for grammar in (fitted.coarse_, *fitted.grammars_):
                assert np.isfinite(grammar.lexicon.values).all()
                assert np.isfinite(tree_log_probability(tree, grammar, signature_by_name("english")))


@pytest.mark.parametrize("n_trees", [1, 10, 100])
def test_states_are_no_more_than_the_trees_bear(examples: list[Tree], n_trees: int) -> None:
    fitted = LPCFG().fit(InMemoryCorpus(examples[:n_trees]))
    largest = max(int(grammar.n_states.max()) for grammar in fitted.grammars_)
    assert largest <= {1: 1, 10: 2, 100: 8}[n_trees]
    for grammar in fitted.grammars_:
        binary = fitted.binariser_.binarise(examples[0])
        assert np.isfinite(tree_log_probability(binary, grammar, signature_by_name(fitted.signatures_)))


def test_no_trees_are_refused() -> None:
    with pytest.raises(InputError, match="no trees"):
        LPCFG().fit(corpus(""))


@pytest.mark.parametrize(
    "bad", [{"features": "none"}, {"binarisations": "up"}, {"signatures": "none"}], ids=str
)
def test_nonsense_is_refused_in_one_line(bad: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"up|none"):
        LPCFG(**bad).fit(corpus("(S (A a) (B b))"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "heads", "found"),
    [("train.mrg", "english", "english"), ("spanish.mrg", "neutral", "neutral")],
)
def test_the_rules_of_a_language_are_found_by_its_words(
    own_treebank: Path, name: str, heads: str, found: str
) -> None:
    trees = ParsingTask().read([own_treebank / name])
    fitted = LPCFG(**SMALL).fit(trees)  # type: ignore[arg-type]
    assert (fitted.heads_, fitted.signatures_) == (heads, found)
    assert fitted.coarse_.lexicon.scheme == found
    assert LPCFG(heads="english", **SMALL).fit(trees).heads_ == "english"  # type: ignore[arg-type]


def test_clusters_named_again_start_from_another_seed(examples: list[Tree]) -> None:
    first, second = fit(examples, grammars="clusters+clusters").grammars_
    (alone,) = fit(examples, grammars="clusters").grammars_
    np.testing.assert_array_equal(first.lexicon.values, alone.lexicon.values)
    assert not np.array_equal(first.lexicon.values, second.lexicon.values)


def test_states_that_the_nodes_do_not_bear_are_reported_in_a_line(own_treebank: Path, tmp_path: Path) -> None:
    published: list[str] = []
    default: list[str] = []
    trees = own_treebank / "train.mrg"
    model = spectralnlp.train(LPCFG.from_preset("tutorial"), trees, report=published.append)
    spectralnlp.train(LPCFG(n_states=4), trees, report=default.append)
    (line,) = (each for each in published if "bear" in each)
    assert re.fullmatch(r"\d+ of \d+ symbols have more states than .* error: \S+ \d of 8, .*", line)
    assert not any("bear" in each for each in default)
    model.save(tmp_path / "model")
    for each in (model, spectralnlp.load(tmp_path / "model")):
        (report,) = (found for found in each.inspect("NP") if found.symbol == "NP")
        assert len(report.singular_values) == report.n_states > 1
        assert list(report.singular_values) == sorted(report.singular_values, reverse=True)
