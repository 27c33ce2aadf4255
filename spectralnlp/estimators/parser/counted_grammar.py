"""Compute the counts that a grammar was estimated from, to find what each training tree contributes.

Counts of rules and words are expectations over the latent states of nodes, under the trained grammar. If some
trees are removed, their contributions are subtracted; the expectations for the other trees stay the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.errors import ConfigError
from spectralnlp.estimators.lpcfg.estimator import LPCFG
from spectralnlp.estimators.lpcfg.learner import CLUSTERS
from spectralnlp.estimators.lpcfg.moments import CountedTable
from spectralnlp.estimators.lpcfg.states import StateCounts, TreeEventIndex
from spectralnlp.estimators.pcfg.estimator import PCFG
from spectralnlp.estimators.shared.event_index import HARD_SMOOTHING, SOFT_SMOOTHING
from spectralnlp.estimators.shared.grammars import TreebankEstimator
from spectralnlp.estimators.shared.lexicon import LexiconOptions
from spectralnlp.estimators.shared.treebank import Treebank
from spectralnlp.inference.trees.sparse import SparseRules
from spectralnlp.inference.trees.tree_states import Columns
from spectralnlp.parameters import Floats, GrammarSet, Ints, LatentGrammar, Offsets, Tensors
from spectralnlp.text.signatures import signature_chain
from spectralnlp.trees import split_annotation
from spectralnlp.trees.treelog import TreeLog, TreeTable

_MIN_POSTERIOR = 1e-4  # as in the EM that trained the grammar
_MIN_SHARE = 1e-4  # smaller contributions of a node to a count are dropped
# Smaller shares of a rule's largest number are errors of low-rank storage, and count as zero.
_NEGLIGIBLE = 1e-5


@dataclass(frozen=True, kw_only=True)
class CountedGrammar:
    """A grammar whose parameters are ratios of counts, with these counts and its training trees.

    `index` and `counts` use the symbols of the treebank. For an ``lpcfg``, these are also the symbols of the
    grammar. For a ``pcfg``, a treebank symbol may be annotated with its context (``NP^S``), and is then a
    state of a plain symbol (``NP``) of the grammar.

    Attributes:
        grammar: the trained grammar.
        index: rules and (word, tag) pairs of the training trees.
        counts: counts of the events of all trees.
        probabilities: probabilities of rules and words from which `counts` were computed.
        smoothing: smoothing weight α; see `TreeEventIndex.probabilities`.
        place: int64 (n_index_symbols,); index of the first state of each treebank symbol, among all states of
            the grammar.
        lexicon: settings of the lexicon.
    """

    grammar: LatentGrammar
    index: TreeEventIndex
    counts: StateCounts
    probabilities: StateCounts
    smoothing: float
    place: Offsets
    lexicon: LexiconOptions

    @classmethod
    def of(cls, estimator: TreebankEstimator, trees: TreeLog, grammars: GrammarSet) -> CountedGrammar:
        """Compute the counts of the trees that a grammar was learned from.

        Args:
            estimator: estimator of the grammar, with its settings.
            trees: the training trees, in the first binarisation.
            grammars: the learned grammars.

        Raises:
            ConfigError: none of the grammars was estimated from counts of states, or they were learned from
                other trees.
        """
        table = Treebank.of([trees]).first
        options = LexiconOptions.of(estimator, scheme=grammars.coarse.lexicon.scheme)
        counted = CountedTable.of(table, options)
        index = TreeEventIndex.of(counted, least_posterior=_MIN_POSTERIOR)
        if isinstance(estimator, LPCFG):
            grammar = _of_clusters(estimator, grammars)
            if not np.array_equal(index.binary_rules, grammar.binary_rules):
                raise _other_trees()
            smoothing = SOFT_SMOOTHING if estimator.em_iterations else HARD_SMOOTHING
            probabilities = _probabilities(index, grammar)
            counts, _ = index.expected_counts(probabilities)
            place = grammar.state_offsets[:-1]
        elif isinstance(estimator, PCFG):
            grammar, smoothing = grammars.grammars[-1], 0.0
            nodes, symbols = np.zeros(table.n_nodes, np.int32), np.ones(len(table.symbols), np.int32)
            counts = index.count_states(nodes, symbols)
            probabilities = index.probabilities(counts, smoothing)
            place = _annotations(table, grammar)
        else:
            raise ConfigError("counts are only available for grammars of lpcfg and pcfg")
        return cls(
            grammar=grammar,
            index=index,
            counts=counts,
            probabilities=probabilities,
            smoothing=smoothing,
            place=place,
            lexicon=options,
        )

    @cached_property
    def states(self) -> Offsets:
        """For each pair of a treebank symbol and one of its states, the state's index in the grammar; int64.

        The pairs are sorted by symbol, then by state.
        """
        n_states = self.counts.n_states.astype(np.int64)
        first = np.cumsum(n_states) - n_states
        return np.arange(n_states.sum()) + np.repeat(self.place - first, n_states)

    @cached_property
    def symbol_of_state(self) -> Ints:
        """Symbol of each state of the grammar, int32 (n_states,)."""
        n_symbols = np.arange(len(self.grammar.symbols), dtype=np.int32)
        return np.repeat(n_symbols, self.grammar.n_states)

    @cached_property
    def shares(self) -> sp.csr_array:
        """Contribution of each treebank node (row) to each number in `counts` (column).

        Sparse float32 matrix (n_nodes, n_counts); tiny contributions are left out.
        """
        return self.index.observed(self.probabilities).shares_of_nodes(_MIN_SHARE)

    @cached_property
    def whole_rules(self) -> SparseRules:
        """Weights of the grammar's rules, estimated from the counts of all trees."""
        return self.rules(self.index.probabilities(self.counts, self.smoothing))

    @cached_property
    def binary(self) -> Layout:
        """Mapping from the counts of binary rules to the weights of the grammar's binary rules."""
        offsets = self.index.offsets(self.counts.n_states, self.counts.columns).binary
        return self._layout(self.index.binary_rules, self.grammar.binary_rules, offsets, self._binary_states)

    @cached_property
    def unary(self) -> Layout:
        """Mapping from the counts of unary rules to the weights of the grammar's unary rules."""
        offsets = self.index.offsets(self.counts.n_states, self.counts.columns).unary
        return self._layout(self.index.unary_rules, self.grammar.unary_rules, offsets, self._unary_states)

    def rules(self, probabilities: StateCounts) -> SparseRules:
        """Return the weights of the grammar's rules, given the probabilities of the treebank's rules.

        Args:
            probabilities: probabilities of the rules and words in `index`.
        """
        binary, unary = self.binary, self.unary
        return SparseRules(
            binary.starts,
            binary.states,
            probabilities.binary[binary.order],
            unary.starts,
            unary.states,
            probabilities.unary[unary.order],
        )

    def _layout(
        self, events: Ints, rules: Ints, offsets: Offsets, states: tuple[NDArray[np.int64], Ints]
    ) -> Layout:
        if events.shape == rules.shape and np.array_equal(self.place, self.grammar.state_offsets[:-1]):
            return Layout(offsets, states[1], np.arange(offsets[-1]))
        rule, within = states
        place = self.place[events[rule]] + within
        symbols = self.symbol_of_state[place]
        symbol_states = (place - self.grammar.state_offsets[symbols]).astype(np.int32)
        order = np.lexsort((*symbol_states.T[::-1], *symbols.T[::-1]))
        shape = (len(self.grammar.symbols),) * rules.shape[1]
        keys, wanted = (np.ravel_multi_index(tuple(each.T), shape) for each in (symbols[order], rules))
        starts = np.searchsorted(keys, np.append(wanted, np.prod(shape))).astype(np.int64)
        return Layout(starts, symbol_states[order], order)

    @cached_property
    def _binary_states(self) -> tuple[NDArray[np.int64], Ints]:
        """For each count of a binary rule: index of the rule, and the states of its three symbols.

        The two arrays are int64 (n_counts,) and int32 (n_counts, 3); the states of a symbol start at 0.
        """
        m, columns = self.counts.n_states.astype(np.int64), self.counts.columns
        rules, width = self.index.binary_rules, np.diff(columns.starts)
        rule, row, column = _cells(m[rules[:, 0]], width)
        number = columns.number[columns.starts[rule] + column]
        left, right = np.divmod(number, m[rules[rule, 2]])
        return rule, np.stack([row, left, right], axis=1).astype(np.int32)

    @cached_property
    def _unary_states(self) -> tuple[NDArray[np.int64], Ints]:
        m, rules = self.counts.n_states.astype(np.int64), self.index.unary_rules
        rule, row, column = _cells(m[rules[:, 0]], m[rules[:, 1]])
        return rule, np.stack([row, column], axis=1).astype(np.int32)

    @cached_property
    def tokens(self) -> TokenStates:
        """Word, state and tag of each count of a (word, tag, state), in the order of ``counts.pairs``."""
        pairs, m = self.index.pairs, self.counts.n_states.astype(np.int64)
        pair, state, _ = _cells(m[pairs[:, 1]], np.ones(len(pairs), np.int64))
        place = self.place[pairs[pair, 1]] + state
        return TokenStates(pairs[pair, 0], place, self.symbol_of_state[place])

    @cached_property
    def word_counts(self) -> Floats:
        """Number of tokens of each word of the treebank, float64 (n_words,)."""
        return np.bincount(self.tokens.word, self.counts.pairs).astype(np.float64)

    @cached_property
    def left_hand_states(self) -> NDArray[np.int64]:
        """State of the left-hand symbol of each number in `counts`; one number beyond for the roots.

        int64 (n_counts,), in the order of the columns of `shares`; states are those of the grammar.
        """
        n_states = len(self.grammar.root)
        rules = (self.index.binary_rules, *self._binary_states), (self.index.unary_rules, *self._unary_states)
        parents = [self.place[symbols[rule, 0]] + states[:, 0] for symbols, rule, states in rules]
        return np.concatenate([*parents, self.tokens.state, np.full(len(self.counts.root), n_states)])

    def tokens_of_entry(self, entry: int) -> tuple[NDArray[np.intp], float]:
        """Return the counts that p(tag | entry) changes with, and the sum that they are divided by.

        The p(tag | signature) of a spelling class changes with the words that were seen once: a word seen
        more often votes for its tags even if one token is removed.

        Args:
            entry: index of the lexicon entry of a word or of a signature.

        Returns:
            Positions in `tokens`; and the number of tokens, or of words for a signature, with the
            pseudo-counts of smoothing.
        """
        of_word, options, words = self.tokens.word, self.lexicon, self.grammar.lexicon.words
        if entry >= len(words):
            rare = self._rare_words.get(entry - len(words), [])
            once = [word for word in rare if self.word_counts[word] < 1.5]
            return np.flatnonzero(np.isin(of_word, once)), len(rare) + options.signature_prior
        word = self._numbers.get(words[entry], len(self.word_counts))
        first, last = np.searchsorted(of_word, [word, word + 1])
        total = self.counts.pairs[first:last].sum()
        return np.arange(first, last), total + options.word_prior * (total <= options.frequent)

    @cached_property
    def _rare_words(self) -> Mapping[int, list[int]]:
        """Ids in the treebank of the rare words with each signature, or with a finer one."""
        lexicon, found = self.grammar.lexicon, defaultdict[int, list[int]](list)
        number = {name: place for place, name in enumerate(lexicon.signatures)}
        for word, signature in zip(lexicon.words, lexicon.word_signature.tolist(), strict=True):
            place = self._numbers.get(word, -1)
            if place >= 0 and self.word_counts[place] <= self.lexicon.rare:
                for name in signature_chain(lexicon.signatures[signature], word):
                    if name in number:
                        found[number[name]].append(place)
        return found

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        """Mapping of words to their ids in the treebank."""
        return {word: number for number, word in enumerate(self.index.table.words)}


class Layout(NamedTuple):
    """Mapping from counts of rules in a treebank to the weights of a grammar's rules.

    Attributes:
        starts: int64 (n_rules + 1,); rule r of the grammar has the weights ``starts[r]:starts[r + 1]``.
        states: int32 (n_weights, 2 or 3); states of the two or three symbols of the rule for each weight.
        order: int (n_weights,); index of the count from which each weight is estimated.
    """

    starts: Offsets
    states: Ints
    order: NDArray[np.intp]


class TokenStates(NamedTuple):
    """The words and states that are counted in ``CountedGrammar.counts.pairs``.

    Attributes:
        word: int (n_counts,); id of the word of each count, ascending.
        state: int64 (n_counts,); index of the tag's state among all states of the grammar.
        tag: int (n_counts,); symbol of the tag.
    """

    word: Ints
    state: Offsets
    tag: Ints


def _cells(n_rows: NDArray[np.int64], n_columns: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Return the indices of the matrix, the row and the column of each element of concatenated matrices.

    The matrices are stored in row-major order.

    Args:
        n_rows, n_columns: int64 (n_matrices,); shape of each matrix.
    """
    sizes = n_rows * n_columns
    matrix = np.repeat(np.arange(len(sizes)), sizes)
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return (matrix, *np.divmod(within, n_columns[matrix]))


def _of_clusters(estimator: LPCFG, grammars: GrammarSet) -> LatentGrammar:
    """Return the last grammar whose states are clusters of nodes.

    Raises:
        ConfigError: all grammars are of tensors, whose parameters are not counts.
    """
    kinds = estimator.grammars.split("+")
    if CLUSTERS not in kinds or len(kinds) != len(grammars.grammars):
        what = "grammars of tensors have no counts to subtract a tree from"
        raise ConfigError(what, hint="train a grammar of clusters, such as lpcfg with preset=fast")
    last_of_kind = dict(zip(kinds, grammars.grammars, strict=True))
    return last_of_kind[CLUSTERS]


def _other_trees() -> ConfigError:
    return ConfigError(
        "the model was learned from other trees", hint="give the trees that it was learned from"
    )


def _annotations(table: TreeTable, grammar: LatentGrammar) -> Offsets:
    """Return the grammar state that represents each symbol of a treebank, int64 (n_symbols,).

    The symbols of the treebank are annotated with their context (``NP^S``). The grammar has plain symbols
    (``NP``), whose states are the annotated symbols in alphabetical order.

    Raises:
        ConfigError: the grammar was learned from other trees.
    """
    seen: dict[str, int] = {}
    place = np.empty(len(table.symbols), np.int64)
    for number, label in enumerate(table.symbols):  # symbols are sorted
        name = split_annotation(label)[0]
        if name not in grammar.symbol_index:
            raise _other_trees()
        symbol = grammar.symbol_index[name]
        place[number] = grammar.state_offsets[symbol] + seen.setdefault(name, 0)
        seen[name] += 1
    if any(grammar.n_states[symbol] != seen.get(name, 0) for name, symbol in grammar.symbol_index.items()):
        raise _other_trees()
    return place


def _probabilities(index: TreeEventIndex, grammar: LatentGrammar) -> StateCounts:
    """Return a grammar's parameters as probabilities of the rules and words in the index of a treebank.

    In binary rules, pairs of children's states with a negligible probability are left out.
    """
    m = grammar.n_states.astype(np.int64)
    every = np.arange(len(grammar.binary_rules), dtype=np.int32)
    dense, offsets = grammar.binary.with_rules(every), grammar.binary.offsets  # type: ignore[union-attr]
    starts, numbers, values = [0], [], []
    for rule, (a, _, _) in enumerate(grammar.binary_rules.tolist()):
        tensor = dense[offsets[rule] : offsets[rule + 1]].reshape(m[a], -1)
        most = tensor.max(axis=0)
        columns = np.flatnonzero(most > _NEGLIGIBLE * most.max(initial=0.0))
        numbers.append(columns)
        values.append(tensor[:, columns].ravel())
        starts.append(starts[-1] + len(columns))
    return StateCounts(
        n_states=grammar.n_states,
        columns=Columns(np.array(starts, np.int64), np.concatenate(numbers).astype(np.int32)),
        binary=np.maximum(np.concatenate(values).astype(np.float64), 0.0),
        unary=np.maximum(_all(grammar.unary).astype(np.float64), 0.0),
        pairs=_pair_values(index, grammar),
        root=np.maximum(grammar.root.astype(np.float64), 0.0),
    )


def _all(tensors: Tensors) -> NDArray[np.floating]:
    return np.asarray(tensors.values)


def _pair_values(index: TreeEventIndex, grammar: LatentGrammar) -> Floats:
    """Return the lexical vectors of the treebank's (word, tag) pairs, concatenated.

    A pair that the lexicon lacks has the mean vector of the tag.
    """
    lexicon, table = grammar.lexicon, index.table
    entries = np.repeat(np.arange(len(lexicon.starts) - 1), np.diff(lexicon.starts))
    rows = {pair: row for row, pair in enumerate(zip(entries.tolist(), lexicon.tags.tolist(), strict=True))}
    parts = []
    for word, tag in index.pairs.tolist():
        row = rows.get((lexicon.word_index.get(table.words[word], -1), tag))
        if row is None:
            first, last = grammar.state_offsets[tag], grammar.state_offsets[tag + 1]
            parts.append(grammar.tag_default[first:last])
        else:
            parts.append(lexicon.values[lexicon.offsets[row] : lexicon.offsets[row + 1]])
    return np.maximum(np.concatenate(parts).astype(np.float64), 0.0)
