"""The lexicon: which tags a word may have, and what its states say, smoothed for rare words.

A known word's tags are shrunk toward those of its signature, a signature's toward the tags of the
rarest words: unknown words behave like rare ones (Petrov et al. 2006, section 3; Cohen et al. 2013
smooth the vectors alike). The vector of (word, tag) is

    s(word, tag) · mean of Z over its tokens,   s = p(tag | word) / p(tag)

where Z is what an estimator knows of one token's state: the outside projection of spectral learning
(the tutorial's lexical parameter), or 1 / p(state | tag) at the token's state where states are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..parameters import Floats, Ints, Lexicon
from ..text.signatures import Signature


@dataclass(frozen=True)
class LexiconOptions:
    """How rare words are smoothed.

    Args:
        rare: words seen at most so often teach what signatures do.
        rarest: words seen at most so often are the prior of every signature.
        frequent: words seen more often keep their own tags, unsmoothed.
        word_prior: pseudo-count of a word's signature in p(tag | word).
        signature_prior: pseudo-count of the rarest words in p(tag | signature).
        state_prior: pseudo-count of the signature's mean Z in a word's.
        tag_weight: weight of the tag's mean Z in every vector, in [0, 1].
        least_tag: tags whose p(tag | signature) is not above it are left out of the signature.
        keep_rare: keep rare words as words; otherwise they are replaced by their signatures.
    """

    rare: int = 5
    rarest: int = 2
    frequent: int = 30
    word_prior: float = 0.5
    signature_prior: float = 2.0
    state_prior: float = 2.0
    tag_weight: float = 0.1
    least_tag: float = 1e-4
    keep_rare: bool = True


UNSMOOTHED = LexiconOptions(
    rare=0, rarest=0, frequent=0, word_prior=0.0, signature_prior=0.0, state_prior=0.0, tag_weight=0.0
)


@dataclass(frozen=True)
class TokenMoments:
    """What was seen of each (word, tag).

    Attributes:
        words: word types, by index.
        word, tag: int (n_rows,); a row for each pair that occurs, ``tag`` being a symbol.
        count: float64 (n_rows,); tokens.
        initial: float64 (n_rows,); those of them that begin a sentence.
        z: float64 (n_rows, m_max); sum of Z over the tokens, padded with zeros to the most states of a tag.
    """

    words: Sequence[str]
    word: Ints
    tag: Ints
    count: Floats
    initial: Floats
    z: Floats


def build_lexicon(
    tokens: TokenMoments,
    n_states: Ints,
    scheme: str,
    signature: Signature,
    options: LexiconOptions,
) -> tuple[Lexicon, Floats]:
    """The lexicon, and the mean Z of every tag (``LatentGrammar.tag_default``).

    Args:
        tokens: what was seen.
        n_states: int32 (n_symbols,).
        scheme: name of the signature function.
        signature: that function.
        options: smoothing.
    """
    symbols, tag_of_row = np.unique(tokens.tag, return_inverse=True)  # tags are numbered densely from here on
    symbol_offsets = np.concatenate([[0], np.cumsum(n_states, dtype=np.int64)])
    tokens = replace(tokens, tag=tag_of_row.astype(np.int32))
    n_words, n_tags, n_tokens = len(tokens.words), len(symbols), tokens.count.sum()
    word_count = np.bincount(tokens.word, tokens.count, n_words).astype(np.float64)
    tag_count = np.bincount(tokens.tag, tokens.count, n_tags)
    mean_z = _sums(tokens.tag, tokens.z, n_tags) / np.maximum(tag_count, 1e-300)[:, None]
    p_tag = tag_count / n_tokens

    signs = _Signatures.of(tokens, word_count, mean_z, signature, options)
    sign, sign_tag = np.nonzero(signs.p_tag > options.least_tag)
    signature_vectors = (signs.p_tag[sign, sign_tag] / p_tag[sign_tag])[:, None] * _mix(
        signs.mean_z(sign, sign_tag), mean_z[sign_tag], options.tag_weight
    )

    p_given_word = tokens.count / word_count[tokens.word]
    own = signs.of_word[tokens.word]
    smoothed = word_count[tokens.word] <= options.frequent
    p_given_word[smoothed] = (
        (tokens.count + options.word_prior * signs.p_tag[own, tokens.tag])
        / (word_count[tokens.word] + options.word_prior)
    )[smoothed]
    z = (tokens.z + options.state_prior * signs.mean_z(own, tokens.tag)) / (
        tokens.count + options.state_prior
    )[:, None]
    word_vectors = (p_given_word / p_tag[tokens.tag])[:, None] * _mix(
        z, mean_z[tokens.tag], options.tag_weight
    )

    kept = np.ones(n_words, bool) if options.keep_rare else word_count > options.rare
    new_index = np.cumsum(kept) - 1
    rows = kept[tokens.word]
    entry = np.concatenate([new_index[tokens.word[rows]], kept.sum() + sign])
    tag = np.concatenate([tokens.tag[rows], sign_tag])
    vectors = np.concatenate([word_vectors[rows], signature_vectors])
    order = np.lexsort((tag, entry))
    entry, tag, vectors = entry[order], tag[order], vectors[order]

    widths = n_states[symbols[tag]].astype(np.int64)
    inside_width = np.arange(vectors.shape[1]) < widths[:, None]
    backoff = np.where(
        word_count <= options.frequent, options.word_prior / (word_count + options.word_prior), 0
    )
    n_entries = int(kept.sum()) + len(signs.names)
    log_weight = np.log(np.concatenate([word_count[kept], signs.count]) / n_tokens)
    lexicon = Lexicon(
        words=tuple(word for word, keep in zip(tokens.words, kept, strict=True) if keep),
        signatures=tuple(signs.names),
        scheme=scheme,
        starts=np.searchsorted(entry, np.arange(n_entries + 1)).astype(np.int64),
        tags=symbols[tag].astype(np.int32),
        offsets=np.concatenate([[0], np.cumsum(widths)]),
        values=vectors[inside_width],
        backoff=backoff[kept].astype(np.float64),
        word_signature=signs.of_word[kept].astype(np.int32),
        log_weight=log_weight,
    )
    default = np.zeros(symbol_offsets[-1])
    for symbol, mean in zip(symbols, mean_z, strict=True):
        first, m = symbol_offsets[symbol], n_states[symbol]
        default[first : first + m] = mean[:m]
    return lexicon, default


def _mix(z: Floats, mean: Floats, weight: float) -> Floats:
    return (1 - weight) * z + weight * mean


def _sums(keys: NDArray[np.integer], values: Floats, n_keys: int) -> Floats:
    """float64 (n_keys, m): rows of ``values`` added up by key."""
    return np.stack([np.bincount(keys, column, n_keys) for column in values.T], axis=1)


@dataclass(frozen=True)
class _Signatures:
    """Signatures and what rare words say of them; the last one stands for all.

    Attributes:
        names: the signatures.
        of_word: int (n_words,); the signature of each word inside a sentence.
        p_tag: float64 (n_signatures, n_tags); p(tag | signature).
        count: float64 (n_signatures,); tokens of the rarest words, at least a half.
        row: int (n_signatures, n_tags); where a pair that occurs has its ``z``, else -1.
        z: float64 (n_pairs, m_max); mean Z, smoothed.
        rare_z: float64 (n_tags, m_max); mean Z of rare words, for pairs that do not occur.
    """

    names: list[str]
    of_word: NDArray[np.int64]
    p_tag: Floats
    count: Floats
    row: NDArray[np.int64]
    z: Floats
    rare_z: Floats

    def mean_z(self, sign: NDArray[np.integer], tag: NDArray[np.integer]) -> Floats:
        """float64 (n, m_max): mean Z of (signature, tag) pairs."""
        row = self.row[sign, tag]
        if not len(self.z):
            return self.rare_z[tag]
        return np.where(row[:, None] >= 0, self.z[row], self.rare_z[tag])

    @classmethod
    def of(
        cls,
        tokens: TokenMoments,
        word_count: Floats,
        mean_z: Floats,
        signature: Signature,
        options: LexiconOptions,
    ) -> _Signatures:
        n_tags = len(mean_z)
        known = frozenset(tokens.words)
        inner = [signature(word, 1, known) for word in tokens.words]
        initial = [signature(word, 0, known) for word in tokens.words]
        names = sorted({*inner, *initial})
        index = {name: i for i, name in enumerate(names)}
        of_word = np.array([index[name] for name in inner], np.int64)
        of_initial = np.array([index[name] for name in initial], np.int64)
        last = len(names)
        names = [*names, "UNKNOWN"]

        # Rare words vote for their signature, inside a sentence or at its beginning, and for the last resort.
        rare = word_count[tokens.word] <= options.rare
        rarest = word_count[tokens.word] <= options.rarest
        inside = tokens.count - tokens.initial
        voter = np.tile(np.flatnonzero(rare), 3)
        share = np.concatenate([inside[rare], tokens.initial[rare], tokens.count[rare]])
        word = tokens.word[rare]
        sign = np.concatenate([of_word[word], of_initial[word], np.full(len(word), last)])
        pairs, which = np.unique(sign * n_tags + tokens.tag[voter], return_inverse=True)
        count = np.bincount(which, share, len(pairs)).astype(np.float64)
        z = _sums(which, (share / tokens.count[voter])[:, None] * tokens.z[voter], len(pairs))
        row = np.full((len(names), n_tags), -1)
        row.ravel()[pairs] = np.arange(len(pairs))
        by_pair = np.zeros((len(names), n_tags))
        by_pair.ravel()[pairs] = count

        # Where nothing is rare (tiny treebanks), every token is what is known of unknown words.
        pool = rarest if rarest.any() else np.ones_like(rarest)
        prior = np.bincount(tokens.tag[pool], tokens.count[pool], n_tags).astype(np.float64)
        total = by_pair.sum(1, keepdims=True)
        strength = np.where(total > 0, options.signature_prior, 1.0)
        p_tag = (by_pair + strength * prior / prior.sum()) / (total + strength)
        has_rare = row[last] >= 0
        rare_z = mean_z.copy()
        rare_z[has_rare] = z[row[last, has_rare]] / count[row[last, has_rare], None]
        weight = max(options.state_prior, 1e-9)
        smoothed = (z + weight * rare_z[pairs % n_tags]) / (count + weight)[:, None]
        seen = np.bincount(of_word[tokens.word[rarest]], inside[rarest], len(names))
        seen += np.bincount(of_initial[tokens.word[rarest]], tokens.initial[rarest], len(names))
        seen[last] = tokens.count[rarest].sum()
        return cls(names, of_word, p_tag, np.maximum(seen, 0.5), row, smoothed, rare_z)
