"""Decoding by spans against every labelled bracketing of a few tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from spectralnlp.inference.trees.labels import SharedLabels, SpanLabels
from spectralnlp.inference.trees.limits import LabelTable, crosses
from spectralnlp.inference.trees.spans import SpanPosteriors, decode_spans
from spectralnlp.text.constraints import Bracket, ConstraintError, Constraints

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


NAMES = ("t", "u", "A", "B")
TABLE = LabelTable.of_labels(SharedLabels(NAMES, LABELS, ()), {("A", "B"): ("A", "M", "B")})


def labels_of_node(node: Node) -> set[str]:
    """The phrase labels that a node puts over its span, the middle of A over B among them."""
    _, _, label, top = node
    labels = set() if IS_TAG[label] else {NAMES[label]}
    if top >= 0:
        labels |= {NAMES[top]} | ({"M"} if (NAMES[top], NAMES[label]) == ("A", "B") else set())
    return labels


def meets(nodes: Iterable[Node], constraints: Constraints) -> bool:
    over = {(node[0], node[1]): labels_of_node(node) for node in nodes}

    def has(bracket: Bracket) -> bool:
        found = over.get(bracket.span, set())
        return bool(found) if bracket.label is None else bracket.label in found

    return all(map(has, constraints.brackets)) and not any(map(has, constraints.forbidden))


@pytest.mark.parametrize("seed", range(60))
def test_finds_the_best_of_the_bracketings_that_meet_constraints(seed: int) -> None:
    rng, n = np.random.default_rng(seed), 3
    posteriors = posteriors_of(rng.random((6, 4)), rng.random((6, len(PAIRS))))
    spans = [(0, 1), (1, 2), (2, 3), (0, 2), (1, 3), (0, 3)]
    labels = [None, "A", "B", "M"]
    brackets, forbidden = (
        [(*spans[rng.integers(6)], labels[rng.integers(4)]) for _ in range(rng.integers(3))] for _ in range(2)
    )
    try:
        constraints = Constraints.of(brackets, forbidden)
    except ConstraintError:
        return  # they cross or contradict each other
    limits = TABLE.limits(constraints)
    # A forest under constraints has no span that crosses a required one.
    keep = ~crosses(posteriors.start, posteriors.end, limits.required)
    columns = (posteriors.start, posteriors.end, posteriors.bottom, posteriors.unary)
    start, end, bottom, unary = (column[keep] for column in columns)
    gains = [
        sum(gain_of(posteriors, node) for node in nodes)
        for nodes in bracketings(0, n, must=True)
        if meets(nodes, constraints)
    ]
    given = SpanPosteriors(LABELS, start, end, bottom, unary, limits)
    found = decode_spans(given, gamma=GAMMA, tag_weight=TAG_WEIGHT)
    if gains:
        assert meets(found, constraints)
        assert sum(gain_of(posteriors, node) for node in found) == pytest.approx(max(gains))


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
