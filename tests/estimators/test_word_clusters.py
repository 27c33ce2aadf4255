"""Clusters of words from unlabelled text in a parser's lexicon."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spectralnlp import load
from spectralnlp.errors import ConfigError
from spectralnlp.estimators.eigenwords import Eigenwords
from spectralnlp.estimators.eigenwords.of_text import load_vectors
from spectralnlp.estimators.lpcfg import LPCFG
from spectralnlp.estimators.parser.parsers import LPCFGParser
from spectralnlp.estimators.parser.word_clusters import cluster_words, with_tag_factors
from spectralnlp.estimators.shared.treebank import Treebank
from spectralnlp.models.parser import Parser
from spectralnlp.parameters import WordClusters
from spectralnlp.runtime import InMemoryCorpus, accumulate
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.tasks.vectors import VectorsTask
from spectralnlp.trees import read_trees
from spectralnlp.trees.treelog import TreeLog, TreeTable

TREES = "(S (NP (DT the) (NN boat)) (VP (VB sail)))\n(S (NP (DT the) (NN keel)) (VP (VB row)))\n" * 3


@pytest.fixture
def table(tmp_path: Path) -> TreeTable:
    path = tmp_path / "trees.mrg"
    path.write_text(TREES + "(S (NP (NN sail)) (VP (VB row)))\n")
    estimator = LPCFG(heads="neutral", signatures="neutral")
    corpus = InMemoryCorpus(list(read_trees(path)))
    log = accumulate(estimator.init_moments(corpus), corpus).parts["left"]
    assert isinstance(log, TreeLog)
    return Treebank.of([log]).first


def test_factors_are_what_clusters_say_beyond_all_rare_words(table: TreeTable) -> None:
    words = ("boat", "keel", "sail", "row", "brig", "the")
    fine = np.array([[1, 1], [1, 1], [1, 2], [1, 2], [1, 1], [1, 3]], np.int32)
    clusters = WordClusters(words=words, clusters=fine, tag_factors=np.ones((4, 0)))
    found = with_tag_factors(clusters, table, rare=4)
    assert found.tags == ("DT", "NN", "VB")
    # Rare are boat and keel, three times NN each, sail, three times VB and once NN, and row, four times VB.
    nouns, verbs = 7 / 14, 7 / 14
    np.testing.assert_allclose(found.tag_factors[1], [1, (6 + nouns) / 7 / nouns, verbs / 7 / verbs])
    np.testing.assert_allclose(found.tag_factors[2], [1, (1 + nouns) / 9 / nouns, (7 + verbs) / 9 / verbs])
    assert (found.tag_factors[[0, 3]] == 1.0).all()  # no cluster, and one without a rare word
    assert found.of("brig") == found.of("Brig") == (1, 1)
    assert found.of("schooner") == (0, 0)


@pytest.fixture(scope="module")
def trained(own_treebank: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Parser, Path]:
    """A parser, with clusters of its own treebank's words."""
    task = ParsingTask()
    corpus = task.read([own_treebank / "train.mrg"])
    folder = tmp_path_factory.mktemp("clusters") / "vectors"
    words = InMemoryCorpus([tree.words() for tree in corpus])
    VectorsTask().train(Eigenwords(dimensions=4, min_count=1), words).save(folder)
    return task.train(LPCFGParser(eigenwords=str(folder)), corpus), folder


def test_a_parser_keeps_its_clusters(trained: tuple[Parser, Path], tmp_path: Path) -> None:
    parser, folder = trained
    assert parser.components["word_clusters"].words == cluster_words(load_vectors(str(folder)), 0).words
    parser.save(tmp_path / "parser")
    again = load(tmp_path / "parser")
    np.testing.assert_array_equal(
        again.components["word_clusters"].clusters, parser.components["word_clusters"].clusters
    )
    words = ["The", "keeper", "walks", "along", "the", "shore", "."]
    assert again.parse_tokens(words).tree == parser.parse_tokens(words).tree


def test_clusters_weigh_the_tags_of_unknown_words(trained: tuple[Parser, Path]) -> None:
    parser, _ = trained
    words = ["The", "walks", "zorb", "."]
    tags = parser.components["word_clusters"].tags
    as_noun = np.ones((2, len(tags)))
    as_noun[1] = 1e-3
    as_noun[1, tags.index("NN")] = 1e3
    zorb = WordClusters(
        words=("zorb",), clusters=np.array([[1, 1]], np.int32), tags=tags, tag_factors=as_noun
    )
    assert replace(parser, components={"word_clusters": zorb}).parse_tokens(words).tree.tags()[2] == "NN"
    as_verb = as_noun.copy()
    as_verb[1, tags.index("NN")], as_verb[1, tags.index("VBD")] = 1e-3, 1e3
    verb = replace(parser, components={"word_clusters": replace(zorb, tag_factors=as_verb)})
    assert verb.parse_tokens(words).tree.tags()[2] == "VBD"
    assert verb.log_probability(words) == parser.log_probability(words)  # of the grammar alone


def test_unlabelled_text_gives_what_its_eigenwords_give(own_treebank: Path, tmp_path: Path) -> None:
    task, text = ParsingTask(), tmp_path / "text.txt"
    corpus = task.read([own_treebank / "train.mrg"])
    text.write_text("".join(f"{' '.join(tree.words())}\n" for tree in corpus))
    vectors = VectorsTask()
    vectors.train(Eigenwords(), vectors.read([text])).save(tmp_path / "vectors")

    def clusters(**settings: str) -> WordClusters:
        learner = LPCFGParser(span_scorer=False, closed_cells=False, sentence_ends=False, **settings)
        learned = task.train(learner, corpus).components["word_clusters"]
        assert isinstance(learned, WordClusters)
        return learned

    of_text, of_folder = clusters(unlabelled=str(text)), clusters(eigenwords=str(tmp_path / "vectors"))
    assert of_text.words == of_folder.words
    np.testing.assert_array_equal(of_text.clusters, of_folder.clusters)
    np.testing.assert_array_equal(of_text.tag_factors, of_folder.tag_factors)
    with pytest.raises(ConfigError, match="eigenwords and unlabelled are both given"):
        clusters(unlabelled=str(text), eigenwords=str(tmp_path / "vectors"))
