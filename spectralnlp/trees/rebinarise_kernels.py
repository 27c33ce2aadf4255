"""Kernels that lay out the rows of phrases anew."""

from __future__ import annotations

import numpy as np

from spectralnlp.jit import kernel, kernel_part


@kernel
def children_of_phrases(row, left, right, inner):
    """Rows of the children of phrases binarised from the left, and where each phrase's begin."""
    bounds = np.zeros(len(row) + 1, np.int32)
    for p in range(len(row)):
        n, node = 2, left[row[p]]
        while inner[node]:
            n, node = n + 1, left[node]
        bounds[p + 1] = bounds[p] + n
    children = np.empty(bounds[-1], np.int32)
    for p in range(len(row)):
        node = row[p]
        for i in range(bounds[p + 1] - 1, bounds[p], -1):
            children[i] = right[node]
            node = left[node]
        children[bounds[p]] = node
    return children, bounds


@kernel
def lay_out(old, plan, new):
    """Write the columns of the trees, each phrase built outward from its first child."""
    n = len(old.symbol)
    size, token = np.ones(n, np.int32), np.empty(n, np.int32)  # of each node: its rows, and the head's token
    for row in range(n):
        left, right, p = old.left[row], old.right[row], plan.phrase[row]
        token[row] = old.start[row] if left < 0 else token[left]
        if left >= 0:
            size[row] += size[left]
        if right >= 0:
            size[row] += size[right]
        if p >= 0:
            token[row] = token[plan.children[plan.bounds[p] + plan.head[p]]]
    place = np.full(n, -1, np.int32)  # new row of each node, -1 of old intermediates
    leaf = np.empty(n, np.int32)  # new row of each token
    for row in range(n - 1, -1, -1):
        if old.parent[row] < 0:
            place[row] = row
        at = place[row]
        if at < 0:
            continue
        new.symbol[at], new.word[at] = old.symbol[row], old.word[row]
        new.start[at], new.end[at], new.head[at] = old.start[row], old.end[row], token[row]
        if plan.phrase[row] >= 0:
            _lay_out_phrase(row, at - size[row] + 1, old, plan, new, size, token, place)
        elif old.left[row] >= 0:
            place[old.left[row]] = new.left[at] = at - 1
            new.parent[at - 1] = at
        else:
            leaf[old.start[row]] = at
    for row in range(n):
        new.head[row] = leaf[new.head[row]]


@kernel_part
def _lay_out_phrase(row, position, old, plan, new, size, token, place):
    """Place the children of a phrase, whose rows begin at a position, and write what joins them."""
    p = plan.phrase[row]
    children = plan.children[plan.bounds[p] : plan.bounds[p + 1]]
    first, last = plan.first[p], len(children) - 1
    core = -1  # new row of what has been joined
    for i in range(last + 1):
        position += size[children[i]]
        place[children[i]] = position - 1
        if i <= first:
            core = position - 1
            continue
        new.left[position], new.right[position] = core, position - 1
        new.symbol[position] = plan.on_right[old.symbol[row]]
        _cover(position, first, i, children, plan.head[p], old, new, token)
        core, position = position, position + 1
    for i in range(first - 1, -1, -1):
        new.left[position], new.right[position] = place[children[i]], core
        new.symbol[position] = plan.on_left[old.symbol[row]]
        _cover(position, i, last, children, plan.head[p], old, new, token)
        core, position = position, position + 1
    new.symbol[core] = old.symbol[row]  # the last of them is the phrase


@kernel_part
def _cover(at, first, last, children, head, old, new, token):
    """Write the span and the head of a new node, and make it the parent of its two children."""
    new.parent[new.left[at]] = new.parent[new.right[at]] = at
    new.start[at], new.end[at] = old.start[children[first]], old.end[children[last]]
    new.head[at] = token[children[min(max(head, first), last)]]
