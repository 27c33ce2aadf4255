"""Scores of tags from tables: each word adds a row of scores in each place around it."""

from __future__ import annotations

from typing import Any

import numpy as np

from spectralnlp.jit import fast_kernel

_LEAST = np.float32(np.finfo(np.float32).min)


@fast_kernel
def sum_rows(rows: Any, features: Any, scores: Any) -> None:
    """Add up the features of words.

    Args:
        rows: int32 (n_words, n); numbers of features, -1 for none.
        features: float32 (n_features, T).
        scores: float32 (n_words, T), added to.
    """
    for w in range(len(rows)):
        for i in range(rows.shape[1]):
            if rows[w, i] >= 0:
                row = features[rows[w, i]]
                for y in range(scores.shape[1]):
                    scores[w, y] += row[y]


@fast_kernel
def add_words(types: Any, starts: Any, tables: Any, joint: Any, features: Any, emissions: Any) -> None:
    """Add the scores of words, and of several words at once, to each token.

    Args:
        types: int32 (n_tokens + 4 · n_sentences,); words, two places around each sentence.
        starts: int64 (n_sentences + 1,).
        tables: float32 (7, n_types, T); of words two before to two after, of first words, of others.
        joint: int32 (n_tokens, n_joint); numbers of features of several words, -1 for none.
        features: float32 (n_features, T).
        emissions: float32 (n_tokens, T), added to.
    """
    n_tags = emissions.shape[1]
    for s in range(len(starts) - 1):
        base = starts[s] + 4 * s + 2
        for t in range(starts[s + 1] - starts[s]):
            scores = emissions[starts[s] + t]
            for o in range(5):
                row = tables[o, types[base + t + o - 2]]
                for y in range(n_tags):
                    scores[y] += row[y]
            own = tables[5 if t == 0 else 6, types[base + t]]
            for y in range(n_tags):
                scores[y] += own[y]
            for p in range(joint.shape[1]):
                number = joint[starts[s] + t, p]
                if number >= 0:
                    row = features[number]
                    for y in range(n_tags):
                        scores[y] += row[y]


@fast_kernel
def sum_units(types: Any, starts: Any, tables: Any, bias: Any, units: Any) -> None:
    """Write the hidden units of each token: what words add to them in the places around it, if above 0.

    Args:
        types: int32 (n_tokens + 4 · n_sentences,); words, two places around each sentence.
        starts: int64 (n_sentences + 1,).
        tables: float32 (7, n_types, h); what words add to hidden units, in the places of `add_words`.
        bias: float32 (h,).
        units: float32 (n_tokens, h), written.
    """
    n_hidden = len(bias)
    zero = np.float32(0)
    for s in range(len(starts) - 1):
        base = starts[s] + 4 * s + 2
        for t in range(starts[s + 1] - starts[s]):
            row0, row1 = tables[0, types[base + t - 2]], tables[1, types[base + t - 1]]
            row2, row3 = tables[2, types[base + t]], tables[3, types[base + t + 1]]
            row4, row5 = tables[4, types[base + t + 2]], tables[5 if t == 0 else 6, types[base + t]]
            into = units[starts[s] + t]
            for j in range(n_hidden):
                total = bias[j] + row0[j] + row1[j] + row2[j] + row3[j] + row4[j] + row5[j]
                into[j] = max(total, zero)


@fast_kernel
def add_largest(fine: Any, tag_of: Any, emissions: Any) -> None:
    """Add to each tag's score the largest of its fine tags.

    Args:
        fine: float32 (n_tokens, n_fine).
        tag_of: int32 (n_fine,); the tag of each fine tag; every tag has one.
        emissions: float32 (n_tokens, T), added to.
    """
    n_tags = emissions.shape[1]
    largest = np.empty(n_tags, np.float32)
    for t in range(len(fine)):
        for y in range(n_tags):
            largest[y] = _LEAST
        for z in range(len(tag_of)):
            largest[tag_of[z]] = max(largest[tag_of[z]], fine[t, z])
        for y in range(n_tags):
            emissions[t, y] += largest[y]
