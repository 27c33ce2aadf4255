"""Words of a few trees added to the lexicon of a trained grammar; see :mod:`~spectralnlp.models.adapting`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp.parameters import Floats, Ints, Lexicon
from spectralnlp.parameters.arrays import offsets_of
from spectralnlp.text.signatures import Signature, signature_by_name, signature_chain

_RARE = 5  # tokens of words that vote for the tags of unknown ones
_WORD_PRIOR = 1.0  # pseudo-count of a new word's signature in its tags
_SIGNATURE_PRIOR = 5.0  # votes that a signature has at least


@dataclass(frozen=True)
class LexiconRows:
    """The rows of a merged lexicon, which all grammars of a set share.

    Attributes:
        words: known words, the old ones first.
        starts, tags: as in `Lexicon`.
        old: int64 (n_rows,); the old row of each, or -1.
        factor: float64 (n_rows,); what the old vector is scaled by; of new rows, what the tag's mean is.
        backoff, word_signature, log_weight: as in `Lexicon`.
    """

    words: tuple[str, ...]
    starts: NDArray[np.int64]
    tags: Ints
    old: NDArray[np.int64]
    factor: Floats
    backoff: Floats
    word_signature: Ints
    log_weight: Floats

    @classmethod
    def merged(
        cls,
        lexicon: Lexicon,
        own: Mapping[str, Mapping[int, int]],
        weight: float,
        counted: Floats,
        total: Floats,
    ) -> LexiconRows:
        """Add words under tags to a lexicon.

        Args:
            lexicon: of the coarse grammar, with one number a row: p(tag | word) / p(tag).
            own: tokens of each word under each tag.
            weight: how often each of these counts.
            counted, total: float64 (n_symbols,); tokens of each tag before and after, 0 for phrases.
        """
        n_old, n_all = counted.sum(), total.sum()
        p_old, p_new = counted / n_old, total / n_all
        n_words = len(lexicon.words)
        entries = [_entry(lexicon, entry, p_old) for entry in range(len(lexicon.starts) - 1)]
        tokens = np.exp(lexicon.log_weight) * n_old

        votes = _votes(own, lexicon)
        for sign, more in votes.items():
            entry = n_words + sign
            _add(entries[entry], tokens[entry] + _SIGNATURE_PRIOR, {t: weight * n for t, n in more.items()})
        finest = {word: _finest(lexicon, word) for word in own}
        for word, counts in own.items():
            more = {tag: weight * n for tag, n in counts.items()}
            at = lexicon.word_index.get(word)
            if at is not None:
                _add(entries[at], tokens[at], more)
        new = sorted(set(own) - set(lexicon.words))
        added = []
        for word in new:
            of_sign = entries[n_words + finest[word]]
            prior = {tag: _WORD_PRIOR * of_sign.get(tag, (0.0, -1))[0] for tag in own[word]}
            n = sum(own[word].values()) + _WORD_PRIOR
            added.append({tag: ((own[word][tag] + prior[tag]) / n, -1) for tag in own[word]})
        ordered = [*entries[:n_words], *added, *entries[n_words:]]
        rows = [(tag, *row) for each in ordered for tag, row in sorted(each.items())]
        tags = np.array([tag for tag, _, _ in rows], np.int32)
        old = np.array([at for _, _, at in rows], np.int64)
        ratio = np.array([p for _, p, _ in rows]) / p_new[tags]  # p(tag | word) / p(tag)
        values = lexicon.values[np.maximum(old, 0)]
        own_tokens = np.array([sum(own[word].values()) for word in new], np.float64)
        known = np.array(
            [sum(own[word].values()) if word in own else 0 for word in lexicon.words], np.float64
        )
        log_weight = np.log(
            np.concatenate(
                [
                    (tokens[:n_words] + weight * known) / n_all,
                    weight * own_tokens / n_all,
                    tokens[n_words:] / n_all,
                ]
            )
        )
        return cls(
            words=(*lexicon.words, *new),
            starts=offsets_of(np.array([len(each) for each in ordered])),
            tags=tags,
            old=old,
            factor=np.where(old >= 0, ratio / np.where(values == 0, 1.0, values), ratio),
            backoff=np.append(lexicon.backoff, _WORD_PRIOR / (own_tokens + _WORD_PRIOR)),
            word_signature=np.append(lexicon.word_signature, [finest[word] for word in new]).astype(np.int32),
            log_weight=log_weight,
        )

    def of_grammar(self, old: Lexicon, n_states: Ints, tag_default: Floats) -> Lexicon:
        """The lexicon of a grammar, whose vectors have one number a state."""
        at, places = offsets_of(n_states), old.offsets
        parts = [np.empty(0)]
        for tag, row, factor in zip(self.tags.tolist(), self.old.tolist(), self.factor.tolist(), strict=True):
            first, last = (places[row], places[row + 1]) if row >= 0 else (at[tag], at[tag + 1])
            parts.append(factor * (old.values if row >= 0 else tag_default)[first:last])
        return Lexicon(
            words=self.words,
            signatures=old.signatures,
            scheme=old.scheme,
            starts=self.starts,
            tags=self.tags,
            offsets=offsets_of(n_states[self.tags]),
            values=np.concatenate(parts),
            backoff=self.backoff,
            word_signature=self.word_signature,
            log_weight=self.log_weight,
        )


# The tags of an entry: p(tag | entry) and the row that it had, or -1.
_Entry = dict[int, tuple[float, int]]


def _entry(lexicon: Lexicon, entry: int, p_tag: Floats) -> _Entry:
    """The tags of an entry of a coarse lexicon."""
    rows = range(lexicon.starts[entry], lexicon.starts[entry + 1])
    tags = lexicon.tags[rows.start : rows.stop].tolist()
    return {tag: (float(lexicon.values[row] * p_tag[tag]), row) for tag, row in zip(tags, rows, strict=True)}


def _add(entry: _Entry, tokens: float, more: Mapping[int, float]) -> None:
    """Add counts of tags to those of an entry, in place."""
    total = tokens + sum(more.values())
    for tag in {*entry, *more}:
        p, row = entry.get(tag, (0.0, -1))
        entry[tag] = ((tokens * p + more.get(tag, 0.0)) / total, row)


def _votes(own: Mapping[str, Mapping[int, int]], lexicon: Lexicon) -> dict[int, dict[int, float]]:
    """By signature, the tags of rare words: each word has one vote, for all signatures of its chain."""
    votes: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    signature, last = signature_by_name(lexicon.scheme), len(lexicon.signatures) - 1
    for word, counts in own.items():
        total = sum(counts.values())
        if total <= _RARE:
            chain = _known_chain(lexicon, signature, word)
            for sign in (*chain, last):
                for tag, count in counts.items():
                    votes[sign][tag] += count / total
    return votes


def _known_chain(lexicon: Lexicon, signature: Signature, word: str) -> list[int]:
    """The signatures of a word inside a sentence that a lexicon knows, the finest first."""
    names = signature_chain(signature(word, 1, lexicon.word_index), word)
    return [lexicon.signature_index[name] for name in names if name in lexicon.signature_index]


def _finest(lexicon: Lexicon, word: str) -> int:
    chain = _known_chain(lexicon, signature_by_name(lexicon.scheme), word)
    return chain[0] if chain else len(lexicon.signatures) - 1
