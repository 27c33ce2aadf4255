"""Words of a few trees added to the lexicon of a trained grammar; see ``adapter.py``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp.parameters import Floats, Ints, Lexicon
from spectralnlp.parameters.arrays import offsets_of
from spectralnlp.text.signatures import signature_by_name, signature_chain

_RARE = 5  # tokens of words that vote for the tags of unknown ones
_WORD_PRIOR = 1.0  # pseudo-count of a new word's signature in its tags
_SIGNATURE_PRIOR = 5.0  # votes that a signature has at least

# Tokens of words under tags, by number.
WordCounts = Mapping[str, Mapping[int, float]]


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

    def of_grammar(self, old: Lexicon, n_states: Ints, tag_default: Floats) -> Lexicon:
        """The lexicon of a grammar, whose vectors have one number a state."""
        sizes = n_states[self.tags]
        offsets = offsets_of(sizes)
        # A row's numbers come from its old row, or from what its tag has for any word.
        source = np.concatenate([old.values, tag_default])
        of_tag = len(old.values) + offsets_of(n_states)[self.tags]
        first = np.where(self.old >= 0, old.offsets[self.old], of_tag)
        values = source[np.repeat(first - offsets[:-1], sizes) + np.arange(offsets[-1])]
        return Lexicon(
            words=self.words,
            signatures=old.signatures,
            scheme=old.scheme,
            starts=self.starts,
            tags=self.tags,
            offsets=offsets,
            values=values * np.repeat(self.factor, sizes),
            backoff=self.backoff,
            word_signature=self.word_signature,
            log_weight=self.log_weight,
        )


class LexiconCounts:
    """The counts of a lexicon, to which those of words can be added.

    Args:
        lexicon: of the coarse grammar, with one number a row: p(tag | word) / p(tag).
        counted: float64 (n_symbols,); tokens of each tag, 0 for phrases.
    """

    def __init__(self, lexicon: Lexicon, counted: Floats) -> None:
        self.lexicon, self.n_tokens = lexicon, counted.sum()
        p_tag = counted / self.n_tokens
        self._probability = (lexicon.values * p_tag[lexicon.tags]).tolist()
        self._tags, self._starts = lexicon.tags.tolist(), lexicon.starts.tolist()
        self._tokens = np.exp(lexicon.log_weight) * self.n_tokens  # of each entry
        self._signature = signature_by_name(lexicon.scheme)
        self._chains: dict[str, list[int]] = {}

    def merged(self, own: WordCounts, weight: float, total: Floats) -> LexiconRows:
        """Add words under tags to the lexicon.

        Args:
            own: tokens of each word under each tag.
            weight: how often each of these counts.
            total: float64 (n_symbols,); tokens of each tag afterwards, 0 for phrases.
        """
        lexicon, tokens = self.lexicon, self._tokens
        n_all, n_words = total.sum(), len(lexicon.words)
        p_new = total / n_all
        entries = [self._entry(entry) for entry in range(len(lexicon.starts) - 1)]

        votes = self._votes(own)
        for sign, more in votes.items():
            entry = n_words + sign
            _add(entries[entry], tokens[entry] + _SIGNATURE_PRIOR, {t: weight * n for t, n in more.items()})
        for word, counts in own.items():
            at = lexicon.word_index.get(word)
            if at is not None:
                _add(entries[at], tokens[at], {tag: weight * n for tag, n in counts.items()})
        new = sorted(set(own) - lexicon.word_index.keys())
        finest = [self._finest(word) for word in new]
        added: list[_Entry] = []
        for word, sign in zip(new, finest, strict=True):
            of_sign = entries[n_words + sign]
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
        weights = [tokens[:n_words] + weight * known, weight * own_tokens, tokens[n_words:]]
        return LexiconRows(
            words=(*lexicon.words, *new),
            starts=offsets_of(np.array([len(each) for each in ordered])),
            tags=tags,
            old=old,
            factor=np.where(old >= 0, ratio / np.where(values == 0, 1.0, values), ratio),
            backoff=np.append(lexicon.backoff, _WORD_PRIOR / (own_tokens + _WORD_PRIOR)),
            word_signature=np.append(lexicon.word_signature, finest).astype(np.int32),
            log_weight=np.log(np.concatenate(weights) / n_all),
        )

    def _entry(self, entry: int) -> _Entry:
        """The tags of an entry."""
        rows = range(self._starts[entry], self._starts[entry + 1])
        return {self._tags[row]: (self._probability[row], row) for row in rows}

    def _votes(self, own: WordCounts) -> dict[int, dict[int, float]]:
        """By signature, the tags of rare words: each word has one vote, for all signatures of its chain."""
        votes: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        last = len(self.lexicon.signatures) - 1
        for word, counts in own.items():
            total = sum(counts.values())
            if total <= _RARE:
                for sign in (*self._chain(word), last):
                    for tag, count in counts.items():
                        votes[sign][tag] += count / total
        return votes

    def _chain(self, word: str) -> list[int]:
        """The signatures of a word inside a sentence that the lexicon knows, the finest first."""
        if word not in self._chains:
            known = self.lexicon.signature_index
            names = signature_chain(self._signature(word, 1, self.lexicon.word_index), word)
            self._chains[word] = [known[name] for name in names if name in known]
        return self._chains[word]

    def _finest(self, word: str) -> int:
        return next(iter(self._chain(word)), len(self.lexicon.signatures) - 1)


# The tags of an entry: p(tag | entry) and the row that it had, or -1.
_Entry = dict[int, tuple[float, int]]


def _add(entry: _Entry, tokens: float, more: Mapping[int, float]) -> None:
    """Add counts of tags to those of an entry, in place."""
    total = tokens + sum(more.values())
    for tag in {*entry, *more}:
        p, row = entry.get(tag, (0.0, -1))
        entry[tag] = ((tokens * p + more.get(tag, 0.0)) / total, row)
