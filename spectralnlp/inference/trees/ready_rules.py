"""Prepare rule tensors for passes over a forest: padded or, if nearly all zero, as lists of elements.

Only the tensors of rules that occur in a sentence's forest are prepared. Tensors that a model folder stores
as low-rank factors are multiplied out.
"""

from __future__ import annotations

import numpy as np

from spectralnlp.jit import fetch_add, kernel_part, padded
from spectralnlp.parameters.expansion import multiply_out, room_to_multiply

# A tensor becomes a list if at most this share of its elements is not negligible.
MAX_LISTED = 0.06

# Added to the claims of a rule once its tensor is written; larger than any number of threads.
READY = 1 << 40

# A list stores a padded pair of children's states as uint16, so it can have at most this many of them.
_MAX_COLUMNS = 1 << 16


@kernel_part
def make_ready(rules, forest):
    """Unpack the tensors of a forest's rules, except those that were unpacked for earlier sentences.

    Several threads may call this function at the same time.

    Args:
        rules: DenseRules; tensors and lists are written to its arrays.
        forest: Forest.
    """
    stored, unary = rules.stored, rules.unary_stored
    most = 0
    for e in range(len(forest.rule)):
        rule = forest.rule[e]
        if forest.right[e] >= 0:
            if not rules.is_ready[rule]:
                most = max(most, stored.offsets[rule + 1] - stored.offsets[rule])
        elif rule >= 0 and not rules.unary_is_ready[rule]:
            most = max(most, unary.offsets[rule + 1] - unary.offsets[rule])
    if most == 0:
        return
    work, tensor = room_to_multiply(most), np.empty(most, rules.binary.dtype)
    for e in range(len(forest.rule)):
        rule = forest.rule[e]
        if forest.right[e] >= 0:
            if not rules.is_ready[rule]:
                _make_binary(rules, rule, tensor, work)
        elif rule >= 0 and not rules.unary_is_ready[rule]:
            _read(unary, rule, tensor, work)
            n_rows, n = unary.factors.shapes[rule]
            _write_padded(rules.unary, rules.unary_offsets[rule], tensor, n_rows, n)
            rules.unary_is_ready[rule] = True


@kernel_part
def _make_binary(rules, rule, tensor, work):
    """Unpack the tensor of a binary rule, or wait if another thread is unpacking it.

    Args:
        rules: DenseRules; the tensor, or a list of its elements, is written to its arrays.
        rule: index of the rule.
        tensor, work: scratch arrays, large enough for the tensor; overwritten.
    """
    if fetch_add(rules.claims, rule, 1) > 0:
        while fetch_add(rules.claims, rule, 0) < READY:
            pass
        return
    _read(rules.stored, rule, tensor, work)
    rules.is_list[rule] = _make_list(rules, rule, tensor)
    if not rules.is_list[rule]:
        m_a, m_b, n = rules.stored.factors.shapes[rule]
        at = fetch_add(rules.used, 0, np.int64(m_a) * m_b * padded(n))
        rules.binary_offsets[rule] = at
        _write_padded(rules.binary, at, tensor, m_a * m_b, n)
    rules.is_ready[rule] = True
    fetch_add(rules.claims, rule, READY)


@kernel_part
def _read(stored, rule, tensor, work):
    """Write a rule's stored tensor to ``tensor``: copy it, or multiply out its low-rank factors.

    Args:
        stored: the stored tensors of all rules of one kind (binary or unary).
        rule: index of the rule.
        tensor: output.
        work: scratch array from `room_to_multiply`; overwritten.
    """
    if not stored.is_there[rule]:
        multiply_out(stored.factors, rule, tensor, work)
        return
    first = stored.offsets[rule]
    for place in range(stored.offsets[rule + 1] - first):
        tensor[place] = stored.numbers[first + place]


@kernel_part
def _write_padded(out, at, matrix, n_rows, n):
    """Write a matrix to ``out`` from index ``at``, each row padded with zeros to a multiple of eight."""
    width = padded(n)
    for row in range(n_rows):
        first, source = at + row * width, row * n
        for k in range(n):
            out[first + k] = matrix[source + k]
        for k in range(n, width):
            out[first + k] = 0.0


@kernel_part
def _make_list(rules, rule, tensor):
    """Write a binary rule's tensor as a list of its larger elements, if nearly all others are negligible.

    Args:
        rules: DenseRules; the list is written to its arrays.
        rule: index of the rule.
        tensor: the tensor, flat.

    Returns:
        Whether the list was written; False if too many elements are not negligible.
    """
    n_rows, m_b, m_c = rules.stored.factors.shapes[rule]
    width, offsets = padded(m_c), rules.stored.offsets
    largest, size = 0.0, offsets[rule + 1] - offsets[rule]
    for place in range(size):
        largest = max(largest, abs(tensor[place]))
    limit, count = rules.negligible * largest, 0
    for place in range(size):
        if abs(tensor[place]) > limit:
            count += 1
    # Each rule's list has a fixed place, after room for the longest lists of the rules before it.
    at = np.int64(MAX_LISTED * offsets[rule])
    room = np.int64(MAX_LISTED * offsets[rule + 1]) - at
    if count > room or m_b * width > _MAX_COLUMNS:
        return False
    for h in range(n_rows):
        rules.row[rules.first_row[rule] + h] = at
        for g in range(m_b):
            for k in range(m_c):
                value = tensor[(h * m_b + g) * m_c + k]
                if abs(value) > limit:
                    rules.column[at], rules.value[at] = g * width + k, value
                    at += 1
    rules.row[rules.first_row[rule] + n_rows] = at
    return True
