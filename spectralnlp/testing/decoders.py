"""Checks for decoders, which choose a tree from a packed forest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from spectralnlp.errors import ConfigError
from spectralnlp.estimators.lpcfg import LPCFG
from spectralnlp.estimators.pcfg import PCFG
from spectralnlp.models.parser import Parser
from spectralnlp.runtime import InMemoryCorpus
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.testing.asserting import require
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees.tree import Tree

_N_TREES = 4
_SENTENCES = [
    "the dog saw the cat",
    "the dog saw the cat with the stick",
    "a cat with the stick saw a dog with the cat",
    "the unseen saw a cat",
]


def check_decoder(make_decoder: Callable[[], Any]) -> None:
    """Check that a decoder chooses a whole tree from each parse forest of a PCFG and a latent-variable PCFG.

    Args:
        make_decoder: the decoder's class, or a function without arguments that returns a decoder.

    Raises:
        AssertionError: a requirement is violated.

    Examples:
        >>> from spectralnlp.inference.trees.decoders import ViterbiDecoder
        >>> from spectralnlp.testing import check_decoder
        >>> check_decoder(ViterbiDecoder)
    """
    trees = InMemoryCorpus(_treebank())
    for estimator in (PCFG(), LPCFG.from_preset("fast")):
        parser = ParsingTask().train(estimator, trees)
        for sentence in _SENTENCES:
            _check_choice(make_decoder(), parser, sentence.split())


def _check_choice(decoder: Any, parser: Parser, words: list[str]) -> None:
    sentence = Sentence.from_words(parser.conventions.forms(words))
    forests = parser.forest_parser.infer(parser.look_up(sentence, pooled=False))
    assert forests.scored, "the sentences are of the treebank's language"
    _, scored = forests.first
    choice = decoder.decode(scored)
    _require_tree(choice, scored, "decode")
    require(np.array_equal(decoder.decode(scored), choice), "decoding again gives the same tree")
    try:
        ranked = decoder.k_best(scored, _N_TREES)
    except ConfigError as error:  # the decoder has only one tree
        require("\n" not in str(error), f"an error is one line, not {str(error)!r}")
        return
    require(0 < len(ranked) <= _N_TREES, f"k_best gives one to k trees, not {len(ranked)}")
    gains = [gain for gain, _ in ranked]
    require(gains == sorted(gains, reverse=True), "k_best gives the best first")
    chosen = {np.asarray(each).tobytes() for _, each in ranked}
    require(len(chosen) == len(ranked), "the k best are distinct")
    for _, each in ranked:
        _require_tree(each, scored, "k_best")


def _require_tree(choice: Any, scored: Any, method: str) -> None:
    """Require that the hyperedges that a decoder chose in a forest form exactly one tree.

    Args:
        choice: chosen hyperedge of each node, int32 (n_nodes,); -1 for nodes outside the tree.
        scored: the scored forest.
        method: name of the decoder's method, for messages.
    """
    forest = scored.forest
    choice = np.asarray(choice)
    require(choice.dtype == np.int32, f"{method} gives int32, not {choice.dtype}")
    require(choice.shape == (forest.n_nodes,), f"{method} gives a hyperedge, or -1, for every node")
    roots = [node for node in range(forest.n_roots) if choice[node] >= 0]
    require(len(roots) == 1, f"{method} chooses one root, not {len(roots)}")
    reached, waiting = set(), list(roots)
    while waiting:
        node = waiting.pop()
        edge = int(choice[node])
        is_own = forest.edges[node] <= edge < forest.edges[node + 1]
        require(is_own, f"{method} chooses one of a node's own hyperedges")
        reached.add(node)
        waiting += [int(child) for child in (forest.left[edge], forest.right[edge]) if child >= 0]
    chosen = set(np.flatnonzero(choice >= 0).tolist())
    require(reached == chosen, f"{method} chooses hyperedges of the tree's own nodes only")


def _treebank() -> Iterator[Tree]:
    """Yield trees of a toy language in which a phrase with "with" attaches to nouns or verbs."""
    for noun, verb, thing in product(["dog", "cat"], ["saw", "liked"], ["cat", "stick", "dog"]):
        subject, thing_phrase = _phrase("the", noun), _phrase("a", thing)
        attached = Tree("PP", [Tree("IN", word="with"), _phrase("the", "stick")])
        verb_tree = Tree("VBD", word=verb)
        yield _clause(subject, Tree("VP", [verb_tree, thing_phrase]))
        yield _clause(subject, Tree("VP", [verb_tree, thing_phrase, attached]))
        yield _clause(subject, Tree("VP", [verb_tree, Tree("NP", [thing_phrase, attached])]))


def _phrase(determiner: str, noun: str) -> Tree:
    return Tree("NP", [Tree("DT", word=determiner), Tree("NN", word=noun)])


def _clause(subject: Tree, predicate: Tree) -> Tree:
    return Tree("TOP", [Tree("S", [subject, predicate])])
