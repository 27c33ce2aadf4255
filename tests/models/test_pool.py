"""Pools over several binarisations, and k-best trees."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spectralnlp import load
from spectralnlp.errors import ConfigError
from spectralnlp.estimators.lpcfg import LPCFG
from spectralnlp.estimators.pcfg.estimator import PCFG
from spectralnlp.inference.trees.decoders import ForestDecoder, ViterbiDecoder
from spectralnlp.inference.trees.labels import SpanLabels
from spectralnlp.inference.trees.parsing import Pruning
from spectralnlp.inference.trees.scored_forest import ScoredForest
from spectralnlp.inference.trees.spans import Span, SpanPosteriors, decode_spans
from spectralnlp.models.parser import Parser
from spectralnlp.parameters import Ints
from spectralnlp.runtime import InMemoryCorpus
from spectralnlp.storage import load_model
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.trees import read_brackets

WORDS = ["The", "keeper", "walks", "along", "the", "shore", "."]


@pytest.fixture(scope="module")
def pool(own_treebank: Path) -> Parser:
    task = ParsingTask()
    return task.train(LPCFG(binarisations="head+right+left^1"), task.read([own_treebank / "train.mrg"]))


def test_a_pool_parses_as_well_as_a_member(pool: Parser, own_treebank: Path) -> None:
    task = ParsingTask()
    dev = task.read([own_treebank / "dev.mrg"])
    single = task.train(LPCFG(), task.read([own_treebank / "train.mrg"]))
    scores = [task.evaluate(parser, dev).to_flat_dict() for parser in (pool, single)]
    assert scores[0]["f1"] > scores[1]["f1"] - 2
    assert scores[0]["failures"] == 0


def test_trees_of_a_pool_have_no_trace_of_binarisation(pool: Parser) -> None:
    parse = pool.parse_tokens(WORDS)
    assert parse.tree.words() == WORDS
    assert not any("@" in node.label or "^" in node.label for node in parse.tree.nodes())
    assert all(0 <= c.posterior <= 1 for c in parse.constituents)


def test_a_pool_survives_the_disk(pool: Parser, tmp_path: Path) -> None:
    pool.save(tmp_path / "pool")
    again = load(tmp_path / "pool")
    assert again.parse_tokens(WORDS).tree == pool.parse_tokens(WORDS).tree
    assert again.info["binarisations"] == 3
    names = load_model(tmp_path / "pool").arrays
    assert "0.lexicon.starts" in names
    assert not {"1.lexicon.starts", "2.lexicon.starts"} & names.keys()  # the same words: stored once
    assert again.grammar_sets[2].coarse.lexicon.words == again.coarse.lexicon.words
    signed = [grammar.is_signed for grammar in again.grammars]
    assert signed == [grammar.is_signed for grammar in pool.grammars] == [True, False, False]


def test_viterbi_takes_the_grammar_that_has_probabilities(own_treebank: Path) -> None:
    task = ParsingTask()
    corpus = task.read([own_treebank / "train.mrg"])
    assert task.train(LPCFG(), corpus).parse_tokens(WORDS, decoder="viterbi").tree.words() == WORDS
    tensors = task.train(LPCFG(grammars="tensors"), corpus)
    with pytest.raises(ConfigError, match="negative"):
        tensors.parse_tokens(WORDS, decoder="viterbi")


def test_what_needs_one_forest_takes_the_first_binarisation(pool: Parser) -> None:
    alone = replace(pool, grammar_sets=pool.grammar_sets[:1])
    for decoder in ("max-rule", "viterbi"):
        trees = [each.parse_tokens(WORDS, decoder=decoder).tree for each in (pool, alone)]
        assert trees[0] == trees[1]
    sentence = next(pool.sentences([" ".join(WORDS)]))
    lists = [next(each.parse_many([sentence], k=3)) for each in (pool, alone)]
    assert lists[0] == lists[1]


def test_k_best_trees_are_distinct_and_the_best_is_the_parse(own_treebank: Path) -> None:
    task = ParsingTask()
    trained = task.train(LPCFG(), task.read([own_treebank / "train.mrg"]))
    loose = Pruning(beam=0.0, edge_threshold=1e-9, pruner_threshold=1e-9, grammar_threshold=0.0)
    parser = replace(trained, pruning=loose)  # of so few trees the usual thresholds leave two
    (parse,) = parser.parse_many(parser.sentences([" ".join(WORDS)]), k=3)
    assert parse is not None
    trees = [alternative.tree for alternative in parse.alternatives]
    scores = [alternative.score for alternative in parse.alternatives]
    assert trees[0] == parse.tree
    assert len(set(map(str, trees))) == len(trees) == 3
    assert scores == sorted(scores, reverse=True)


def test_an_unknown_binarisation_is_refused() -> None:
    task = ParsingTask()
    with pytest.raises(ConfigError, match="no binarisation is called 'middle'"):
        task.train(LPCFG(binarisations="middle"), task.read([__file__]))


def test_parsers_of_the_same_labels_join(parsers: dict[str, Parser]) -> None:
    joined = Parser.join([parsers["pcfg"], parsers["lpcfg"]])
    assert joined.info["binarisations"] == 2
    assert joined.parse_tokens(WORDS).tree.words() == WORDS


def test_a_pool_of_different_labels_is_refused(parsers: dict[str, Parser], own_treebank: Path) -> None:
    task = ParsingTask()
    spanish = task.train(PCFG(), task.read([own_treebank / "spanish.mrg"], reader="brackets"))
    with pytest.raises(ConfigError, match="differ in labels: the first alone has the tag") as error:
        Parser.join([parsers["pcfg"], spanish])
    assert "the same trees" in str(error.value)


class OwnDecoder(ForestDecoder):
    """A third party's decoder, which has nothing to do with ours but can pool too."""

    can_pool = True

    def decode(self, scored: ScoredForest) -> Ints:
        raise AssertionError("a pool shares no forest")

    def decode_pool(self, posteriors: SpanPosteriors) -> list[Span]:
        return decode_spans(posteriors, gamma=0.4, tag_weight=0.3)


def test_any_decoder_that_can_pool_decodes_a_pool(pool: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = pool.parse_tokens(WORDS, decoder="mbr").tree
    monkeypatch.setattr("spectralnlp.models.parser.make_decoder", lambda name, settings: OwnDecoder())
    assert pool.parse_tokens(WORDS, decoder="own").tree == ours


def test_a_decoder_that_cannot_pool_refuses_in_one_line() -> None:
    posteriors = SpanPosteriors(
        SpanLabels(np.ones(1, bool), np.zeros((0, 2), np.int32)),
        np.array([0], np.int32),
        np.array([1], np.int32),
        np.zeros((1, 1)),
        np.zeros((1, 0)),
    )
    with pytest.raises(ConfigError, match="cannot decode a pool"):
        ViterbiDecoder().decode_pool(posteriors)


def test_a_sign_in_a_pool_has_the_tag_of_signs() -> None:
    trees = list(read_brackets(["(S (SYM *) (NP (DT the) (NNS gulls)) (VP (VBP cry)) (. .))"] * 9))
    pool = ParsingTask().train(LPCFG(binarisations="head+right^1"), InMemoryCorpus(trees))
    assert pool.parse_tokens(["★", "the", "gulls", "cry", "."]).tree.tags() == [
        "SYM",
        "DT",
        "NNS",
        "VBP",
        ".",
    ]
