"""Apply a span scorer to the forests of a sentence: replace the posteriors of span labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import ModelError
from spectralnlp.inference.trees.forest import BINARY, LEXICAL, TOP
from spectralnlp.inference.trees.labels import SharedLabels
from spectralnlp.inference.trees.latent import ForestPosteriors
from spectralnlp.inference.trees.limits import SpanLimits
from spectralnlp.inference.trees.open_cells import CellMarginals
from spectralnlp.inference.trees.rescoring.options import NO_OPTION, OptionsOfForest, span_options
from spectralnlp.inference.trees.rescoring.scores import describe_span, make_workspace, score_span
from spectralnlp.inference.trees.rescoring.span_values import likely_brackets
from spectralnlp.inference.trees.rescoring.templates import N_BUCKETS, template_table
from spectralnlp.inference.trees.rescoring.tokens import TokenReader, hash_name
from spectralnlp.inference.trees.rescoring.values import LabelValues
from spectralnlp.inference.trees.scored_forest import ScoredForest
from spectralnlp.inference.trees.sentence import Forests
from spectralnlp.inference.words.lexical import is_rare
from spectralnlp.jit import count_bits, kernel, kernel_part
from spectralnlp.parameters import Floats, Ints, Lexicon, SpanScorer, WordClusters
from spectralnlp.text.annotations import Annotations

_NO_HEAD = -np.inf  # head score of tags that are unknown to the scorer


class KnownFeatures(NamedTuple):
    """Compressed weights of hashed features: only features with a non-zero weight are stored.

    About a thirtieth of all hash buckets have a weight, so this takes a tenth of the memory of a dense array.

    Attributes:
        bits: uint64 (n_buckets / 64,); one bit for each bucket, set if a feature with a weight is there.
        before: int32 (n_buckets / 64,); number of set bits before each element of ``bits``.
        weights: float32 (n_features + 1,); weights in the order of their buckets, then one 0, the weight of
            all other features.
    """

    bits: NDArray[np.uint64]
    before: Ints
    weights: NDArray[np.float32]

    @classmethod
    def of(cls, scorer: SpanScorer) -> KnownFeatures:
        """Compress the weights of a span scorer."""
        words, places = scorer.features >> 6, (scorer.features & 63).astype(np.uint64)
        bits = np.zeros(N_BUCKETS // 64, np.uint64)
        np.bitwise_or.at(bits, words, np.uint64(1) << places)
        before = np.searchsorted(words, np.arange(len(bits))).astype(np.int32)
        return cls(bits, before, np.append(scorer.weights, np.float32(0.0)))


def rescore(forests: Forests, rescorer: SpanRescorer | None) -> Forests:
    """Return a sentence's forests with the labels of spans reweighted by a span scorer, if there is one."""
    if rescorer is None or not forests.scored:
        return forests
    sentence = forests.sentence
    scored = rescorer.for_sentence(sentence.annotations).rescore(
        forests.scored, sentence.read_as, sentence.limits[0], sentence.cell_marginals, sentence.annotations
    )
    return replace(forests, scored=scored)


class SpanRescorer:
    """Applies a span scorer to the forests of a parser: reweights the labels of their spans.

    Args:
        scorer: the learned templates and weights, and the scores of tags as heads of phrases.
        shared: the labels that the parser's grammars share.
        lexicon: lexicon whose counts decide which words are rare.
        clusters: coarse and fine clusters of words.

    Raises:
        ModelError: a template names a value that does not exist.
    """

    def __init__(
        self, scorer: SpanScorer, shared: SharedLabels, lexicon: Lexicon, clusters: WordClusters
    ) -> None:
        self.scorer, self.shared, self._words = scorer, shared, (lexicon, clusters)
        self.labels = label_values(scorer, shared)
        self.tokens = token_reader(shared, lexicon, clusters)
        try:
            self.table = template_table("\n".join(scorer.templates))
        except (KeyError, ValueError) as error:
            what = f"the span scorer has a template that is not known: {error}"
            raise ModelError(what, hint="install the version of spectralnlp that made the model") from error

    @cached_property
    def annotated(self) -> SpanRescorer:
        """The rescorer for sentences with annotations; this one if none was trained with them."""
        scorer = self.scorer.annotated
        return self if scorer is None else SpanRescorer(scorer, self.shared, *self._words)

    def for_sentence(self, annotations: Annotations | None) -> SpanRescorer:
        """Return the rescorer for a sentence with the given annotations, or with none."""
        return self if annotations is None else self.annotated

    @cached_property
    def known(self) -> KnownFeatures:
        """The non-zero weights of hashed features, in compressed form."""
        return KnownFeatures.of(self.scorer)

    def rescore(
        self,
        forests: Mapping[int, ScoredForest],
        words: Sequence[str],
        limits: SpanLimits | None = None,
        cell_marginals: CellMarginals | None = None,
        annotations: Annotations | None = None,
    ) -> dict[int, ScoredForest]:
        """Return the forests of one sentence with the posteriors that the span scorer gives to labels.

        The posteriors of an option (candidate label of a span) under all grammars are multiplied by the same
        factor, so that their mean becomes the scorer's posterior.

        Args:
            forests: the sentence's forests by index of the binarisation.
            words: the tokens of the sentence.
            limits: the span constraints under which the forests were made.
            cell_marginals: marginals of the spans that the parser considered; None without a model of cells.
            annotations: tags and a dependency parse of the sentence; None for none.
        """
        maps = [self.shared.maps[number] for number in forests]
        options, places = span_options(
            list(forests.values()), maps, self.shared.labels, len(words), cell_marginals
        )
        tokens = self.tokens.read(words, options.tag, annotations)
        required = np.zeros(len(options.start), bool)
        if limits is not None:
            required = limits.is_required(options.start, options.end)
        factors = _factors(
            options, required, tokens, self.labels, self.table, self.known, self.scorer.number_weights
        )
        return {
            number: _rescored(forest, place, factors)
            for (number, forest), place in zip(forests.items(), places, strict=True)
        }


def label_values(scorer: SpanScorer, shared: SharedLabels) -> LabelValues:
    """Return the feature values of a parser's labels, and the scores of tags as heads of phrases.

    Args:
        scorer: the span scorer, which has its own ids of phrase labels and tags.
        shared: the parser's labels; the result is indexed by their ids.
    """
    names, pairs = shared.names, shared.labels.pairs
    hashes = [hash_name("label", name) for name in names]
    hashes += [hash_name("unary", names[top], names[bottom]) for top, bottom in pairs.tolist()]
    head_score = np.full((len(names), len(names)), _NO_HEAD, np.float32)
    head_is_last = np.zeros(head_score.shape, bool)
    roles = zip(names, shared.labels.is_tag.tolist(), strict=True)
    index = {name_and_role: number for number, name_and_role in enumerate(roles)}
    rows = [(row, index[name, False]) for row, name in enumerate(scorer.phrases) if (name, False) in index]
    columns = [
        (column, index[name, True]) for column, name in enumerate(scorer.tags) if (name, True) in index
    ]
    if rows and columns:
        (theirs, ours), (their_tags, our_tags) = (np.array(each).T for each in (rows, columns))
        head_score[np.ix_(ours, our_tags)] = scorer.head_score[np.ix_(theirs, their_tags)]
        head_is_last[np.ix_(ours, our_tags)] = scorer.head_is_last[np.ix_(theirs, their_tags)] > 0
    return LabelValues(
        name=np.array(hashes, np.uint64),
        bottom=np.concatenate([np.arange(len(names)), pairs[:, 1]]).astype(np.int32),
        head_score=head_score,
        head_is_last=head_is_last,
    )


def token_reader(shared: SharedLabels, lexicon: Lexicon, clusters: WordClusters) -> TokenReader:
    """Return the object that computes the feature values of a sentence's tokens.

    Args:
        shared: the parser's labels.
        lexicon: lexicon by which words are rare or not; rare words are replaced by their shape and ending.
        clusters: coarse and fine clusters of words.
    """
    return TokenReader(lambda word: is_rare(lexicon, word), shared.names, clusters.of)


@kernel
def _factors(options, required, tokens, labels, table, known, number_weights):
    """Return the factor by which posteriors of each option (candidate label of a span) are multiplied.

    The factor is the ratio of the scorer's posterior to the mean posterior under the grammars.

    Args:
        options: `SpanOptions` of the sentence.
        required: bool (n_spans,); True for spans that must be brackets, so that "no bracket" is excluded.
        tokens: `TokenValues` of the sentence.
        labels: `LabelValues`.
        table: int64; the templates, from `template_table`.
        known: `KnownFeatures`, the weights of hashed features.
        number_weights: float64 (N_NUMBERS,); weights of the real-valued features.

    Returns:
        float64 (n_options,).
    """
    factors = np.ones(len(options.label))
    brackets = likely_brackets(options, 0, len(options.start), tokens, labels)
    work = make_workspace(options.first, len(table))
    for s in range(len(options.start)):
        first, last = options.first[s], options.first[s + 1]
        describe_span(s, options, tokens, labels, brackets, table, work)
        number_known(known, last - first, work)
        log_sum = score_span(last - first, known.weights, number_weights, work)
        if required[s]:
            most, total = work.score[: last - first].max(), 0.0
            for row in range(last - first):
                total += np.exp(work.score[row] - most)
            log_sum = most + np.log(total)
        for o in range(first, last):
            factors[o] = np.exp(work.score[o - first] - log_sum) / options.posterior[o].mean()
    return factors


@kernel_part
def number_known(known, n_options, work):
    """Replace the hash bucket of each feature by the index of its weight in ``known.weights``.

    Args:
        known: `KnownFeatures`.
        n_options: number of options (candidate labels) of the current span.
        work: `Workspace`; the first ``n_options`` rows of ``buckets`` are updated.
    """
    for row in range(n_options):
        for k in range(work.n_features[row]):
            bucket = work.buckets[row, k]
            bits, below = known.bits[bucket >> 6], np.uint64(1) << np.uint64(bucket & 63)
            place = len(known.weights) - 1
            if bits & below != np.uint64(0):
                place = known.before[bucket >> 6] + np.int64(count_bits(bits & (below - np.uint64(1))))
            work.buckets[row, k] = place


def _rescored(scored: ScoredForest, place: OptionsOfForest, factors: Floats) -> ScoredForest:
    edge, node = _multiply_all(
        scored.forest, place.of_node, place.of_edge, factors, scored.node_shares, scored.edge_shares
    )
    new = tuple(
        ForestPosteriors(old.log_total, edge[g], node[g], usable=True)
        for g, old in enumerate(scored.posteriors)
    )
    return replace(scored, posteriors=new, node_shares=node, edge_shares=edge)


@kernel
def _multiply_all(forest, of_node, of_edge, factors, node, edge):
    """Return new posteriors of hyperedges and nodes, multiplied by the factors of their span labels.

    Args:
        forest: `Forest`.
        of_node, of_edge: option (span label) of each node and hyperedge; see `OptionsOfForest`.
        factors: float64 (n_options,); factor of each option.
        node, edge: float64 (n_grammars, n_nodes) and (n_grammars, n_edges); posteriors under each grammar.
    """
    new_node, new_edge, alone = node.copy(), edge.copy(), np.empty(node.shape[1])
    for g in range(len(node)):
        _multiply(forest, of_node, of_edge, factors, node[g], edge[g], new_node[g], new_edge[g], alone)
    return new_edge, new_node


@kernel_part
def _multiply(forest, of_node, of_edge, factors, node, edge, new_node, new_edge, alone):
    """Write the new posteriors of hyperedges and nodes under one grammar; see `_multiply_all`.

    Args:
        forest, of_node, of_edge, factors: see `_multiply_all`.
        node, edge: float64; the old posteriors under this grammar.
        new_node, new_edge: float64; copies of the old posteriors; updated.
        alone: float64 (n_nodes,); scratch space for the posterior of "this node without a unary rule above".
    """
    for v in range(len(node)):
        alone[v] = node[v]
    for v in range(len(node)):
        if forest.kind[v] == TOP:
            for e in range(forest.edges[v], forest.edges[v + 1]):
                if forest.rule[e] >= 0:
                    alone[forest.left[e]] -= edge[e]
    for v in range(len(node)):
        alone[v] = max(alone[v], 0.0)
        if forest.kind[v] == BINARY and of_node[v] != NO_OPTION:
            new_node[v] += alone[v] * (factors[of_node[v]] - 1.0)
            alone[v] *= factors[of_node[v]]
    for v in range(len(node)):
        if forest.kind[v] != TOP:
            continue
        for e in range(forest.edges[v], forest.edges[v + 1]):
            below = forest.left[e]
            if forest.rule[e] < 0 or of_edge[e] == NO_OPTION:
                continue
            new_edge[e] *= factors[of_edge[e]]
            change = new_edge[e] - edge[e]
            if forest.kind[below] == LEXICAL:
                alone[below] = max(alone[below] - change, 0.0)
            else:
                new_node[below] += change
    for v in range(len(node)):
        if forest.kind[v] == TOP:
            new_node[v] = 0.0
            for e in range(forest.edges[v], forest.edges[v + 1]):
                if forest.rule[e] < 0:
                    new_edge[e] = alone[forest.left[e]]
                new_node[v] += new_edge[e]
        elif forest.kind[v] == BINARY and node[v] > 0.0:
            for e in range(forest.edges[v], forest.edges[v + 1]):
                new_edge[e] *= new_node[v] / node[v]
