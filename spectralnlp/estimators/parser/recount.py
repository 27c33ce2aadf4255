"""Compute the exact log odds that a bracket would have without some training trees.

Explanations of a bracket tell which training trees support it. The module `influence` estimates how much, to
rank the trees; this slower module computes it exactly for a few of them.

Rules, roots and the lexicon with its signatures are estimated again from the remaining trees. The states of
nodes and the forests of the sentence are kept fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.lpcfg.states import StateCounts
from spectralnlp.estimators.parser.counted_grammar import CountedGrammar
from spectralnlp.estimators.shared.lexicon import LexiconMaker, count_tokens
from spectralnlp.inference.trees.forest import LEXICAL, Forest
from spectralnlp.inference.trees.latent import leaf_vectors
from spectralnlp.inference.trees.rule_counts import count_rules
from spectralnlp.inference.trees.sparse import SparseRules
from spectralnlp.inference.words.lexical import LexiconRows, Lookup, find_row, look_up
from spectralnlp.parameters import Floats, Ints, LatentGrammar
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.trees.treelog import TreeTable


def grammar_without(counted: CountedGrammar, trees: NDArray[np.bool_]) -> tuple[SparseRules, LatentGrammar]:
    """Return the weights of the grammar's rules, and the grammar's other parameters, without some trees.

    Args:
        counted: grammar with the counts of its training trees.
        trees: bool (n_trees,); trees to leave out.
    """
    counts = _counts_without(counted, trees)
    rules = counted.rules(counted.index.probabilities(counts, counted.smoothing))
    return rules, _grammar_of(counted, counts, trees)


def log_odds(
    rules: SparseRules, grammar: LatentGrammar, forests: Sequence[Forest], words: Sequence[str]
) -> float:
    """Return the natural log odds of a bracket under a grammar of `grammar_without`.

    Args:
        rules, grammar: weights of the rules, and the other parameters.
        forests: two forests of the sentence: one of its trees with the bracket, one of its trees without it.
        words: words of the sentence, spelled as in the model's treebank.
    """
    lookup = look_up(grammar.lexicon, words, signature_by_name(grammar.lexicon.scheme))
    with_it, without = (
        count_rules(forest, rules, grammar, _leaves(forest, grammar, lookup)).log_total for forest in forests
    )
    return with_it - without


def _leaves(forest: Forest, grammar: LatentGrammar, lookup: Lookup) -> Floats:
    """Return the vectors of a forest's lexical nodes, concatenated.

    A vector is zero if neither the word nor its signature has the tag in the recounted lexicon.

    Args:
        forest: forest of the sentence.
        grammar: grammar with the recounted lexicon.
        lookup: the sentence's words in this lexicon.
    """
    nodes, lexicon = np.flatnonzero(forest.kind == LEXICAL), LexiconRows.of(grammar.lexicon)
    tokens = zip(forest.start[nodes], forest.symbol[nodes], strict=True)
    has_tag = [
        find_row(lexicon, lookup.entries[token], lookup.signatures[token], tag)[1] > 0.0
        for token, tag in tokens
    ]
    leaves = leaf_vectors(forest, grammar, lookup)
    return np.asarray(leaves * np.repeat(has_tag, grammar.n_states[forest.symbol[nodes]]))


def _counts_without(counted: CountedGrammar, trees: NDArray[np.bool_]) -> StateCounts:
    """Return the counts of rules, words and roots without the training trees in the mask ``trees``."""
    index, p, counts = counted.index, counted.probabilities, counted.counts
    if not trees.any():
        return counts
    rows = trees[index.table.tree]
    observed = index.observed(p)
    theirs, _ = replace(
        observed, table=_rows_of(index.table, rows), event=index.event[rows]
    ).expected_counts()
    left = {name: np.maximum(getattr(counts, name) - each, 0.0) for name, each in theirs._asdict().items()}
    for name, each in left.items():  # counts of removed trees only are zero up to rounding errors
        each[each < 1e-9 * np.maximum(getattr(counts, name), 1e-300)] = 0.0
    return replace(counts, **left)


def _rows_of(table: TreeTable, rows: NDArray[np.bool_]) -> TreeTable:
    """Return a table of trees with only some of its nodes; symbols and trees keep their indices.

    Args:
        table: table of trees.
        rows: bool (n_nodes,); which nodes to keep.
    """
    row_of = np.cumsum(rows, dtype=np.int32) - 1

    def moved(column: Ints) -> Ints:
        return np.where(column[rows] >= 0, row_of[column[rows]], -1).astype(np.int32)

    return replace(
        table,
        symbol=table.symbol[rows],
        left=moved(table.left),
        right=moved(table.right),
        parent=moved(table.parent),
        word=table.word[rows],
        start=table.start[rows],
        end=table.end[rows],
        head=moved(table.head),
        tree=table.tree[rows],
    )


def _grammar_of(counted: CountedGrammar, counts: StateCounts, trees: NDArray[np.bool_]) -> LatentGrammar:
    """Return a copy of the grammar whose root weights and lexicon are estimated without some trees."""
    grammar, table, tokens = counted.grammar, counted.index.table, counted.tokens
    n_symbols = len(grammar.symbols)
    leaves = np.flatnonzero((table.word >= 0) & ~trees[table.tree])
    tag = counted.symbol_of_state[counted.place[table.symbol[leaves]]]
    known, word = np.unique(table.word[leaves], return_inverse=True)
    tree = table.tree[leaves]
    is_first = np.append(True, tree[1:] != tree[:-1])[: len(leaves)]
    weight = table.weight[tree]
    remaining, _ = count_tokens(
        [table.words[each] for each in known], word.astype(np.int32), tag, weight, is_first
    )
    of_state = np.bincount(tokens.state, counts.pairs, len(grammar.root))
    of_tag = np.bincount(tokens.tag, counts.pairs, n_symbols)
    p_state = of_state / np.maximum(of_tag[counted.symbol_of_state], 1e-300)
    keys = known[remaining.word].astype(np.int64) * n_symbols + remaining.tag
    counted_keys = tokens.word.astype(np.int64) * n_symbols + tokens.tag
    row = np.minimum(np.searchsorted(keys, counted_keys), len(keys) - 1)
    there = keys[row] == counted_keys
    within = tokens.state - grammar.state_offsets[tokens.tag]
    z = np.zeros((len(keys), int(grammar.n_states[np.unique(remaining.tag)].max())))
    share = np.divide(
        counts.pairs,
        p_state[tokens.state],
        out=np.zeros_like(counts.pairs),
        where=p_state[tokens.state] > 0.0,
    )
    np.add.at(z, (row[there], within[there]), share[there])
    lexicon, tag_default = LexiconMaker(remaining, counted.lexicon).make(grammar.n_states, z)
    root = np.zeros(len(grammar.root))
    np.add.at(root, counted.states, counts.root / counts.root.sum())
    return replace(grammar, root=root, lexicon=lexicon, tag_default=tag_default)
