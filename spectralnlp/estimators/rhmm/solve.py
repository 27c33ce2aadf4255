"""Estimate spectral models as smoothed means of outer products of token vectors (Stratos et al. 2013).

The model is an L-PCFG of right-branching trees, estimated as in the tutorial slides of Cohen, Collins and
others (NAACL 2013), "Parameter Estimation". For each token, let Z be the vector of its past, W that of its
word, Y that of its word and future, and C that of its context (past and future). Then, with all means over
tokens of tag a,

    transition a → b:  p(b | a) · E[Z ⊗ W ⊗ Y of the next token],
    end:               p(end | a) · E[Z ⊗ W],
    initial:           p(a first) · E[Y],
    word x:            p(a | x) / p(a) · E[C over tokens of x].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.rhmm.moments import TagTable
from spectralnlp.estimators.shared.lexicon import (
    LexiconMaker,
    LexiconOptions,
    TokenCounts,
    count_tokens,
    sum_rows,
)
from spectralnlp.estimators.shared.projections import Projections
from spectralnlp.estimators.shared.smoothing import (
    SmoothingOptions,
    smoothed_second_moment,
    smoothed_third_moment,
)
from spectralnlp.parameters import DenseTensors, Floats, Ints, RefinedMarkov


@dataclass(frozen=True, kw_only=True)
class TagBigrams:
    """Interpolated bigram probabilities of tags.

    p(b | a) = (1 - λ_a) count(a, b) / count(a) + λ_a p(b), with λ_a = kinds(a) / (kinds(a) + count(a)), where
    kinds(a) is the number of distinct tags that follow a (Witten and Bell 1991). The end of a sentence counts
    as a tag.

    Attributes:
        pairs: int32 (n_pairs, 2), sorted; observed pairs a, b.
        follow: float64 (n_pairs,); first term of p(b | a) for each pair.
        end: float64 (n_tags,); p(end | a).
        escape: float64 (n_tags,); λ_a.
        share: float64 (n_tags,); p(b), estimated from tokens that are not sentence-initial.
        begin: float64 (n_tags,); probability of each tag at the start of a sentence.
    """

    pairs: Ints
    follow: Floats
    end: Floats
    escape: Floats
    share: Floats
    begin: Floats

    @classmethod
    def of(cls, table: TagTable, *, interpolate: bool) -> TagBigrams:
        """Estimate bigram probabilities from a table.

        Args:
            table: tokens of tagged sentences.
            interpolate: whether to interpolate; if not, λ = 0.
        """
        n, last, first = len(table.tags), table.last, table.first
        inner = np.flatnonzero(~last)
        codes, which = np.unique(
            table.tag[inner].astype(np.int64) * n + table.tag[inner + 1], return_inverse=True
        )
        pairs = np.stack(np.divmod(codes, n), axis=1).astype(np.int32).reshape(-1, 2)
        count = np.bincount(which, table.weight[inner], len(codes))
        ends = np.bincount(table.tag[last], table.weight[last], n)
        begins = np.bincount(table.tag[first], table.weight[first], n)
        total = np.bincount(table.tag, table.weight, n)
        kinds = np.bincount(pairs[:, 0], minlength=n) + (ends > 0)
        escape = kinds / (kinds + total) if interpolate else np.zeros(n)
        next_total = total.sum()  # as many events follow a token as there are tokens
        share, end_share = (total - begins) / next_total, ends.sum() / next_total
        begin_escape = (begins > 0).sum() / ((begins > 0).sum() + begins.sum()) if interpolate else 0.0
        return cls(
            pairs=pairs,
            follow=(1 - escape[pairs[:, 0]]) * count / total[pairs[:, 0]],
            end=(1 - escape) * ends / total + escape * end_share,
            escape=escape,
            share=share,
            begin=(1 - begin_escape) * begins / begins.sum() + begin_escape * total / next_total,
        )


def spectral_model(
    table: TagTable,
    chain: Projections,
    words: Projections,
    bigrams: TagBigrams,
    smoothing: SmoothingOptions,
    lexicon_options: LexiconOptions,
) -> RefinedMarkov:
    """Estimate a spectral model from the projected vectors of tokens; for equations see the module.

    Args:
        table: tokens of tagged sentences.
        chain: projections for transitions: outside vectors Z of the past, inside vectors Y of the word and
            the future.
        words: projections for emissions: outside vectors C of the context, inside vectors W of the word.
        bigrams: bigram probabilities of tags.
        smoothing: smoothing options of the tensors.
        lexicon_options: spelling classes and smoothing of the lexicon.
    """
    m, k, weight = chain.n_states, words.n_states, table.weight
    initial, final, leaving, arriving = [], [], [], []
    for a, rows in by_tag(table):
        z, w = chain.outside[rows, : m[a]], words.inside[rows, : k[a]]
        joint = smoothed_second_moment(z, w, weight[rows], smoothing).ravel()
        mean = _mean(chain.inside[rows, : m[a]], weight[rows])
        leaving.append(bigrams.escape[a] * joint)
        arriving.append(bigrams.share[a] * mean)

        last = rows[table.last[rows]]
        z, w = chain.outside[last, : m[a]], words.inside[last, : k[a]]
        at_end = smoothed_second_moment(z, w, weight[last], smoothing).ravel() if len(last) else joint
        final.append(bigrams.end[a] * _toward(at_end, joint, weight[last].sum(), smoothing))
        first = rows[table.first[rows]]
        at_start = _mean(chain.inside[first, : m[a]], weight[first]) if len(first) else mean
        initial.append(bigrams.begin[a] * _toward(at_start, mean, weight[first].sum(), smoothing))
    matrices = []
    for (a, b), rows, share in zip(
        bigrams.pairs.tolist(), by_pair(table), bigrams.follow.tolist(), strict=True
    ):
        parts = chain.outside[rows, : m[a]], words.inside[rows, : k[a]], chain.inside[rows + 1, : m[b]]
        matrices.append(share * smoothed_third_moment(*parts, weight[rows], smoothing))
    tokens, row = tokens_of(table)
    z = sum_rows(row, weight[:, None] * words.outside, len(tokens.word))
    lexicon, _ = LexiconMaker(tokens, lexicon_options).make(k, z)
    return RefinedMarkov(
        tags=table.tags,
        n_states=m,
        n_lexical=k,
        tied=False,
        initial=np.concatenate(initial),
        final=np.concatenate(final),
        leaving=np.concatenate(leaving),
        arriving=np.concatenate(arriving),
        pairs=bigrams.pairs,
        transitions=end_to_end(matrices),
        lexicon=lexicon,
    )


def by_tag(table: TagTable) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield the id of each tag, and the indices of all tokens with the tag."""
    order = np.argsort(table.tag, kind="stable")
    bounds = np.searchsorted(table.tag[order], np.arange(len(table.tags) + 1))
    for tag in range(len(table.tags)):
        yield tag, order[bounds[tag] : bounds[tag + 1]]


def by_pair(table: TagTable) -> Iterator[NDArray[np.intp]]:
    """Yield, for each pair (a, b) of tags, all tokens tagged a that are followed by a token tagged b.

    The tokens are given by their indices, int (n,). Pairs come in the order of their ids; pairs that do not
    occur are skipped.
    """
    inner = np.flatnonzero(~table.last)
    codes = table.tag[inner].astype(np.int64) * len(table.tags) + table.tag[inner + 1]
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.append(True, codes[order][1:] != codes[order][:-1])[: len(order)])
    yield from np.split(inner[order], starts[1:]) if len(order) else ()


def tokens_of(table: TagTable) -> tuple[TokenCounts, NDArray[np.intp]]:
    """Count every (word, tag) pair; also return the index of each token's pair, int (n_tokens,)."""
    return count_tokens(table.words, table.word, table.tag, table.weight, table.first)


def end_to_end(matrices: list[Floats]) -> DenseTensors:
    """Flatten and concatenate matrices, as models store them; the start of each matrix is kept."""
    sizes = np.array([0, *(matrix.size for matrix in matrices)], np.int64)
    return DenseTensors(
        offsets=np.cumsum(sizes), values=np.concatenate([np.empty(0), *(x.ravel() for x in matrices)])
    )


def _mean(y: Floats, weight: Floats) -> Floats:
    return weight @ y / weight.sum()


def _toward(mean: Floats, general: Floats, count: float, smoothing: SmoothingOptions) -> Floats:
    """Interpolate a mean over ``count`` tokens with ``general``, the mean over all tokens of the tag."""
    trust = smoothing.trust(count)
    return trust * mean + (1 - trust) * general
