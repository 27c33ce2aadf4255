"""Kernels of the span scorer's training."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spectralnlp.inference.trees.rescoring.corpus import NO_BRACKET
from spectralnlp.inference.trees.rescoring.scores import (
    N_NUMBERS,
    describe_span,
    make_workspace,
    score_span,
    tokens_of,
)
from spectralnlp.inference.trees.rescoring.values import MARGIN, likely_brackets
from spectralnlp.jit import kernel
from spectralnlp.parameters import Floats, Ints, Offsets

# Columns of the state of a feature; the last is the root of the sum of squared gradients.
WEIGHT, GRADIENTS, ROOT = range(3)
_LEAST_GRADIENT = 1e-3  # options that are as good as right teach nothing


class Described(NamedTuple):
    """What is said about the options of all spans, once for all epochs.

    Attributes:
        first: int64 (n_spans + 1,); the options of span s are ``first[s]:first[s + 1]``.
        numbers: float64 (n_options, N_NUMBERS).
        starts: int64 (n_options + 1,); the features of option o are ``features[starts[o]:starts[o + 1]]``.
        features: int32; numbers of those that are kept.
    """

    first: Offsets
    numbers: Floats
    starts: Offsets
    features: Ints


@kernel
def describe(examples, begin, end, labels, table):
    """Describe the options of some examples; their features are buckets.

    Args:
        examples: ExampleTable.
        begin, end: numbers of examples, ``end`` exclusive.
        labels: LabelValues.
        table: of templates.

    Returns:
        The real numbers of their options, float64 (n_options, N_NUMBERS); how many features each has,
        int64 (n_options,); and all features, int32.
    """
    options, spans = examples.options, examples.spans
    base = options.first[spans[begin]]
    n_options = options.first[spans[end]] - base
    numbers, sizes = np.empty((n_options, N_NUMBERS)), np.empty(n_options, np.int64)
    features, at = np.empty(n_options * len(table), np.int32), 0
    work = make_workspace(options.first, len(table))
    for k in range(begin, end):
        first, last = examples.token_offsets[k], examples.token_offsets[k + 1]
        tokens = tokens_of(examples.tokens, first, last, 2 * MARGIN * k)
        brackets = likely_brackets(options, spans[k], spans[k + 1], tokens, labels)
        for s in range(spans[k], spans[k + 1]):
            describe_span(s, options, tokens, labels, brackets, table, work)
            for row in range(options.first[s + 1] - options.first[s]):
                option, n = options.first[s] + row - base, work.n_features[row]
                features[at : at + n] = work.buckets[row, :n]
                numbers[option], sizes[option] = work.numbers[row], n
                at += n
    return numbers, sizes, features[:at].copy()


@kernel
def count_features(features, counts):
    """Add how often each bucket occurs among features to counts, int32 (n_buckets,)."""
    for at in range(len(features)):
        counts[features[at]] += 1


@kernel
def keep(features, sizes, number, kept):
    """Number the features of options anew, and leave some out; return how many are kept.

    Args:
        features: int32; buckets, those of one option after those of another.
        sizes: int64 (n_options,); how many features each option has, changed.
        number: int32 (n_buckets,); -1 for those that are left out.
        kept: int32; their numbers are written to its beginning.
    """
    first = place = 0
    for option in range(len(sizes)):
        begin, end = place, first + sizes[option]
        for at in range(first, end):
            if number[features[at]] >= 0:
                kept[place] = number[features[at]]
                place += 1
        first, sizes[option] = end, place - begin
    return place


@kernel
def learn_epoch(described, spans, gold, order, n_templates, state, number_state, rates):
    """Go through the examples once.

    Args:
        described: Described.
        spans: int64 (n_examples + 1,); of each example.
        gold: int64 (n_spans,); as of `ExampleTable`.
        order: int64 (n_examples,).
        n_templates: most features of an option.
        state: float32 (n_features, 3); written.
        number_state: float64 (N_NUMBERS, 3); written.
        rates: α, λ₁ and λ₂.
    """
    first, work = described.first, make_workspace(described.first, n_templates)
    for k in order:
        for s in range(spans[k], spans[k + 1]):
            if gold[s] < NO_BRACKET:
                continue
            n_options = first[s + 1] - first[s]
            for row in range(n_options):
                begin, end = described.starts[first[s] + row], described.starts[first[s] + row + 1]
                work.numbers[row] = described.numbers[first[s] + row]
                work.n_features[row] = end - begin
                work.buckets[row, : end - begin] = described.features[begin:end]
            log_sum = score_span(n_options, state[:, WEIGHT], number_state[:, WEIGHT], work)
            for row in range(n_options):
                gradient = np.exp(work.score[row] - log_sum) - (gold[s] == first[s] + row)
                if abs(gradient) < _LEAST_GRADIENT:
                    continue
                for at in range(work.n_features[row]):
                    _update(state[work.buckets[row, at]], gradient, rates)
                for at in range(len(number_state)):
                    _update(number_state[at], gradient * work.numbers[row, at], (rates[0], 0.0, 0.0))


@kernel
def _update(feature, gradient, rates):
    """Change the weight of one feature by a gradient."""
    rate, l1, l2 = rates
    root = feature[ROOT]
    new_root = np.sqrt(root * root + gradient * gradient)
    feature[ROOT] = new_root
    z = feature[GRADIENTS] + gradient - (new_root - root) / rate * feature[WEIGHT]
    feature[GRADIENTS] = z
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
