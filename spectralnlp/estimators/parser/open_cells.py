"""Train the model that predicts which chart cells may hold a constituent; parsers skip all other cells.

The model is a conditional random field over the binary bracketings of a treebank. Cells that are not skipped
are called open.

A single model serves all binarisations of the same trees: it is trained on all their bracketings, with equal
weights. Every tenth tree is held out, to choose the threshold on marginals that keeps nearly all gold spans
open. Some pairs of adjacent sentences are also joined into one training sentence, because at parsing time a
sentence end may be missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from typing_extensions import Doc

from spectralnlp.estimators.parser.cell_kernels import Learner, Sentences, learn, marginals_of_spans
from spectralnlp.estimators.parser.component import Component, Context
from spectralnlp.inference.trees.labels import tag_codes
from spectralnlp.inference.trees.open_cells import token_attributes
from spectralnlp.inference.trees.rule_index import RuleIndex
from spectralnlp.inference.trees.span_features import TokenAttributes
from spectralnlp.inference.words.lexical import coarse_values, look_up
from spectralnlp.parameters import CellModel, Ints, LatentGrammar, Offsets
from spectralnlp.progress import fit_pass
from spectralnlp.runtime import offsets_of
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.trees.treelog import TreeTable

# Longer sentences are not used, because training time is cubic in their length.
_LONGEST = 100

# Number of weights; a power of two.
_N_WEIGHTS = 2**20

# One sentence in this many is also joined to the next, up to a total length in tokens.
_JOINED = 3
_LONGEST_JOINED = 60

_EPOCHS = 2
_HELD_OUT = 10  # every tenth tree
_RECALL = 0.998  # share of the held-out gold spans that the threshold keeps open

# Bounds of the threshold. The upper one is divided by the number of binarisations, because so are the
# marginals of spans that occur in one binarisation only.
_MIN_THRESHOLD, _LARGEST_THRESHOLD = 1e-5, 3e-4


@dataclass(kw_only=True)
class OpenCells(Component):
    """Component that learns which chart cells may hold a constituent; parsers skip all other cells."""

    name = "open_cells"
    least_trees = 500  # fewer do not suffice
    learned = "beside"

    closed_cells: Annotated[
        bool,
        Doc(
            "Learn which spans may be constituents, and only fill their cells of the chart, which about "
            "doubles the speed. Off for fewer than 500 trees."
        ),
    ] = True

    @property
    def is_on(self) -> bool:
        """Whether the settings request the model of open cells."""
        return self.closed_cells

    def learn(self, context: Context) -> CellModel | None:
        """Train the model; return None if too few sentences have a suitable length (see `train_cells`)."""
        with fit_pass("closed cells"):
            return train_cells(context.trees.tables, context.coarse[0], random_state=context.random_state)


def train_cells(tables: Sequence[TreeTable], coarse: LatentGrammar, *, random_state: int) -> CellModel | None:
    """Train the model that predicts open chart cells; return None if too few sentences have 3 to 100 tokens.

    Args:
        tables: the same trees, as one table for each binarisation.
        coarse: grammar of the first binarisation with one state per symbol, which gives the most probable
            tags of words.
        random_state: seed of the order of sentences.
    """
    sentences = _sentences(tables, coarse)
    lengths = np.diff(sentences.tokens)
    usable = np.flatnonzero((lengths > 2) & (lengths <= _LONGEST))
    held_out = usable % _HELD_OUT == 0
    training = usable[~held_out]
    training = np.repeat(training, tables[0].copies[training])
    if not len(training) or not held_out.any():
        return None
    learner = Learner.blank(_N_WEIGHTS)
    rng, step = np.random.default_rng([random_state, _N_WEIGHTS]), 0
    first = _to_be_joined(training, lengths)
    material = _concatenated([sentences, *(_joined(sentences, s) for s in first.tolist())])
    training = np.concatenate([training, len(lengths) + np.arange(len(first))])
    for _ in range(_EPOCHS):
        learn(material, training[rng.permutation(len(training))], step, learner)
        step += len(training)
    weights = learner.mean(step)
    marginals = marginals_of_spans(sentences, usable[held_out], weights)
    threshold = float(np.quantile(marginals, 1.0 - _RECALL))
    threshold = min(max(threshold, _MIN_THRESHOLD), _LARGEST_THRESHOLD / len(tables))
    return CellModel(weights=weights, threshold=float(f"{threshold:.4g}"))


def _sentences(tables: Sequence[TreeTable], coarse: LatentGrammar) -> Sentences:
    first = tables[0]
    leaves = np.flatnonzero(first.word >= 0)
    tokens = np.searchsorted(first.tree[leaves], np.arange(first.n_trees + 1))
    tree, start, end = (
        np.concatenate(columns) for columns in zip(*(_spans(table, tokens) for table in tables), strict=True)
    )
    order = np.argsort(tree, kind="stable")
    return Sentences(
        attributes=_token_features(first, leaves, tokens, coarse),
        tokens=tokens,
        spans=np.searchsorted(tree[order], np.arange(first.n_trees + 1)),
        start=start[order],
        end=end[order],
        share=1.0 / len(tables),
    )


def _to_be_joined(training: Offsets, lengths: Offsets) -> Offsets:
    """Choose pairs of adjacent sentences to join, and return the index of the first sentence of each pair.

    Args:
        training: indices of the training sentences, ascending.
        lengths: lengths of all sentences, in tokens.
    """
    first = training[:-1][np.diff(training) == 1]
    return first[lengths[first] + lengths[first + 1] <= _LONGEST_JOINED][::_JOINED]


def _joined(sentences: Sentences, s: int) -> Sentences:
    """Return sentences s and s + 1 joined into one sentence, with the spans of both."""
    begin, middle, end = sentences.tokens[s : s + 3].tolist()
    marks = sentences.attributes.marks[begin + s : end + s + 2]
    first, last = marks[: middle - begin + 1], marks[middle - begin + 1 :]
    spans = slice(sentences.spans[s], sentences.spans[s + 2])
    shift = np.zeros(spans.stop - spans.start, np.int32)
    shift[sentences.spans[s + 1] - spans.start :] = middle - begin
    word, tag, second, shape = (column[begin:end] for column in sentences.attributes[:-1])
    return Sentences(
        attributes=TokenAttributes(
            word, tag, second, shape, np.append(first[:-1], first[-1] + last).astype(np.int32)
        ),
        tokens=np.array([0, end - begin]),
        spans=np.array([0, len(shift)]),
        start=sentences.start[spans] + shift,
        end=sentences.end[spans] + shift,
        share=sentences.share,
    )


def _concatenated(parts: Sequence[Sentences]) -> Sentences:
    """Concatenate tables of sentences into one table; spans must have the same weight in all of them."""
    attributes = [
        np.concatenate(columns) for columns in zip(*(part.attributes for part in parts), strict=True)
    ]
    return Sentences(
        attributes=TokenAttributes(*attributes),
        tokens=offsets_of(np.concatenate([np.diff(part.tokens) for part in parts])),
        spans=offsets_of(np.concatenate([np.diff(part.spans) for part in parts])),
        start=np.concatenate([part.start for part in parts]),
        end=np.concatenate([part.end for part in parts]),
        share=parts[0].share,
    )


def _spans(table: TreeTable, tokens: Offsets) -> tuple[Ints, Ints, Ints]:
    """Return the spans of all nodes with two children: the tree, the start and the end of each.

    Args:
        table: table of trees.
        tokens: int64 (n_trees + 1,); first token of each tree.

    Returns:
        Three int32 arrays (n_spans,); start and end (exclusive) are token positions in the tree.
    """
    nodes = table.right >= 0
    tree = table.tree[nodes]
    first = tokens[tree].astype(np.int32)
    return tree, table.start[nodes] - first, table.end[nodes] - first


def _token_features(
    table: TreeTable, leaves: Offsets, tokens: Offsets, coarse: LatentGrammar
) -> TokenAttributes:
    """Compute the token features of all sentences; words that occur once are treated as unknown words.

    Args:
        table: table of trees.
        leaves: int64 (n_tokens,); rows of the preterminals.
        tokens: int64 (n_sentences + 1,); first token of each sentence.
        coarse: grammar with one state per symbol, which gives the most probable tags of words.
    """
    lexicon, signature = coarse.lexicon, signature_by_name(coarse.lexicon.scheme)
    codes, prior = tag_codes(coarse), RuleIndex.of(coarse).prior
    counts = np.bincount(table.word[leaves], minlength=len(table.words))
    columns = []
    for first, last in zip(tokens[:-1].tolist(), tokens[1:].tolist(), strict=True):
        words = table.word[leaves[first:last]]
        lookup = look_up(lexicon, [table.words[word] for word in words.tolist()], signature)
        once = np.where(counts[words] == 1, lookup.signatures, lookup.entries)
        lookup = replace(lookup, entries=once)
        columns.append(token_attributes(lexicon, lookup, coarse_values(coarse, lookup, None) * prior, codes))
    return TokenAttributes(*(np.concatenate(parts) for parts in zip(*columns, strict=True)))
