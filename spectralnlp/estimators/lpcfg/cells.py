"""Training the model of open cells: a conditional random field over the binary bracketings of a treebank.

One model serves all binarisations of the same trees: it learns the mean of their bracketings. Every tenth tree
is held out, to find the threshold on marginals that leaves the wanted share of the true spans open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from spectralnlp.inference.trees.bracketing import bracketing_marginals
from spectralnlp.inference.trees.cells import all_span_cells
from spectralnlp.inference.trees.coarse import RuleIndex
from spectralnlp.inference.trees.lexical import coarse_values
from spectralnlp.inference.trees.opening import cues_of
from spectralnlp.inference.trees.pipeline import tag_codes
from spectralnlp.inference.trees.span_features import (
    BEGIN,
    END,
    N_PLACE,
    N_SPAN,
    Cues,
    place_features,
    place_scores,
    span_features,
    span_scores,
)
from spectralnlp.inference.words.lexical import look_up
from spectralnlp.jit import kernel
from spectralnlp.parameters import CellModel, Floats, Ints, LatentGrammar, Offsets
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.trees.treelog import TreeTable

# Fewer trees teach too little; all cells open.
LEAST_TREES = 500

# Longer sentences teach nothing: the time is cubic in their length.
_LONGEST = 100

# Weights; a power of two.
_N_WEIGHTS = 2**20

_EPOCHS = 3
_HELD_OUT = 10  # every tenth tree
_RATE = 0.05  # of AdaGrad (Duchi, Hazan and Singer 2011)
_FIRST_SQUARE = 0.1  # what its sums of squares begin with
_NEGLIGIBLE = 1e-3  # gradients that are not worth an update

# The threshold lies between these, whatever the trees that were held out; the larger one is divided by the number
# of binarisations, as the marginals of spans that are of one alone are.
_LEAST_THRESHOLD, _LARGEST_THRESHOLD = 1e-5, 3e-4


class _Sentences(NamedTuple):
    """Cues of sentences laid end to end, and the spans of their trees.

    Attributes:
        cues: Cues of all tokens; ``marks`` has one number more for each sentence.
        tokens: int64 (n_sentences + 1,); tokens of sentence s are ``tokens[s]:tokens[s + 1]``.
        spans: int64 (n_sentences + 1,); the same for the next two.
        start, end: int32 (n_spans,); tokens of the sentence, of all binarisations.
        share: 1 / number of binarisations.
    """

    cues: Cues
    tokens: Offsets
    spans: Offsets
    start: Ints
    end: Ints
    share: float


class _Learner(NamedTuple):
    """Weights as they are learned.

    Attributes:
        weights, squares: float32 (n_weights,); AdaGrad's.
        sums: float64 (n_weights,); updates times the step at which they were made, for the mean of all steps.
    """

    weights: np.ndarray
    squares: np.ndarray
    sums: Floats


def train_cells(
    tables: Sequence[TreeTable], coarse: LatentGrammar, *, recall: float, random_state: int
) -> CellModel | None:
    """Learn which cells of a chart open; None from too few trees.

    Args:
        tables: the same trees in each binarisation.
        coarse: the plain grammar of the first, for the likeliest tags of words.
        recall: share of the true spans that the threshold leaves open.
        random_state: seed of the order of sentences.
    """
    if tables[0].n_trees < LEAST_TREES:
        return None
    sentences = _sentences(tables, coarse)
    lengths = np.diff(sentences.tokens)
    usable = np.flatnonzero((lengths > 2) & (lengths <= _LONGEST))
    held_out = usable % _HELD_OUT == 0
    taught = usable[~held_out]
    if not len(taught) or not held_out.any():
        return None
    learner = _Learner(
        np.zeros(_N_WEIGHTS, np.float32), np.full(_N_WEIGHTS, _FIRST_SQUARE, np.float32), np.zeros(_N_WEIGHTS)
    )
    rng, step = np.random.default_rng([random_state, _N_WEIGHTS]), 0
    for _ in range(_EPOCHS):
        _learn(sentences, taught[rng.permutation(len(taught))], step, learner)
        step += len(taught)
    weights = (learner.weights - learner.sums / (step + 1)).astype(np.float32)
    marginals = _marginals_of_spans(sentences, usable[held_out], weights)
    threshold = float(np.quantile(marginals, 1.0 - recall))
    threshold = min(max(threshold, _LEAST_THRESHOLD), _LARGEST_THRESHOLD / len(tables))
    return CellModel(weights=weights, threshold=float(f"{threshold:.4g}"))


def _sentences(tables: Sequence[TreeTable], coarse: LatentGrammar) -> _Sentences:
    first = tables[0]
    leaves = np.flatnonzero(first.word >= 0)
    tokens = np.searchsorted(first.tree[leaves], np.arange(first.n_trees + 1))
    tree, start, end = (
        np.concatenate(columns) for columns in zip(*(_spans(table, tokens) for table in tables), strict=True)
    )
    order = np.argsort(tree, kind="stable")
    return _Sentences(
        cues=_cues(first, leaves, tokens, coarse),
        tokens=tokens,
        spans=np.searchsorted(tree[order], np.arange(first.n_trees + 1)),
        start=start[order],
        end=end[order],
        share=1.0 / len(tables),
    )


def _spans(table: TreeTable, tokens: Offsets) -> tuple[Ints, Ints, Ints]:
    """The tree, start and end of each node with two children."""
    nodes = table.right >= 0
    tree = table.tree[nodes]
    first = tokens[tree].astype(np.int32)
    return tree, table.start[nodes] - first, table.end[nodes] - first


def _cues(table: TreeTable, leaves: Offsets, tokens: Offsets, coarse: LatentGrammar) -> Cues:
    """Cues of all sentences; words that occur once have the tags of their class, as unknown ones will."""
    lexicon, signature = coarse.lexicon, signature_by_name(coarse.lexicon.scheme)
    codes, prior = tag_codes(coarse), RuleIndex.of(coarse).prior
    counts = np.bincount(table.word[leaves], minlength=len(table.words))
    columns = []
    for first, last in zip(tokens[:-1].tolist(), tokens[1:].tolist(), strict=True):
        words = table.word[leaves[first:last]]
        found = look_up(lexicon, [table.words[word] for word in words.tolist()], signature)
        once = np.where(counts[words] == 1, found.signatures, found.entries)
        found = replace(found, entries=once)
        columns.append(cues_of(lexicon, found, coarse_values(coarse, found, None) * prior, codes))
    return Cues(*(np.concatenate(parts) for parts in zip(*columns, strict=True)))


@kernel
def _cues_of_sentence(sentences, s):
    cues, first, last = sentences.cues, sentences.tokens[s], sentences.tokens[s + 1]
    return Cues(
        cues.word[first:last],
        cues.tag[first:last],
        cues.second[first:last],
        cues.shape[first:last],
        cues.marks[first + s : last + s + 1],
    )


@kernel
def _marginals(sentences, s, weights):
    """The cells of a sentence, their marginals and its cues."""
    cues = _cues_of_sentence(sentences, s)
    cells = all_span_cells(len(cues.word), len(cues.word))
    scores = span_scores(weights, cues, place_scores(weights, cues), cells.start, cells.end)
    return cells, bracketing_marginals(cells, scores), cues


@kernel
def _cell_of(n, start, end):
    """The cell of a span where all cells of n tokens are listed."""
    narrower = end - start - 1
    return narrower * n - narrower * (narrower - 1) // 2 + start


@kernel
def _learn(sentences, order, step, learner):
    """Go through sentences once, and add to the learner's weights the gradient of each."""
    weights = learner.weights
    mask = np.uint32(len(weights) - 1)
    codes = np.empty(max(N_PLACE, N_SPAN), np.uint32)
    for s in order:
        step += 1
        cells, marginals, cues = _marginals(sentences, s, weights)
        n, gradient = len(cues.word), -marginals
        for span in range(sentences.spans[s], sentences.spans[s + 1]):
            gradient[_cell_of(n, sentences.start[span], sentences.end[span])] += sentences.share
        places = np.zeros((2, n + 1))
        for cell in range(n, len(gradient) - 1):
            places[BEGIN, cells.start[cell]] += gradient[cell]
            places[END, cells.end[cell]] += gradient[cell]
            if abs(gradient[cell]) >= _NEGLIGIBLE:
                span_features(cues, cells.start[cell], cells.end[cell], codes)
                _update(learner, codes[:N_SPAN] & mask, gradient[cell], step)
        for place in range(n + 1):
            for side in range(2):
                if abs(places[side, place]) >= _NEGLIGIBLE:
                    place_features(cues, place, side, codes)
                    _update(learner, codes[:N_PLACE] & mask, places[side, place], step)


@kernel
def _update(learner, features, gradient, step):
    for feature in features:
        learner.squares[feature] += np.float32(gradient * gradient)
        change = _RATE * gradient / np.sqrt(learner.squares[feature])
        learner.weights[feature] += np.float32(change)
        learner.sums[feature] += step * change


def _marginals_of_spans(sentences: _Sentences, chosen: Offsets, weights: np.ndarray) -> Floats:
    """The marginal of each true span of some sentences."""
    found: Floats = _spans_of(sentences, chosen, weights)
    return found


@kernel
def _spans_of(sentences, chosen, weights):
    size = 0
    for s in chosen:
        size += sentences.spans[s + 1] - sentences.spans[s]
    found, count = np.empty(size), 0
    for s in chosen:
        _, marginals, cues = _marginals(sentences, s, weights)
        for span in range(sentences.spans[s], sentences.spans[s + 1]):
            found[count] = marginals[_cell_of(len(cues.word), sentences.start[span], sentences.end[span])]
            count += 1
    return found
