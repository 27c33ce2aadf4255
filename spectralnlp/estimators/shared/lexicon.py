"""Build lexicons: the possible tags of each word with a vector over their states, smoothed for rare words.

The tag distribution of a known word is smoothed with that of its signature (spelling class). The distribution
of a signature is smoothed with that of the next coarser signature, whose ending is one letter shorter. The
coarsest signatures are smoothed with the tags of the rarest words, since unknown words behave like rare words
(Petrov et al. 2006, section 3) and like words with the same ending (Brants 2000, section 2.3). Vectors are
smoothed in the same way. The vector of (word, tag) is

    s(word, tag) · mean of Z over its tokens,   s = p(tag | word) / p(tag)

where Z represents the state of a token. In spectral learning it is the outside vector of the token's
preterminal (Cohen et al. 2013). In models that count one discrete state per token, such as a cluster, it has
the value 1 / p(state | tag) at the token's state, and zeros elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.shared import settings
from spectralnlp.estimators.shared.settings import Options
from spectralnlp.parameters import Floats, Ints, Lexicon
from spectralnlp.runtime import offsets_of
from spectralnlp.text.signatures import Signature, signature_by_name, signature_chain


@dataclass(frozen=True, kw_only=True)
class LexiconOptions(Options):
    """Settings of a lexicon (the possible tags of each word, with vectors) and of its smoothing.

    The vector Z represents the state of a token; see the module.

    Args:
        scheme: name of the function that maps a word to its signature (spelling class).
        rare: largest frequency of the words that signatures are learned from.
        keep_rare_words: keep rare words as entries, instead of replacing them by their signatures.
        tag_weight: weight of the tag's mean Z in every vector, in [0, 1]. Unless it is 0, vectors do not
            converge to those of the tokens' distribution, for the weight is the same for all counts.
        rarest: largest frequency of the words whose tags are the prior of the coarsest signatures.
        frequent: largest frequency of the words whose tag distribution is smoothed.
        word_prior: pseudo-count of the signature in p(tag | word).
        signature_prior: pseudo-count of the next coarser signature in p(tag | signature).
        state_prior: pseudo-count of the signature's mean Z in the mean Z of a word.
        signature_state_prior: pseudo-count of the next coarser signature's mean Z in a signature's mean Z.
        ending_words: minimum number of distinct rare words with an ending for the ending to be a signature.
        least_tag: tags with a smaller p(tag | signature) are removed from the signature.
    """

    scheme: str
    rare: int = settings.RARE
    keep_rare_words: bool = settings.KEEP_RARE_WORDS
    tag_weight: float = settings.TAG_WEIGHT
    rarest: int = 2
    frequent: int = 30
    word_prior: float = 1.0
    signature_prior: float = 3.0
    state_prior: float = 2.0
    signature_state_prior: float = 300.0
    ending_words: int = 3
    least_tag: float = 1e-3

    @property
    def signature(self) -> Signature:
        """Function that maps a rare or unknown word to its signature, a class of spelling."""
        return signature_by_name(self.scheme)

    def with_plain_means(self) -> LexiconOptions:
        """Return options without smoothing of vectors: each is the mean Z of the tokens it stands for."""
        return replace(self, tag_weight=0.0, state_prior=0.0, signature_state_prior=0.0)


@dataclass(frozen=True)
class TokenCounts:
    """Counts of each observed (word, tag) pair.

    Attributes:
        words: word types; ``word`` refers to them by index.
        word, tag: int (n_pairs,); word type and tag symbol of each pair.
        count: float64 (n_pairs,); number of tokens, weighted by tree.
        initial: float64 (n_pairs,); number of sentence-initial tokens, weighted by tree.
        n_tokens: float64 (n_pairs,); unweighted number of tokens, which decides whether a word is rare; None
            if all trees have weight 1.
    """

    words: Sequence[str]
    word: Ints
    tag: Ints
    count: Floats
    initial: Floats
    n_tokens: Floats | None = None

    @property
    def weight(self) -> Floats:
        """Mean weight of the tokens of each (word, tag) pair, float64 (n_pairs,)."""
        return np.ones(len(self.count)) if self.n_tokens is None else self.count / self.n_tokens

    def word_counts(self) -> tuple[Floats, Floats]:
        """Return the weighted and the unweighted number of tokens of each word, float64 (n_words,) each."""
        counts = (self.count, self.count if self.n_tokens is None else self.n_tokens)
        counted, once = (np.bincount(self.word, each, len(self.words)).astype(np.float64) for each in counts)
        return counted, once


def count_tokens(
    words: Sequence[str],
    word: Ints,
    tag: Ints,
    weight: Floats,
    is_first: NDArray[np.bool_],
    share: Floats | None = None,
) -> tuple[TokenCounts, NDArray[np.intp]]:
    """Count the (word, tag) pairs of tokens; also return the index of each token's pair, int (n_tokens,).

    Args:
        words: word types; ``word`` refers to them by index.
        word, tag: int32 (n_tokens,); word type and tag symbol of each token.
        weight: float64 (n_tokens,); weight of each token.
        is_first: bool (n_tokens,); whether each token begins a sentence.
        share: float64 (n_tokens,); what each token adds to ``TokenCounts.n_tokens``, such as the probability
            of its tree among candidate trees; None if every token counts as one.
    """
    n_tags = int(tag.max(initial=0)) + 1
    keys, row = np.unique(word.astype(np.int64) * n_tags + tag, return_inverse=True)
    counts = TokenCounts(
        words=words,
        word=(keys // n_tags).astype(np.int32),
        tag=(keys % n_tags).astype(np.int32),
        count=np.bincount(row, weight, len(keys)).astype(np.float64),
        initial=np.bincount(row, weight * is_first, len(keys)).astype(np.float64),
        n_tokens=None if share is None else np.bincount(row, share, len(keys)).astype(np.float64),
    )
    return counts, row


class LexiconMaker:
    """Builds the lexicons of grammars that have the same training tokens but different states.

    Args:
        tokens: counts of (word, tag) pairs.
        options: settings of signatures (spelling classes) and smoothing.
    """

    def __init__(self, tokens: TokenCounts, options: LexiconOptions) -> None:
        self.tokens, self.options = tokens, options
        self._symbols, tag_of_row = np.unique(tokens.tag, return_inverse=True)
        self._dense = replace(tokens, tag=tag_of_row.astype(np.int32))  # renumber tags without gaps
        self._votes = _Votes.cast(self._dense, options)

    def make(self, n_states: Ints, z: Floats) -> tuple[Lexicon, Floats]:
        """Return the lexicon of a grammar, and the mean vector Z of every tag (``tag_default``).

        Z represents the state of a token; see the module.

        Args:
            n_states: int32 (n_symbols,); number of states of each symbol.
            z: float64 (n_pairs, m_max); sum of Z over the tokens of each (word, tag) pair, zero-padded to the
                largest number of states of a tag.
        """
        symbols, tokens, options = self._symbols, self._dense, self.options
        n_words, n_tags, n_tokens = len(tokens.words), len(symbols), tokens.count.sum()
        counted, word_count = tokens.word_counts()
        tag_count = np.bincount(tokens.tag, tokens.count, n_tags)
        mean_z = sum_rows(tokens.tag, z, n_tags) / np.maximum(tag_count, 1e-300)[:, None]
        p_tag = tag_count / n_tokens

        signs = _Signatures.of(tokens, z, self._votes, word_count, mean_z, options)
        sign, sign_tag = np.nonzero(signs.p_tag)
        signature_vectors = (signs.p_tag[sign, sign_tag] / p_tag[sign_tag])[:, None] * _mix(
            signs.mean_z(sign, sign_tag), mean_z[sign_tag], options.tag_weight
        )

        word_vectors = _word_vectors(tokens, z, p_tag, mean_z, signs, options)

        kept = np.ones(n_words, bool) if options.keep_rare_words else word_count > options.rare
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
        log_weight = np.log(np.concatenate([counted[kept], signs.count]) / n_tokens)
        lexicon = Lexicon(
            words=tuple(word for word, keep in zip(tokens.words, kept, strict=True) if keep),
            signatures=tuple(signs.names),
            scheme=options.scheme,
            starts=np.searchsorted(entry, np.arange(n_entries + 1)).astype(np.int64),
            tags=symbols[tag].astype(np.int32),
            offsets=offsets_of(widths),
            values=vectors[inside_width],
            backoff=backoff[kept].astype(np.float64),
            word_signature=signs.of_word[kept].astype(np.int32),
            log_weight=log_weight,
        )
        return lexicon, _tag_default(symbols, n_states, mean_z)


def _word_vectors(
    tokens: TokenCounts,
    z: Floats,
    p_tag: Floats,
    mean_z: Floats,
    signs: _Signatures,
    options: LexiconOptions,
) -> Floats:
    """Return the vectors of (word, tag) pairs, smoothed with signatures, float64 (n_pairs, m_max).

    Args:
        tokens: counts of (word, tag) pairs.
        z: float64 (n_pairs, m_max); sum of Z over the tokens of each pair.
        p_tag: float64 (n_symbols,); relative frequency of each tag.
        mean_z: float64 (n_symbols, m_max); mean Z of each tag.
        signs: smoothed distributions and vectors of signatures.
        options: settings of the lexicon.
    """
    counted, word_count = tokens.word_counts()
    p_given_word = tokens.count / counted[tokens.word]
    finest = signs.of_word[tokens.word]
    smoothed = word_count[tokens.word] <= options.frequent
    word_prior = (options.word_prior * (counted / np.maximum(word_count, 1e-300)))[tokens.word]
    p_given_word[smoothed] = (
        (tokens.count + word_prior * signs.p_tag[finest, tokens.tag]) / (counted[tokens.word] + word_prior)
    )[smoothed]
    state_prior = (options.state_prior * tokens.weight)[:, None]
    mean = (z + state_prior * signs.mean_z(finest, tokens.tag)) / (tokens.count[:, None] + state_prior)
    return (p_given_word / p_tag[tokens.tag])[:, None] * _mix(mean, mean_z[tokens.tag], options.tag_weight)


def _tag_default(symbols: NDArray[np.integer], n_states: Ints, mean_z: Floats) -> Floats:
    """Return the mean vector Z of each tag, and zeros for phrases, concatenated."""
    offsets = offsets_of(n_states)
    default = np.zeros(offsets[-1])
    for symbol, mean in zip(symbols, mean_z, strict=True):
        first, m = offsets[symbol], n_states[symbol]
        default[first : first + m] = mean[:m]
    return default


def _mix(z: Floats, mean: Floats, weight: float) -> Floats:
    return (1 - weight) * z + weight * mean


def sum_rows(keys: NDArray[np.integer], values: Floats, n_keys: int) -> Floats:
    """Sum the rows of ``values``, (n, m), by their keys, int (n,); return float64 (n_keys, m)."""
    return np.stack([np.bincount(keys, column, n_keys) for column in values.T], axis=1)


@dataclass(frozen=True)
class _Votes:
    """Votes of rare words for the tags of their signatures (spelling classes).

    A word has one vote for each of its signatures, divided among its tokens.

    Attributes:
        names: the signatures; the last one covers all words.
        parent: int (n_signatures,); the next coarser signature, -1 for the last one.
        depth: int (n_signatures,); number of steps from each signature to the last one.
        of_word: int (n_words,); the finest signature of each word when it is not sentence-initial.
        sign: int (n_votes,); signature of each vote.
        row: int (n_votes,); index of the (word, tag) pair that each vote comes from.
        share: float64 (n_votes,); size of each vote, a fraction of the word's vote.
        seen: float64 (n_signatures,), at least 0.5; number of tokens of the rarest words with this finest
            signature; for the last signature, number of all tokens of the rarest words.
    """

    names: list[str]
    parent: NDArray[np.int64]
    depth: NDArray[np.int64]
    of_word: NDArray[np.int64]
    sign: NDArray[np.int64]
    row: NDArray[np.int64]
    share: Floats
    seen: Floats

    @classmethod
    def cast(cls, tokens: TokenCounts, options: LexiconOptions) -> _Votes:
        """Collect the votes of the words with at most ``options.rare`` tokens."""
        _, word_count = tokens.word_counts()
        known, signature = frozenset(tokens.words), options.signature
        inner = [signature_chain(signature(word, 1, known), word) for word in tokens.words]
        voters: list[tuple[int, float, list[str]]] = []
        for row in np.flatnonzero(word_count[tokens.word] <= options.rare).tolist():
            word, initial = int(tokens.word[row]), float(tokens.initial[row])
            if tokens.count[row] > initial:
                voters.append((row, float(tokens.count[row]) - initial, inner[word]))
            if initial:
                sign = signature(tokens.words[word], 0, known)
                voters.append((row, initial, signature_chain(sign, tokens.words[word])))

        names, parent_name = _enough([(int(tokens.word[row]), chain) for row, _, chain in voters], options)
        index = {name: i for i, name in enumerate(names)}
        parent = [index[parent_name[name]] for name in names[:-1]]
        depth = [1 + len(name.partition("~")[2]) for name in names[:-1]]

        last = len(names) - 1
        sign_of, row_of, share_of = [], [], []
        seen = np.zeros(len(names))
        for row, n, chain in voters:
            signs = [*(index[name] for name in chain if name in index), last]
            count = float(word_count[tokens.word[row]])
            sign_of += signs
            row_of += [row] * len(signs)
            share_of += [n / count] * len(signs)
            if count <= options.rarest:
                seen[[signs[0], last]] += n
        of_word = [next((index[name] for name in chain if name in index), last) for chain in inner]
        return cls(
            names=names,
            parent=np.array([*parent, -1]),
            depth=np.array([*depth, 0]),
            of_word=np.array(of_word, np.int64),
            sign=np.array(sign_of, np.int64),
            row=np.array(row_of, np.int64),
            share=np.array(share_of, np.float64),
            seen=np.maximum(seen, 0.5),
        )


def _enough(
    voters: Sequence[tuple[int, list[str]]], options: LexiconOptions
) -> tuple[list[str], Mapping[str, str]]:
    """Return the signatures to use, and the next coarser signature of each.

    Signatures with an ending are used only if enough words vote for them. The signature that covers all
    words comes last.

    Args:
        voters: the id of a word and its signatures, finest first, for each group of tokens that vote.
        options: settings of the lexicon.
    """
    backers = Counter(name for name, _ in {(name, word) for word, chain in voters for name in chain})
    coarser = {fine: coarse for _, chain in voters for fine, coarse in pairwise([*chain, _LAST_RESORT])}
    names = [name for name, n in backers.items() if "~" not in name or n >= options.ending_words]
    return [*sorted(names), _LAST_RESORT], coarser


_LAST_RESORT = "UNKNOWN"


@dataclass(frozen=True)
class _Signatures:
    """Smoothed tag distributions and state vectors of signatures (spelling classes of words).

    The last signature covers all words.

    Attributes:
        names: the signatures.
        of_word: int (n_words,); the finest signature of each word when it is not sentence-initial.
        p_tag: float64 (n_signatures, n_tags); p(tag | signature).
        count: float64 (n_signatures,); number of the rarest words' tokens with each signature, at least 0.5.
        row: int (n_signatures, n_tags); row of ``z`` for each signature, or for the nearest coarser one that
            occurs with the tag; -1 for tags that no rare word has.
        z: float64 (n_pairs, m_max); smoothed mean Z of each (signature, tag) pair that occurs.
        tag_z: float64 (n_tags, m_max); mean Z of all words with a tag, for tags that no rare word has.
    """

    names: list[str]
    of_word: NDArray[np.int64]
    p_tag: Floats
    count: Floats
    row: NDArray[np.int64]
    z: Floats
    tag_z: Floats

    def mean_z(self, sign: NDArray[np.integer], tag: NDArray[np.integer]) -> Floats:
        """Return the smoothed mean vector Z of (signature, tag) pairs, float64 (n, m_max)."""
        row = self.row[sign, tag]
        mean: Floats = self.tag_z[tag]
        mean[row >= 0] = self.z[row[row >= 0]]
        return mean

    @classmethod
    def of(
        cls,
        tokens: TokenCounts,
        z_sums: Floats,
        votes: _Votes,
        word_count: Floats,
        mean_z: Floats,
        options: LexiconOptions,
    ) -> _Signatures:
        n_tags = len(mean_z)
        pairs, which = np.unique(votes.sign * n_tags + tokens.tag[votes.row], return_inverse=True)
        sign_of, tag_of = np.divmod(pairs, n_tags)
        count = np.bincount(which, votes.share, len(pairs)).astype(np.float64)
        per_token = (votes.share / tokens.count[votes.row])[:, None] * z_sums[votes.row]
        z = sum_rows(which, per_token, len(pairs)) / count[:, None]
        row = np.full((len(votes.names), n_tags), -1)
        row[sign_of, tag_of] = np.arange(len(pairs))
        by_pair = np.zeros(row.shape)
        by_pair[sign_of, tag_of] = count

        # If no word is rare (in tiny treebanks), unknown words are modelled by all tokens.
        rarest = word_count[tokens.word] <= options.rarest
        pool = rarest if rarest.any() else np.ones_like(rarest)
        prior = np.bincount(tokens.tag[pool], tokens.count[pool], n_tags)
        p_tag = np.tile(prior / prior.sum(), (len(row), 1))
        strength, state_strength = options.signature_prior, options.signature_state_prior
        for depth in range(1, votes.depth.max() + 1):
            here = np.flatnonzero(votes.depth == depth)
            above = votes.parent[here]
            total = by_pair[here].sum(1, keepdims=True)
            p_tag[here] = (by_pair[here] + strength * p_tag[above]) / (total + strength)
            pairs_here = np.flatnonzero(votes.depth[sign_of] == depth)
            coarser = z[row[votes.parent[sign_of[pairs_here]], tag_of[pairs_here]]]
            weight = count[pairs_here, None] / (count[pairs_here, None] + state_strength)
            z[pairs_here] = weight * z[pairs_here] + (1 - weight) * coarser
            row[here] = np.where(row[here] >= 0, row[here], row[above])
        least = np.minimum(options.least_tag, p_tag.max(1, keepdims=True))
        p_tag = np.where(p_tag >= least, p_tag, 0.0)
        p_tag /= p_tag.sum(1, keepdims=True)
        return cls(
            names=votes.names,
            of_word=votes.of_word,
            p_tag=p_tag,
            count=votes.seen,
            row=row,
            z=z,
            tag_z=mean_z,
        )
