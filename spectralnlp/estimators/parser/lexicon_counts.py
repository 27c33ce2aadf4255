"""Add the words of new trees to the lexicon of a trained grammar; used by `grammar_counts`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spectralnlp.parameters import Floats, Ints, Lexicon
from spectralnlp.runtime import offsets_of
from spectralnlp.text.signatures import signature_by_name, signature_chain

_RARE = 5  # maximum count of a word whose tags count for its signatures
_WORD_PRIOR = 1.0  # pseudo-count of the tag distribution of a new word's signature
_SIGNATURE_PRIOR = 5.0  # minimum number of votes for a signature

# Number of tokens by word and tag id.
WordCounts = Mapping[str, Mapping[int, float]]


@dataclass(frozen=True)
class LexiconRows:
    """Rows of a merged lexicon, shared by a set of grammars: one for each tag of each word or signature.

    A signature is a spelling class, which stands for rare and unknown words in the lexicon.

    Attributes:
        lexicon: the merged lexicon, with a number in place of each row's vector over the states of its tag:
            the factor by which to multiply the row's vector in the general lexicon or, for a new row, the
            default vector of the tag. Words of the general lexicon come first.
        old: int64 (n_rows,); index of each row in the general lexicon, -1 for new rows.
    """

    lexicon: Lexicon
    old: NDArray[np.int64]

    def of_grammar(self, old: Lexicon, n_states: Ints, tag_default: Floats) -> Lexicon:
        """Return the merged lexicon for one grammar: a vector over the tag's states for each word and tag.

        Args:
            old: lexicon of the general grammar.
            n_states: int32 (n_symbols,); number of states of each symbol.
            tag_default: float64 (sum of n_states,); default vectors of all tags, for unknown words,
                concatenated.
        """
        tags, factor = self.lexicon.tags, self.lexicon.values
        sizes = n_states[tags]
        offsets = offsets_of(sizes)
        # A row's numbers come from its old row, or from what its tag has for any word.
        source = np.concatenate([old.values, tag_default])
        of_tag = len(old.values) + offsets_of(n_states)[tags]
        first = np.where(self.old >= 0, old.offsets[self.old], of_tag)
        values = source[np.repeat(first - offsets[:-1], sizes) + np.arange(offsets[-1])]
        return replace(self.lexicon, offsets=offsets, values=values * np.repeat(factor, sizes))


class LexiconCounts:
    """Tag counts of the words of a lexicon, to which counts of further words can be added.

    Args:
        lexicon: lexicon of the coarse grammar, with one number for each row: p(tag | word) / p(tag).
        counted: number of tokens of each tag, 0 for phrases; float64 (n_symbols,).
    """

    def __init__(self, lexicon: Lexicon, counted: Floats) -> None:
        self.lexicon, self.n_tokens = lexicon, counted.sum()
        p_tag = counted / self.n_tokens
        self._probability = (lexicon.values * p_tag[lexicon.tags]).tolist()
        self._tags, self._starts = lexicon.tags.tolist(), lexicon.starts.tolist()
        self._tokens = np.exp(lexicon.log_weight) * self.n_tokens  # of each word and signature
        self._signature = signature_by_name(lexicon.scheme)
        self._chains: dict[str, list[int]] = {}

    def merged(self, domain: WordCounts, weight: float, total: Floats) -> LexiconRows:
        """Return the rows of the lexicon after adding the words of new trees.

        Args:
            domain: number of tokens of each word with each tag in the new trees.
            weight: how many times each of these tokens counts.
            total: number of tokens of each tag after merging, 0 for phrases; float64 (n_symbols,).
        """
        lexicon, tokens = self.lexicon, self._tokens
        n_all, n_words = total.sum(), len(lexicon.words)
        p_new = total / n_all
        entries = [self._entry(entry) for entry in range(len(lexicon.starts) - 1)]

        votes = self._votes(domain)
        for sign, more in votes.items():
            entry = n_words + sign
            _add(entries[entry], tokens[entry] + _SIGNATURE_PRIOR, {t: weight * n for t, n in more.items()})
        for word, counts in domain.items():
            at = lexicon.word_index.get(word)
            if at is not None:
                _add(entries[at], tokens[at], {tag: weight * n for tag, n in counts.items()})
        new = sorted(set(domain) - lexicon.word_index.keys())
        finest = [self._finest(word) for word in new]
        added: list[_Entry] = []
        for word, sign in zip(new, finest, strict=True):
            of_sign = entries[n_words + sign]
            prior = {tag: _WORD_PRIOR * of_sign.get(tag, (0.0, -1))[0] for tag in domain[word]}
            n = sum(domain[word].values()) + _WORD_PRIOR
            added.append({tag: ((domain[word][tag] + prior[tag]) / n, -1) for tag in domain[word]})
        ordered = [*entries[:n_words], *added, *entries[n_words:]]
        rows = [(tag, *row) for each in ordered for tag, row in sorted(each.items())]
        tags = np.array([tag for tag, _, _ in rows], np.int32)
        old = np.array([at for _, _, at in rows], np.int64)
        ratio = np.array([p for _, p, _ in rows]) / p_new[tags]  # p(tag | word) / p(tag)
        values = lexicon.values[np.maximum(old, 0)]
        domain_tokens = np.array([sum(domain[word].values()) for word in new], np.float64)
        known = np.array(
            [sum(domain[word].values()) if word in domain else 0 for word in lexicon.words], np.float64
        )
        weights = [tokens[:n_words] + weight * known, weight * domain_tokens, tokens[n_words:]]
        merged = replace(
            lexicon,
            words=(*lexicon.words, *new),
            starts=offsets_of(np.array([len(each) for each in ordered])),
            tags=tags,
            offsets=np.arange(len(rows) + 1),
            values=np.where(old >= 0, ratio / np.where(values == 0, 1.0, values), ratio),
            backoff=np.append(lexicon.backoff, _WORD_PRIOR / (domain_tokens + _WORD_PRIOR)),
            word_signature=np.append(lexicon.word_signature, finest).astype(np.int32),
            log_weight=np.log(np.concatenate(weights) / n_all),
        )
        return LexiconRows(merged, old)

    def _entry(self, entry: int) -> _Entry:
        """Return the tags of a lexicon entry (a word or signature): tag id → (probability, row).

        Args:
            entry: index of the entry.
        """
        rows = range(self._starts[entry], self._starts[entry + 1])
        return {self._tags[row]: (self._probability[row], row) for row in rows}

    def _votes(self, domain: WordCounts) -> dict[int, dict[int, float]]:
        """Sum the tag distributions of the rare words of new trees, for each signature (spelling class).

        A word contributes to all its signatures, from the most specific to the most general one.

        Args:
            domain: number of tokens of each word with each tag in the new trees.

        Returns:
            Signature index → tag id → sum of p(tag | word) over the rare words of the signature.
        """
        votes: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        last = len(self.lexicon.signatures) - 1
        for word, counts in domain.items():
            total = sum(counts.values())
            if total <= _RARE:
                for sign in (*self._chain(word), last):
                    for tag, count in counts.items():
                        votes[sign][tag] += count / total
        return votes

    def _chain(self, word: str) -> list[int]:
        """Return the lexicon indices of a word's signatures (spelling classes), the most specific first.

        The signatures are those of the word inside a sentence, not at its beginning.
        """
        if word not in self._chains:
            known = self.lexicon.signature_index
            names = signature_chain(self._signature(word, 1, self.lexicon.word_index), word)
            self._chains[word] = [known[name] for name in names if name in known]
        return self._chains[word]

    def _finest(self, word: str) -> int:
        return next(iter(self._chain(word)), len(self.lexicon.signatures) - 1)


# Tags of a word or signature: p(tag | entry), and the row in the general lexicon or -1.
_Entry = dict[int, tuple[float, int]]


def _add(entry: _Entry, tokens: float, more: Mapping[int, float]) -> None:
    """Update the tag probabilities of a word or signature for further tokens, in place.

    Args:
        entry: tag id → (probability, row), as from `LexiconCounts._entry`; updated.
        tokens: number of tokens from which the probabilities were estimated.
        more: tag id → number of further tokens with this tag.
    """
    total = tokens + sum(more.values())
    for tag in {*entry, *more}:
        p, row = entry.get(tag, (0.0, -1))
        entry[tag] = ((tokens * p + more.get(tag, 0.0)) / total, row)
