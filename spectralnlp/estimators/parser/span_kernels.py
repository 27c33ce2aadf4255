"""Kernels that train the span scorer, a log-linear model of span labels, by stochastic gradients."""

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
from spectralnlp.inference.trees.rescoring.span_values import likely_brackets
from spectralnlp.inference.trees.rescoring.values import MARGIN
from spectralnlp.jit import kernel
from spectralnlp.parameters import Floats, Ints, Offsets

# Columns of a feature's state: its weight, its accumulated gradients (z of FTRL-proximal), and the square
# root of its sum of squared gradients.
WEIGHT, GRADIENTS, ROOT = range(3)
_MIN_GRADIENT = 1e-3  # smaller gradients are ignored


class OptionFeatures(NamedTuple):
    """Features of the candidate labels ("options") of all spans, computed once for all epochs.

    Attributes:
        first: int64 (n_spans + 1,); span s has the options ``first[s]:first[s + 1]``.
        numbers: float64 (n_options, N_NUMBERS); real-valued features of each option.
        starts: int64 (n_options + 1,); option o has the features ``features[starts[o]:starts[o + 1]]``.
        features: int32; indices of hashed features, without rare ones.
    """

    first: Offsets
    numbers: Floats
    starts: Offsets
    features: Ints


@kernel
def describe(examples, begin, end, labels, table):
    """Compute the features of the options (candidate labels of spans) of some examples.

    Args:
        examples: `ExampleTable`.
        begin, end: range of examples, ``end`` exclusive.
        labels: `LabelValues`; hashes of label names, and tables of the heads of phrases.
        table: table of feature templates.

    Returns:
        The real-valued features of the options, float64 (n_options, N_NUMBERS); the number of hashed features
        of each option, int64 (n_options,); and the hash buckets of the hashed features, int32.
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
    """Count how often each hash bucket occurs.

    Args:
        features: int32; hash buckets of features.
        counts: int32 (n_buckets,); number of occurrences of each bucket, which is increased.
    """
    for at in range(len(features)):
        counts[features[at]] += 1


@kernel
def keep(features, sizes, number, kept):
    """Replace the hash buckets of features by feature indices, without rare features; return how many stay.

    Args:
        features: int32; hash buckets of the features of all options (candidate labels), option by option.
        sizes: int64 (n_options,); number of features of each option; updated to count those that stay.
        number: int32 (n_buckets,); feature index of each bucket, or -1 to drop it.
        kept: int32; output, the feature indices, option by option.
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
def learn_epoch(option_features, spans, gold, order, n_templates, state, number_state, rates):
    """Train on some examples: take an FTRL-proximal step for each option (label) of each span.

    Args:
        option_features: `OptionFeatures`.
        spans: int64 (n_examples + 1,); example k has the spans ``spans[k]:spans[k + 1]``.
        gold: int64 (n_spans,); gold option of each span; see `ExampleTable`.
        order: int64; indices of the examples, in order.
        n_templates: maximum number of features of an option.
        state: float32 (n_features, 3); state of each hashed feature; updated.
        number_state: float64 (N_NUMBERS, 3); state of each real-valued feature; updated.
        rates: learning rate α and penalties λ₁ and λ₂.
    """
    first, work = option_features.first, make_workspace(option_features.first, n_templates)
    for k in order:
        for s in range(spans[k], spans[k + 1]):
            if gold[s] < NO_BRACKET:
                continue
            n_options = first[s + 1] - first[s]
            for row in range(n_options):
                begin, end = (
                    option_features.starts[first[s] + row],
                    option_features.starts[first[s] + row + 1],
                )
                work.numbers[row] = option_features.numbers[first[s] + row]
                work.n_features[row] = end - begin
                work.buckets[row, : end - begin] = option_features.features[begin:end]
            log_sum = score_span(n_options, state[:, WEIGHT], number_state[:, WEIGHT], work)
            for row in range(n_options):
                gradient = np.exp(work.score[row] - log_sum) - (gold[s] == first[s] + row)
                if abs(gradient) < _MIN_GRADIENT:
                    continue
                for at in range(work.n_features[row]):
                    _update(state[work.buckets[row, at]], gradient, rates)
                for at in range(len(number_state)):
                    _update(number_state[at], gradient * work.numbers[row, at], (rates[0], 0.0, 0.0))


@kernel
def _update(feature, gradient, rates):
    """Take an FTRL-proximal step in the weight of one feature.

    Args:
        feature: (3,); the feature's state (weight, accumulated gradients, root of their squares); updated.
        gradient: gradient of the loss with respect to the weight.
        rates: learning rate α and penalties λ₁ and λ₂.
    """
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
    """Count the tags of the heads of phrases.

    Args:
        label: int (n_phrases,); label of each phrase.
        start, end: int (n_phrases,); range of each phrase's tokens, ``end`` exclusive.
        head: int (n_phrases,); head token of each phrase.
        tag_of_token: int (n_tokens,); label of each token's tag.
        n_labels: number of labels.

    Returns:
        Three matrices, float64 (n_labels, n_labels), by phrase label (rows) and tag (columns): how often the
        head has the tag; how often the tag occurs in the phrase; and, in phrases with several tokens of the
        head's tag, how much more often the last of them is the head than the first.
    """
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
