"""Report labels that are used both as tags and as phrase labels, which often reveals annotation errors."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from spectralnlp.trees import labels_of, plain_symbol
from spectralnlp.trees.treelog import TreeTable

# Number of labels in a report, and number of words for each label.
N_LABELS, N_WORDS = 5, 3


@dataclass(frozen=True)
class AmbiguousLabel:
    """A label that is used both as a tag and as a phrase label.

    Attributes:
        label: the label.
        n_words: number of words with this tag.
        n_phrases: number of phrases with this label.
        words: most frequent words with this tag.
    """

    label: str
    n_words: int
    n_phrases: int
    words: tuple[str, ...]

    def __str__(self) -> str:
        words = ", ".join(self.words[:N_WORDS]) + ("" if len(self.words) <= N_WORDS else ", …")
        counted = f"{self.n_words:,} word{'s' * (self.n_words > 1)} ({words})"
        return f"{self.label}: {counted} and {self.n_phrases:,} phrase{'s' * (self.n_phrases > 1)}"


def ambiguous_labels_in_counts(
    words: Mapping[tuple[str, str], int], phrases: Mapping[str, int]
) -> Iterator[AmbiguousLabel]:
    """Yield the labels of a treebank that are used both as tags and as phrase labels.

    Args:
        words: count of each pair (preterminal symbol, word).
        phrases: for each symbol, the number of its nodes that are not preterminals.
    """
    by_label: dict[str, Counter[str]] = defaultdict(Counter)
    for (symbol, word), count in words.items():
        if plain_symbol(symbol) != symbol:
            by_label[labels_of(symbol)[-1]][word] += count
    n_phrases: Counter[str] = Counter()
    for symbol, count in phrases.items():
        n_phrases.update(dict.fromkeys(labels_of(symbol)[-1:], count))
    for label, counts in by_label.items():
        common = tuple(word for word, _ in counts.most_common(N_WORDS + 1))
        yield AmbiguousLabel(label, counts.total(), n_phrases[label], common)


def ambiguous_labels_in_table(table: TreeTable) -> Iterator[AmbiguousLabel]:
    """Yield the labels of a tree table that are used both as tags and as phrase labels."""
    marked = np.array([plain_symbol(each) != each for each in table.symbols])
    if not marked.any():
        return
    rows = np.flatnonzero(marked[table.symbol])
    pairs = zip(table.symbol[rows].tolist(), table.word[rows].tolist(), strict=True)
    words = Counter((table.symbols[symbol], table.words[word]) for symbol, word in pairs)
    inner = np.bincount(table.symbol[table.word < 0], minlength=len(table.symbols)).tolist()
    yield from ambiguous_labels_in_counts(words, dict(zip(table.symbols, inner, strict=True)))


def report_ambiguous_labels(labels: Iterable[AmbiguousLabel]) -> list[str]:
    """Return a list with one line that names the labels, rarest tags first; empty if there are no labels."""
    ordered = sorted(labels, key=lambda each: (each.n_words, each.label))
    if not ordered:
        return []
    more = len(ordered) - N_LABELS
    named = "; ".join(map(str, ordered[:N_LABELS])) + (f"; {more} more" if more > 0 else "")
    return [f"labels used both as tags and as phrase labels, learned as two symbols: {named}"]
