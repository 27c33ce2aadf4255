"""Find variation n-grams: identical words in identical contexts that a treebank annotates differently.

Source: Dickinson and Meurers (2003), "Detecting errors in part-of-speech annotation" for tags, and "Detecting
inconsistencies in treebanks" for brackets. The words whose annotation varies are the nucleus; its context is
one word, or the edge of the sentence, on either side. Only strings whose trigrams all recur are considered.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from spectralnlp.trees import Tree
from spectralnlp_trees.auditing.doubts import Occurrence

_EDGE = 0  # word number before and after a sentence
# Maximum length of a nucleus; variation in longer repeated strings is found in their parts.
_LONGEST = 40
Labels = tuple[str, ...]
P = TypeVar("P")
Span = tuple[int, int]


@dataclass(frozen=True)
class Variation:
    """Frequencies of two annotations of the same words: that of one occurrence, and the most frequent.

    Attributes:
        labels: most frequent labels of the words in the treebank; empty if they are mostly not a bracket.
        as_is: number of other occurrences with the annotation of this occurrence.
        as_proposed: number of occurrences of the words that have the most frequent labels.
    """

    labels: Labels
    as_is: int
    as_proposed: int


def labels_by_span(tree: Tree) -> dict[Span, Labels]:
    """Return a dictionary from spans (start, end) of a tree to their brackets' labels, topmost first."""
    labels_of: dict[Span, Labels] = {}
    for label, start, end in tree.spans():
        labels_of[start, end] = (*labels_of.get((start, end), ()), label)
    return labels_of


def tag_variation(trees: Sequence[Tree]) -> list[dict[Span, Variation]]:
    """Find the tokens whose word, between the same two neighbours, more often has another tag.

    Args:
        trees: trees of a treebank.

    Returns:
        For each tree, a dictionary from the spans of such tokens to the frequencies of both tags.
    """
    seen: dict[tuple[int, ...], list[tuple[int, int, Labels]]] = defaultdict(list)
    tags = [tree.tags() for tree in trees]
    for number, words in enumerate(_numbered(trees)):
        for token, tag in enumerate(tags[number]):
            seen[tuple(words[token : token + 3])].append((number, token, (tag,)))
    variations: list[dict[Span, Variation]] = [{} for _ in trees]
    for places in seen.values():
        for number, token, variation in _varying(places):
            variations[number][token, token + 1] = variation
    return variations


def bracket_variation(trees: Sequence[Tree]) -> list[dict[Span, Variation]]:
    """Find the spans whose words, between the same neighbours, more often have other labels or no bracket.

    Args:
        trees: trees of a treebank.

    Returns:
        For each tree, a dictionary from such spans to the frequencies of both annotations.
    """
    spans = [labels_by_span(tree) for tree in trees]
    seen: dict[tuple[int, ...], list[tuple[int, Span, Labels]]] = defaultdict(list)
    for number, words in enumerate(_repeated(list(_numbered(trees)))):
        for first, last, some in words:
            for start in range(first, last):
                for end in range(start + 1, min(last, start + _LONGEST) + 1):
                    key = tuple(some[start - first : end - first + 2])
                    seen[key].append((number, (start, end), spans[number].get((start, end), ())))
    variations: list[dict[Span, Variation]] = [{} for _ in trees]
    for places in seen.values():
        for number, span, variation in _varying(places):
            variations[number][span] = variation
    return variations


def _numbered(trees: Sequence[Tree]) -> Iterator[list[int]]:
    """Yield the words of each tree as integer ids, with the id 0 (edge of the sentence) at both ends."""
    index: dict[str, int] = {}
    for tree in trees:
        yield [_EDGE, *(index.setdefault(word, len(index) + 1) for word in tree.words()), _EDGE]


def _repeated(sentences: Sequence[Sequence[int]]) -> Iterator[list[tuple[int, int, Sequence[int]]]]:
    """Yield, for each sentence, the longest runs of tokens whose trigrams all occur elsewhere too.

    The trigram of a token is the token with both neighbours.

    Args:
        sentences: word ids of each sentence, with its edges, as `_numbered` yields them.

    Yields:
        Runs as triples: first token; last token, exclusive; word ids of the run and both neighbours.
    """
    counts = Counter(tuple(words[at : at + 3]) for words in sentences for at in range(len(words) - 2))
    for words in sentences:
        runs, start = [], None
        for token in range(len(words) - 1):
            comes_again = token < len(words) - 2 and counts[tuple(words[token : token + 3])] > 1
            if comes_again and start is None:
                start = token
            elif not comes_again and start is not None:
                runs.append((start, token, words[start : token + 2]))
                start = None
        yield runs


def _varying(places: Sequence[tuple[int, P, Labels]]) -> Iterator[tuple[int, P, Variation]]:
    """Yield the occurrences of some words whose labels are rarer than the words' most frequent labels.

    Args:
        places: all occurrences of the words: index of the tree, position in the tree, and labels.

    Yields:
        Index of the tree, position in the tree, and the frequencies of the present and the usual labels.
    """
    counts = Counter(labels for _, _, labels in places)
    if len(counts) < 2:
        return
    ((most, n_most),) = counts.most_common(1)
    for number, place, labels in places:
        if counts[labels] < n_most:
            yield number, place, Variation(most, counts[labels] - 1, n_most)


class Concordance:
    """Index of the occurrences of words in a treebank.

    Args:
        trees: trees of the treebank.
    """

    def __init__(self, trees: Sequence[Tree]) -> None:
        self.words = [tree.words() for tree in trees]
        self.tags = [tree.tags() for tree in trees]
        self.labels = [labels_by_span(tree) for tree in trees]
        self._places: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, words in enumerate(self.words):
            for token, word in enumerate(words):
                self._places[word].append((number, token))

    def others(
        self, tree: int, start: int, end: int, wanted: Labels, *, is_tag: bool, limit: int
    ) -> tuple[Occurrence, ...]:
        """Return other occurrences of some words in the treebank, the most similar ones first.

        Occurrences with the same neighbours come first; among these, those with the labels ``wanted``.

        Args:
            tree: index of the tree with the words.
            start, end: range of the words, ``end`` exclusive.
            wanted: labels, such as the proposed correction, of the occurrences to be preferred.
            is_tag: whether to compare the tag of a single word rather than labels of brackets.
            limit: maximum number of occurrences.
        """
        some = self.words[tree][start:end]
        rarest = min(range(len(some)), key=lambda at: len(self._places[some[at]]))
        occurrences = []
        for number, token in self._places[some[rarest]]:
            first = token - rarest
            if (
                first < 0
                or (number, first) == (tree, start)
                or self.words[number][first:][: len(some)] != some
            ):
                continue
            last = first + len(some)
            labels = (self.tags[number][first],) if is_tag else self.labels[number].get((first, last), ())
            alike = self._word(number, first - 1) == self._word(tree, start - 1)
            alike_after = self._word(number, last) == self._word(tree, end)
            rank = (-(alike + alike_after), labels != wanted, number, first)
            occurrences.append((rank, Occurrence(number, first, last, labels)))
        return tuple(each for _, each in sorted(occurrences, key=lambda one: one[0])[:limit])

    def _word(self, tree: int, token: int) -> str | None:
        return self.words[tree][token] if 0 <= token < len(self.words[tree]) else None
