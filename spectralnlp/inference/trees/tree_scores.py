"""Compute the probability of a given tree, summed over states, by the inside pass in tensor form."""

from __future__ import annotations

import numpy as np

from spectralnlp.inference.words.lexical import look_up
from spectralnlp.parameters import Floats, LatentGrammar, SparseTensors, Tensors
from spectralnlp.text.signatures import Signature
from spectralnlp.trees import Tree, tag_symbol


def tree_log_probability(tree: Tree, grammar: LatentGrammar, signature: Signature) -> float:
    """Return the log-probability of a tree: the natural logarithm of the magnitude of p(tree).

    The magnitude is taken because spectral grammars can give a tree a negative value.

    Args:
        tree: a tree binarised as the grammar's training trees were; annotation of labels is ignored.
        grammar: any grammar.
        signature: function of the grammar's lexicon that maps unknown words to spelling classes.

    Returns:
        The logarithm; -inf if p(tree) is zero, for instance because the grammar lacks a rule of the tree.
    """
    index = grammar.symbol_index
    found = look_up(grammar.lexicon, tree.words(), signature)
    binary_index = {tuple(rule): r for r, rule in enumerate(grammar.binary_rules.tolist())}
    unary_index = {tuple(rule): r for r, rule in enumerate(grammar.unary_rules.tolist())}
    stack: list[tuple[int, Floats, float]] = []  # symbol, vector over its states, logarithm of its scale
    position = 0
    for node in tree.postorder():
        label = node.label.partition("^")[0]
        symbol = index.get(label, -1)
        if node.word is not None:
            symbol = index.get(tag_symbol(label), symbol)
        if symbol < 0:
            return -np.inf
        if node.word is not None:
            vector = _word_vector(
                grammar, symbol, int(found.entries[position]), int(found.signatures[position])
            )
            position += 1
            log_scale = 0.0
        elif len(node.children) == 2:
            right, left = stack.pop(), stack.pop()
            rule = binary_index.get((symbol, left[0], right[0]), -1)
            if rule < 0:
                return -np.inf
            vector = np.einsum("abc,b,c->a", tensor(grammar, grammar.binary, rule, 3), left[1], right[1])
            log_scale = left[2] + right[2]
        else:
            below = stack.pop()
            rule = unary_index.get((symbol, below[0]), -1)
            if rule < 0:
                return -np.inf
            vector, log_scale = tensor(grammar, grammar.unary, rule, 2) @ below[1], below[2]
        largest = np.abs(vector).max()
        if largest == 0.0:
            return -np.inf
        stack.append((symbol, vector / largest, log_scale + np.log(largest)))
    symbol, vector, log_scale = stack.pop()
    offset = grammar.state_offsets[symbol]
    total = abs(float(grammar.root[offset : offset + len(vector)] @ vector))
    return float(np.log(total) + log_scale + found.log_weight) if total > 0 else -np.inf


def _word_vector(grammar: LatentGrammar, tag: int, entry: int, signature: int) -> Floats:
    lexicon = grammar.lexicon
    m = int(grammar.n_states[tag])
    for place, weight in ((entry, 1.0), (signature, 0.0 if entry == signature else lexicon.backoff[entry])):
        rows = np.arange(lexicon.starts[place], lexicon.starts[place + 1])
        row = rows[lexicon.tags[rows] == tag]
        if len(row):
            return weight * lexicon.values[lexicon.offsets[row[0]] : lexicon.offsets[row[0]] + m]
    return np.zeros(m)


def tensor(grammar: LatentGrammar, tensors: Tensors, rule: int, order: int) -> Floats:
    """Return one rule's tensor over the states of its symbols as a dense array.

    Args:
        grammar: the grammar of the rule.
        tensors: the tensors of all binary or all unary rules of the grammar.
        rule: index of the rule.
        order: 3 for a binary rule a → b c, 2 for a unary rule a → b.

    Returns:
        Array (m_a, m_b, m_c) or (m_a, m_b), where m_a is the number of states of a.
    """
    rules = grammar.binary_rules if order == 3 else grammar.unary_rules
    shape = tuple(int(m) for m in grammar.n_states[rules[rule]])
    part = slice(tensors.offsets[rule], tensors.offsets[rule + 1])
    if not isinstance(tensors, SparseTensors):
        return tensors.with_rules(np.array([rule]))[part].reshape(shape)
    dense = np.zeros(shape)
    dense[tuple(tensors.states[part].T)] = tensors.values[part]
    return dense
