"""Kernels of the span scorer's training."""

from __future__ import annotations

import numpy as np

from spectralnlp.inference.trees.rescoring.corpus import NO_BRACKET
from spectralnlp.inference.trees.rescoring.scores import (
    describe_span,
    make_workspace,
    score_span,
    tokens_of,
)
from spectralnlp.inference.trees.rescoring.values import MARGIN, likely_brackets
from spectralnlp.jit import kernel

# Columns of the state of a feature.
WEIGHT, GRADIENTS, SQUARES = range(3)
DROPPED = -1.0  # in place of a sum of squares: the feature is too rare
_LEAST_GRADIENT = 1e-3  # options that are as good as right teach nothing


@kernel
def _example(examples, k, labels):
    """Tokens and likely brackets of one example."""
    first, last = examples.token_offsets[k], examples.token_offsets[k + 1]
    tokens = tokens_of(examples.tokens, first, last, 2 * MARGIN * k)
    spans = examples.spans[k], examples.spans[k + 1]
    return tokens, likely_brackets(examples.options, spans[0], spans[1], tokens, labels)


@kernel
def count_features(examples, labels, table, counts):
    """Add how many options have each feature, up to 255."""
    work = make_workspace(examples.options.first, len(table))
    for k in range(len(examples.spans) - 1):
        tokens, brackets = _example(examples, k, labels)
        for s in range(examples.spans[k], examples.spans[k + 1]):
            describe_span(s, examples.options, tokens, labels, brackets, table, work)
            for row in range(examples.options.first[s + 1] - examples.options.first[s]):
                for at in range(work.n_features[row]):
                    bucket = work.buckets[row, at]
                    counts[bucket] += counts[bucket] < 255


@kernel
def learn_epoch(examples, labels, table, order, state, number_state, rates):
    """One epoch."""
    options = examples.options
    work = make_workspace(options.first, len(table))
    for k in order:
        tokens, brackets = _example(examples, k, labels)
        for s in range(examples.spans[k], examples.spans[k + 1]):
            gold = examples.gold[s]
            if gold < NO_BRACKET:
                continue
            describe_span(s, options, tokens, labels, brackets, table, work)
            n_options = options.first[s + 1] - options.first[s]
            log_sum = score_span(n_options, state[:, WEIGHT], number_state[:, WEIGHT], work)
            for row in range(n_options):
                gradient = np.exp(work.score[row] - log_sum) - (gold == options.first[s] + row)
                if abs(gradient) < _LEAST_GRADIENT:
                    continue
                for at in range(work.n_features[row]):
                    feature = state[work.buckets[row, at]]
                    if feature[SQUARES] >= 0.0:
                        _update(feature, gradient, rates)
                for at in range(len(number_state)):
                    _update(number_state[at], gradient * work.numbers[row, at], (rates[0], 0.0, 0.0))


@kernel
def _update(feature, gradient, rates):
    """Change the weight of one feature by a gradient."""
    rate, l1, l2 = rates
    root = np.sqrt(feature[SQUARES])
    feature[SQUARES] += gradient * gradient
    new_root = np.sqrt(feature[SQUARES])
    feature[GRADIENTS] += gradient - (new_root - root) / rate * feature[WEIGHT]
    z = feature[GRADIENTS]
    if abs(z) <= l1:
        feature[WEIGHT] = 0.0
    else:
        feature[WEIGHT] = (np.sign(z) * l1 - z) / ((1.0 + new_root) / rate + l2)


@kernel
def count_heads(label, start, end, head, tag_of_token, n_labels):
    """How often a tag heads a phrase, how often it is in one, and how much oftener last than first."""
    heads, seen = np.zeros((n_labels, n_labels)), np.zeros((n_labels, n_labels))
    last = np.zeros((n_labels, n_labels))
    for p in range(len(label)):
        a, tag = label[p], tag_of_token[head[p]]
        heads[a, tag] += 1
        first_of, last_of = -1, -1
        for t in range(start[p], end[p]):
            seen[a, tag_of_token[t]] += 1
            if tag_of_token[t] == tag:
                first_of = t if first_of < 0 else first_of
                last_of = t
        if first_of != last_of:
            last[a, tag] += (last_of == head[p]) - (first_of == head[p])
    return heads, seen, last
