from __future__ import annotations

import dataclasses
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from change_runs import Run

import spectralnlp
from spectralnlp import InMemoryCorpus, changes, read_treebank, registry
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.parser.influence import influence
from spectralnlp.models.explaining import Explainer, bracket_forests
from spectralnlp.models.parser import Parser
from spectralnlp.text.constraints import Bracket, ConstraintError, NoTreeError
from spectralnlp.text.inputs import sentence_of
from spectralnlp.trees import Tree

TREEBANK = Path("corpora/treebank/train.mrg")
WORDS = ["The", "keeper", "reads", "the", "newspaper", "in", "the", "tower", "."]
BRACKET = Bracket(3, 8, "NP")
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": ("pcfg", {"vertical": 0, "horizontal": 0, "annotate_tags": False}),
    "annotated": ("pcfg", {}),
    "clusters": ("lpcfg", {"grammars": "clusters", "n_states": 4, "span_scorer": False}),
}


@pytest.fixture(scope="module")
def treebank() -> list[Tree]:
    return list(read_treebank(TREEBANK))


@pytest.fixture(scope="module")
def folders(treebank: list[Tree], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Parsers with their moments."""
    found = {}
    for name, (estimator, settings) in SETTINGS.items():
        found[name] = tmp_path_factory.mktemp("models") / name
        learner = registry.estimators.get(estimator)(**settings)
        changes.train(estimator, learner, read_treebank(TREEBANK)).save(found[name])
    return found


def log_odds(parser: Parser) -> float:
    with_it = parser.parse_tokens(WORDS, brackets=[BRACKET]).log_probability
    without = parser.parse_tokens(WORDS, forbidden=[BRACKET]).log_probability
    assert with_it is not None
    assert without is not None
    return with_it - without


@pytest.mark.parametrize("name", ["plain", "annotated"])
def test_a_pcfg_has_the_log_odds_that_parsing_gives(
    name: str, folders: dict[str, Path], treebank: list[Tree]
) -> None:
    parser = spectralnlp.load(folders[name])
    explanation = parser.explain(WORDS, BRACKET, trees=treebank)
    assert explanation.log_odds == pytest.approx(log_odds(parser), abs=1e-3)


@pytest.mark.parametrize("name", ["plain", "annotated"])
def test_a_recount_is_training_without_the_tree(
    name: str, folders: dict[str, Path], treebank: list[Tree]
) -> None:
    parser = spectralnlp.load(folders[name])
    explanation = parser.explain(WORDS, BRACKET, trees=treebank, limit=2, recount=True)
    estimator, settings = SETTINGS[name]
    for each in (*explanation.in_favour, *explanation.against):
        place = each.sentence - 1
        assert treebank[place] == each.tree
        other = spectralnlp.train(estimator, [*treebank[:place], *treebank[place + 1 :]], **settings)
        assert each.influence == pytest.approx(log_odds(parser) - log_odds(other), abs=2e-3)


@pytest.mark.parametrize("name", SETTINGS)
def test_the_first_tree_is_recounted(name: str, folders: dict[str, Path], treebank: list[Tree]) -> None:
    parser = spectralnlp.load(folders[name])
    explanation = parser.explain(WORDS, BRACKET, trees=treebank, limit=1)
    assert (
        explanation.in_favour
        == parser.explain(WORDS, BRACKET, trees=treebank, limit=1, recount=True).in_favour
    )


@pytest.mark.parametrize("name", SETTINGS)
def test_trees_are_ranked_as_a_recount_ranks_them(
    name: str, folders: dict[str, Path], treebank: list[Tree]
) -> None:
    parser = spectralnlp.load(folders[name])
    explainer = Explainer.of(parser, treebank)
    sentence = sentence_of(WORDS, parser.tokenizer, None)
    forests = bracket_forests(parser, sentence, BRACKET)
    estimate = influence(explainer.counted, forests).trees
    named = np.argsort(estimate)[[*range(10), *range(-10, 0)]]
    recounted = explainer.recounted(forests, sentence.forms, named.tolist())
    exact = np.array([recounted[tree] for tree in named.tolist()])
    ranks = [np.argsort(np.argsort(each)) for each in (estimate[named], exact)]
    assert np.corrcoef(*ranks)[0, 1] > 0.9


def test_trees_count_whose_rare_words_stand_for_unknown_ones(
    folders: dict[str, Path], treebank: list[Tree]
) -> None:
    parser = spectralnlp.load(folders["plain"])
    explainer = Explainer.of(parser, treebank)
    sentence = sentence_of(
        ["The", "blorfish", "quickly", "snerked", "the", "gulls", "."], parser.tokenizer, None
    )
    forests = bracket_forests(parser, sentence, Bracket(2, 6, "VP"))
    estimate = influence(explainer.counted, forests).trees[::4]
    trees = range(0, len(treebank), 4)
    recounted = explainer.recounted(forests, sentence.forms, trees)
    exact = [recounted[tree] for tree in trees]
    assert np.corrcoef(estimate, exact)[0, 1] > 0.9


def test_a_tree_of_clusters_is_named_with_its_match(folders: dict[str, Path], treebank: list[Tree]) -> None:
    parser = spectralnlp.load(folders["clusters"])
    explanation = parser.explain(WORDS, BRACKET)
    assert explanation.in_favour[0].influence == max(each.influence for each in explanation.in_favour)
    for each in (*explanation.in_favour, *explanation.against):
        assert each.document == "document 1"
        assert each.tree == treebank[each.sentence - 1]
        tags = {(tag, place, place + 1) for place, tag in enumerate(each.tree.tags())}
        start, end, label = each.match
        assert (label, start, end) in {*each.tree.spans(), *tags}
    assert (BRACKET.label, *BRACKET.span) not in explanation.alternative.spans()


def test_what_cannot_be_explained_says_why(
    folders: dict[str, Path], treebank: list[Tree], tmp_path: Path
) -> None:
    parser = spectralnlp.load(folders["annotated"])
    with pytest.raises(InputError, match="no label"):
        parser.explain(WORDS, (3, 8), trees=treebank)
    with pytest.raises(ConstraintError, match="reaches beyond"):
        parser.explain(WORDS, (3, 80, "NP"), trees=treebank)
    with pytest.raises(NoTreeError, match="no tree of the model has bracket"):
        parser.explain(WORDS, (1, 9, "WHADVP"), trees=treebank)
    with pytest.raises(ConfigError, match="keeps no trees that could be counted again"):
        parser.explain(WORDS, BRACKET, recount=True)
    with pytest.raises(ConfigError, match="learned from other trees"):
        parser.explain(WORDS, BRACKET, trees=treebank[:50])
    tensors = {"grammars": "tensors", "n_states": 4, "span_scorer": False}
    spectralnlp.train("lpcfg", read_treebank(TREEBANK), **tensors).save(tmp_path / "model")
    with pytest.raises(ConfigError, match="keeps no moments"):
        spectralnlp.load(tmp_path / "model").explain(WORDS, BRACKET)


def test_without_moments_there_are_features_alone() -> None:
    parser = dataclasses.replace(spectralnlp.load("en"), saved=None)
    explanation = parser.parse_tokens(["Gulls", "are", "noisy", "."]).explain((2, 3, "ADJP"), limit=2)
    assert len(explanation.features_in_favour) == 2
    assert explanation.in_favour == explanation.against == ()
    assert "none were kept" in explanation.to_text()


@pytest.mark.parametrize("name", ["plain", "annotated"])
def test_of_counts_rules_are_named_that_add_up_to_the_log_odds(name: str, folders: dict[str, Path]) -> None:
    parser = spectralnlp.load(folders[name])
    explanation = parser.explain(WORDS, BRACKET, limit=100)
    assert explanation.log_odds == pytest.approx(log_odds(parser), abs=1e-3)
    assert explanation.in_favour == explanation.against == ()
    weights = [each.weight for each in explanation.rules]
    assert weights == sorted(weights, reverse=True)
    # What is left is the entropy of the trees with the bracket, less that of the others: both between 0 and
    # the logarithm of their number.
    assert abs(explanation.log_odds - sum(weights)) < 1.5
    named = dict(parser.explain(WORDS, BRACKET, limit=2).rules)
    assert len(named) == 4
    assert named["NP → NP PP"] < 0 < named["VP → … PP"]
    lines = parser.explain(WORDS, BRACKET).to_text().splitlines()
    assert lines[-1].endswith("  the rest")
    added = sum(float(line.split()[0]) for line in lines[lines.index("rules:") + 1 :])
    assert added == pytest.approx(explanation.log_odds, abs=0.01)


def test_of_one_tree_each_the_rules_are_all_of_the_log_odds(tmp_path: Path) -> None:
    trees = [
        Tree.from_string("(TOP (S (N a) (V b) (X (P c) (N a))))"),
        Tree.from_string("(TOP (S (N a) (Y (V b) (P c) (N a))))"),
    ]
    changes.train("pcfg", registry.estimators.get("pcfg")(), InMemoryCorpus(trees)).save(tmp_path / "model")
    parser = spectralnlp.load(tmp_path / "model")
    explanation = parser.explain(["a", "b", "c", "a"], (2, 4, "X"), limit=100)
    assert sum(each.weight for each in explanation.rules) == pytest.approx(explanation.log_odds, abs=1e-6)


def test_the_command_writes_lines_or_json(run: Run, folders: dict[str, Path]) -> None:
    arguments = ("explain", folders["annotated"], "--tokens", " ".join(WORDS), "--bracket", 3, 8, "NP")
    arguments = (*map(str, arguments), "--trees", str(TREEBANK))
    status, out, _ = run(*arguments)
    assert status == 0
    assert "trees in favour:\n  +" in out
    status, out, _ = run(*arguments, "--json", "--limit", "1")
    assert status == 0
    found = json.loads(out)
    assert found["bracket"] == [3, 8, "NP"]
    assert [each["document"] for each in found["in_favour"]] == [str(TREEBANK)]
    status, out, err = run(*arguments[:4], "--bracket", "3", "80", "NP")
    assert (status, out, err.count("\n")) == (2, "", 1)


def test_a_parse_explains_its_brackets(folders: dict[str, Path]) -> None:
    parser = spectralnlp.load(folders["clusters"])
    parse = parser.parse_tokens(WORDS)
    phrase = next(each for each in parse.constituents if 1 < each.end - each.start < len(WORDS))
    explanation = parse.explain(phrase, limit=1)
    assert explanation == parser.explain(WORDS, (phrase.start, phrase.end, phrase.label), limit=1)
    unpickled = pickle.loads(pickle.dumps(parse))
    assert unpickled == parse
    with pytest.raises(ConfigError, match="does not know its model"):
        unpickled.explain(phrase)
    with pytest.raises(InputError, match="limit 0 is out of range"):
        parse.explain(phrase, limit=0)
