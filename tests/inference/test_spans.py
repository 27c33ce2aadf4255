"""Decoding by spans against every labelled bracketing of a few tokens."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from spectralnlp.inference.trees.labels import SpanLabels
from spectralnlp.inference.trees.spans import SpanPosteriors, decode_spans

IS_TAG = np.array([True, True, False, False])  # labels: two tags, two phrases
PAIRS = np.array([[2, 0], [2, 3], [3, 2]], np.int32)  # phrase 2 over tag 0, over phrase 3, and 3 over 2
LABELS = SpanLabels(IS_TAG, PAIRS)
GAMMA, TAG_WEIGHT = 0.4, 0.3
Node = tuple[int, int, int, int]


def row(start: int, end: int) -> int:
    return end * (end - 1) // 2 + start


def posteriors_of(bottom: np.ndarray, unary: np.ndarray) -> SpanPosteriors:
    """Those of all spans, in the order of `row`."""
    ends = [(start, end) for end in range(1, len(bottom) + 1) for start in range(end)][: len(bottom)]
    start, end = np.array(ends, np.int32).T
    return SpanPosteriors(LABELS, start, end, bottom, unary)


def gain_of(posteriors: SpanPosteriors, node: Node) -> float:
    start, end, label, top = node
    bottom = posteriors.bottom[row(start, end), label]
    gain = TAG_WEIGHT * bottom if IS_TAG[label] else bottom - GAMMA
    if top >= 0:
        pair = PAIRS.tolist().index([top, label])
        gain += posteriors.unary[row(start, end), pair] - GAMMA
    return float(gain)


def choices(start: int, end: int) -> Iterator[Node]:
    """The nodes that may stand over a span: a tag or a phrase, perhaps with a unary rule."""
    for label in range(4):
        if IS_TAG[label] == (end - start == 1):
            yield start, end, label, -1
            yield from ((start, end, label, top) for top, below in PAIRS.tolist() if below == label)


def bracketings(start: int, end: int, *, must: bool) -> Iterator[list[Node]]:
    if end - start == 1:
        yield from ([node] for node in choices(start, end))
        return
    for middle in range(start + 1, end):
        for left in bracketings(start, middle, must=False):
            for right in bracketings(middle, end, must=False):
                if not must:
                    yield left + right
                for node in choices(start, end):
                    yield [*left, *right, node]


@pytest.mark.parametrize("n_tokens", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_finds_the_bracketing_of_largest_gain(n_tokens: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_spans = n_tokens * (n_tokens + 1) // 2
    posteriors = posteriors_of(rng.random((n_spans, 4)), rng.random((n_spans, len(PAIRS))))
    best = max(
        sum(gain_of(posteriors, node) for node in nodes) for nodes in bracketings(0, n_tokens, must=True)
    )
    found = decode_spans(posteriors, gamma=GAMMA, tag_weight=TAG_WEIGHT)
    assert sum(gain_of(posteriors, node) for node in found) == pytest.approx(best)


def test_every_token_has_a_tag_and_the_sentence_a_label_however_improbable() -> None:
    posteriors = posteriors_of(np.zeros((6, 4)), np.zeros((6, len(PAIRS))))
    found = decode_spans(posteriors, gamma=GAMMA, tag_weight=TAG_WEIGHT)
    assert [(start, end) for start, end, *_ in found] == [(0, 1), (1, 2), (2, 3), (0, 3)]


def test_a_bracket_is_given_when_its_posterior_is_worth_its_price() -> None:
    bottom = np.zeros((6, 4))
    bottom[row(0, 3), 2] = 1.0
    bottom[row(1, 3), 3] = GAMMA + 0.01
    bottom[row(0, 2), 3] = GAMMA - 0.01
    for token in range(3):
        bottom[row(token, token + 1), 1] = 1.0
    posteriors = posteriors_of(bottom, np.zeros((6, len(PAIRS))))
    found = decode_spans(posteriors, gamma=GAMMA, tag_weight=TAG_WEIGHT)
    assert [node for node in found if node[1] - node[0] > 1] == [(1, 3, 3, -1), (0, 3, 2, -1)]
