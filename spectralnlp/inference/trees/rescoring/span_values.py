"""Compute the values of a span and of its options; ``values.py`` names them."""

from __future__ import annotations

import numpy as np

from spectralnlp.inference.trees.hashing import mix
from spectralnlp.inference.trees.rescoring.values import (
    CLOSES,
    COMMA,
    CONJUNCTION,
    MARGIN,
    NOT_ANNOTATED,
    NOTHING,
    NOUN,
    OPENS,
    QUOTE,
    VERB,
    Brackets,
    Value,
)
from spectralnlp.jit import kernel_part

_LIKELY = 0.3  # minimum posterior of a bracket that counts as a neighbour in the tree


@kernel_part
def _length_class(n):
    """Return the class of a length or distance: 1 to 5 exactly, then classes of growing width."""
    if n <= 5:
        return n
    if n <= 15:
        return 6 if n <= 7 else (7 if n <= 10 else 8)
    return 9 if n <= 22 else (10 if n <= 35 else 11)


@kernel_part
def _odds_class(p):
    """Return a class of a probability: its log-odds, rounded down, plus 10; from 3 to 16."""
    q = min(max(p, 1e-3), 0.999)
    return int(np.floor(np.log(q / (1.0 - q)))) + 10


@kernel_part
def head_of(start, end, label, tag_number, labels):
    """Return the head token of a phrase: the one whose tag scores best for the phrase's label.

    Args:
        start, end: range of the phrase's tokens, ``end`` exclusive.
        label: label of the phrase.
        tag_number: int32 (n_tokens,); label id of each token's most probable tag.
        labels: `LabelValues`.
    """
    best, best_score = start, -np.inf
    for t in range(start, end):
        score = labels.head_score[label, tag_number[t]]
        if score > best_score or (score == best_score and labels.head_is_last[label, tag_number[t]]):
            best, best_score = t, score
    return best


@kernel_part
def likely_brackets(options, first_span, last_span, tokens, labels):
    """Return the brackets of a sentence that are probable enough to be features of other brackets.

    Args:
        options: `SpanOptions`.
        first_span, last_span: range of the sentence's spans, ``last_span`` exclusive.
        tokens: `TokenValues` of the sentence.
        labels: `LabelValues`.
    """
    n, size = 0, last_span - first_span
    start, end, label, head = (
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
    )
    for s in range(first_span, last_span):
        total, best, best_value = 0.0, 0, -1.0
        for o in range(options.first[s], options.first[s + 1]):
            value = options.posterior[o].mean()
            total += value
            if value > best_value:
                best, best_value = o, value
        if total >= _LIKELY:
            start[n], end[n], label[n] = options.start[s], options.end[s], options.label[best]
            head[n] = start[n]
            if end[n] - start[n] > 1:
                head[n] = head_of(start[n], end[n], labels.bottom[label[n]], tokens.tag_number, labels)
            n += 1
    return Brackets(start[:n], end[:n], label[:n], head[:n])


@kernel_part
def set_span_values(i, j, tokens, labels, brackets, values):
    """Write the feature values that do not depend on a span's label, and clear those that do.

    Args:
        i, j: first token of the span, and the token after its last.
        tokens: `TokenValues` of the sentence.
        labels: `LabelValues`.
        brackets: the sentence's likely `Brackets`.
        values: uint64 (N_VALUES,); written; values that depend on the label become NOTHING.
    """
    values[:] = np.uint64(NOTHING)
    a, b = i + MARGIN, j + MARGIN  # first token and the one after the last, in padded arrays
    for k in range(4):
        values[Value.WORD_BEFORE_2 + k] = tokens.word[a - 2 + k]
        values[Value.WORD_LAST_2 + k] = tokens.word[b - 2 + k]
    for k in range(5):
        values[Value.TAG_BEFORE_3 + k] = tokens.tag[a - 3 + k]
        values[Value.TAG_LAST_2 + k] = tokens.tag[b - 2 + k]
    for k in range(2):
        values[Value.COARSE_BEFORE + k] = tokens.coarse[a - 1 + k]
        values[Value.COARSE_LAST + k] = tokens.coarse[b - 1 + k]
        values[Value.FINE_BEFORE + k] = tokens.fine[a - 1 + k]
        values[Value.FINE_LAST + k] = tokens.fine[b - 1 + k]
    values[Value.SHAPE_FIRST], values[Value.SHAPE_LAST] = tokens.shape[a], tokens.shape[b - 1]
    values[Value.LENGTH] = np.uint64(_length_class(j - i))
    values[Value.PLACE] = np.uint64(1 + (i == 0) + 2 * (j == len(tokens.tag_number)))
    _set_yield_values(a, b, tokens, values)
    _set_attachment_values(a, tokens, values)
    _set_child_values(i, j, tokens, labels, brackets, values)
    _set_context_values(i, j, tokens, labels, brackets, values)
    if tokens.governor[0] != NOT_ANNOTATED:
        _set_dependency_values(i, j, tokens, values)


@kernel_part
def _set_yield_values(a, b, tokens, values):
    """Write the feature values that depend on all tokens of a span: tags, commas, quotes, last conjunction.

    Args:
        a, b: first token of the span, and the token after its last, as indices of the padded arrays.
        tokens: `TokenValues` of the sentence.
        values: uint64 (N_VALUES,); updated.
    """
    commas = quotes = opened = 0
    crossed = False
    conjunction = -1
    tags = np.uint64(1)
    for t in range(a, b):
        kind = tokens.kind[t]
        commas += kind & COMMA > 0
        quotes += kind & QUOTE > 0
        opened += (kind & OPENS > 0) - (kind & CLOSES > 0)
        crossed = crossed or opened < 0
        if kind & CONJUNCTION and a < t < b - 1:
            conjunction = t
        if b - a <= 6:
            tags = mix(tags, tokens.tag[t])
    if b - a <= 6:
        values[Value.TAGS] = tags
    at_borders = (tokens.kind[a - 1] & COMMA > 0) + 2 * (tokens.kind[b] & COMMA > 0)
    values[Value.COMMAS] = np.uint64(1 + 4 * min(commas, 3) + at_borders)
    values[Value.QUOTES] = np.uint64(1 + quotes % 2 + 2 * min(max(opened + 1, 0), 2) + 6 * crossed)
    if conjunction >= 0:
        values[Value.CONJUNCTION] = tokens.word[conjunction]
        values[Value.CONJUNCTION_BEFORE] = tokens.tag[conjunction - 1]
        values[Value.CONJUNCTION_AFTER] = tokens.tag[conjunction + 1]


@kernel_part
def _set_attachment_values(a, tokens, values):
    """Write the feature values of the last verb and the last noun before a span.

    Args:
        a: first token of the span, as an index of the padded arrays.
        tokens: `TokenValues` of the sentence.
        values: uint64 (N_VALUES,); updated.
    """
    verb = noun = -1
    for t in range(a - 1, MARGIN - 1, -1):
        if tokens.kind[t] & VERB and verb < 0:
            verb = t
        if tokens.kind[t] & NOUN and noun < 0:
            noun = t
        if verb >= 0 and noun >= 0:
            break
    if verb >= 0:
        values[Value.LAST_VERB], values[Value.LAST_VERB_TAG] = tokens.word[verb], tokens.tag[verb]
        values[Value.LAST_VERB_FAR] = mix(tokens.word[verb], np.uint64(_length_class(a - verb)))
        values[Value.LAST_VERB_COARSE] = tokens.coarse[verb]
        values[Value.LAST_VERB_FINE] = tokens.fine[verb]
    if noun >= 0:
        values[Value.LAST_NOUN], values[Value.LAST_NOUN_TAG] = tokens.word[noun], tokens.tag[noun]
        values[Value.LAST_NOUN_COARSE] = tokens.coarse[noun]
        values[Value.LAST_NOUN_FINE] = tokens.fine[noun]


@kernel_part
def _set_child_values(i, j, tokens, labels, brackets, values):
    """Write the feature values of the first and the last child of a span of several tokens.

    The children are the longest likely brackets that begin or end with the span; without any, they are the
    span's first and last token. The arguments are those of `set_span_values`.
    """
    if j - i == 1:
        return
    first = last = -1
    for b in range(len(brackets.start)):
        start, end = brackets.start[b], brackets.end[b]
        if start == i and end < j and (first < 0 or end > brackets.end[first]):
            first = b
        if end == j and start > i and (last < 0 or start < brackets.start[last]):
            last = b
    head = MARGIN + (i if first < 0 else brackets.head[first])
    values[Value.FIRST_CHILD_TAG] = tokens.tag[head]
    values[Value.FIRST_CHILD] = tokens.tag[head] if first < 0 else labels.name[brackets.label[first]]
    head = MARGIN + (j - 1 if last < 0 else brackets.head[last])
    values[Value.LAST_CHILD_HEAD], values[Value.LAST_CHILD_TAG] = tokens.word[head], tokens.tag[head]
    values[Value.LAST_CHILD_COARSE], values[Value.LAST_CHILD_FINE] = tokens.coarse[head], tokens.fine[head]
    values[Value.LAST_CHILD] = tokens.tag[head] if last < 0 else labels.name[brackets.label[last]]
    values[Value.LAST_CHILD_WORD] = tokens.word[MARGIN + (j - 1 if last < 0 else brackets.start[last])]


@kernel_part
def _set_context_values(i, j, tokens, labels, brackets, values):
    """Write the feature values of a span's parent and of its left and right neighbours.

    The parent is the shortest likely bracket around the span; a neighbour is the longest likely bracket that
    ends or begins next to it or, without any, the token there. The arguments are those of `set_span_values`.
    """
    parent = left = right = -1
    for b in range(len(brackets.start)):
        start, end = brackets.start[b], brackets.end[b]
        is_around = start <= i and end >= j and end - start > j - i
        if is_around and (parent < 0 or end - start < brackets.end[parent] - brackets.start[parent]):
            parent = b
        if end == i and (left < 0 or start < brackets.start[left]):
            left = b
        if start == j and (right < 0 or end > brackets.end[right]):
            right = b
    if parent >= 0:
        before, after = i - brackets.start[parent], brackets.end[parent] - j
        values[Value.PARENT] = labels.name[brackets.label[parent]]
        values[Value.PARENT_MARGINS] = np.uint64(1 + min(before, 3) + 4 * min(after, 3))
    values[Value.LEFT] = tokens.tag[i - 1 + MARGIN] if left < 0 else labels.name[brackets.label[left]]
    values[Value.RIGHT] = tokens.tag[j + MARGIN] if right < 0 else labels.name[brackets.label[right]]


@kernel_part
def _top_of(i, j, governor):
    """Return the first token of a span whose head is outside the span.

    Args:
        i, j: first token of the span, and the token after its last.
        governor: int32 (n_tokens,); head of each token, without cycles.
    """
    top = i
    while top < j - 1 and i <= governor[top] < j:
        top += 1
    return top


@kernel_part
def _set_dependency_values(i, j, tokens, values):
    """Write the feature values of a span in the annotations' dependency parse.

    The arguments are those of `set_span_values`.
    """
    governor, a, b = tokens.governor, i + MARGIN, j + MARGIN
    outward = inward = 0
    for t in range(i, j):
        outward += governor[t] < i or governor[t] >= j
    for t in range(i):  # from left to right, so that the nearest comes last
        if i <= governor[t] < j:
            inward += 1
            values[Value.DEPENDENT_LEFT] = tokens.relation[t + MARGIN]
    for t in range(len(governor) - 1, j - 1, -1):
        if i <= governor[t] < j:
            inward += 1
            values[Value.DEPENDENT_RIGHT] = tokens.relation[t + MARGIN]
    values[Value.OUTWARD] = np.uint64(1 + min(outward, 4))
    values[Value.INWARD] = np.uint64(1 + min(inward, 3))
    top = _top_of(i, j, governor)
    values[Value.TOP_WORD] = tokens.word[top + MARGIN]
    values[Value.TOP_TAG] = tokens.annotated_tag[top + MARGIN]
    values[Value.TOP_RELATION] = tokens.relation[top + MARGIN]
    values[Value.TOP_MARGINS] = np.uint64(1 + min(top - i, 3) + 4 * min(j - 1 - top, 3))
    above = governor[top]
    values[Value.GOVERNOR_PLACE] = np.uint64(1)
    if above >= 0:
        distance = i - above if above < i else above - j + 1
        values[Value.GOVERNOR_PLACE] = np.uint64(2 + 3 * (above < i) + min(distance // 2, 2))
        values[Value.GOVERNOR_TAG] = tokens.annotated_tag[above + MARGIN]
        values[Value.GOVERNOR_RELATION] = tokens.relation[above + MARGIN]
    for k in range(2):
        values[Value.ANNOTATED_BEFORE + k] = tokens.annotated_tag[a - 1 + k]
        values[Value.ANNOTATED_LAST + k] = tokens.annotated_tag[b - 1 + k]
        values[Value.RELATION_BEFORE + k] = tokens.relation[a - 1 + k]
        values[Value.RELATION_LAST + k] = tokens.relation[b - 1 + k]


@kernel_part
def set_option_values(i, j, label, posterior, spread, rank, tokens, labels, values):
    """Write the feature values that are specific to one option (candidate label) of span (i, j).

    Args:
        i, j: first token of the span, and the token after its last.
        label: the option's label, as in `SpanOptions`.
        posterior: the option's posterior, averaged over grammars.
        spread: standard deviation of the log posterior over grammars.
        rank: number of the span's options that are more probable.
        tokens: TokenValues of the sentence.
        labels: LabelValues.
        values: uint64 (N_VALUES,); written.
    """
    values[Value.POSTERIOR] = np.uint64(_odds_class(posterior))
    values[Value.SPREAD] = np.uint64(1 + min(int(1.5 * spread), 5))
    values[Value.RANK] = np.uint64(1 + min(rank, 2))
    head = i if j - i == 1 else head_of(i, j, labels.bottom[label], tokens.tag_number, labels)
    values[Value.HEAD_MARGINS] = np.uint64(1 + min(head - i, 3) + 4 * min(j - 1 - head, 3))
    if tokens.governor[0] != NOT_ANNOTATED:
        values[Value.TOP_IS_HEAD] = np.uint64(1 + (head == _top_of(i, j, tokens.governor)))
    head += MARGIN
    values[Value.HEAD], values[Value.HEAD_TAG] = tokens.word[head], tokens.tag[head]
    values[Value.HEAD_BEFORE], values[Value.HEAD_AFTER] = tokens.tag[head - 1], tokens.tag[head + 1]
    values[Value.HEAD_COARSE], values[Value.HEAD_FINE] = tokens.coarse[head], tokens.fine[head]
