"""Split words that a treebank writes in parts, such as ``land$ $ið`` for *landið*.

Where to split is learned from the treebank. A word of the treebank is split as the treebank splits it most
often. Any other word is split like most words that share its longest known ending.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated

from annotated_types import Ge

JOINT = "$"  # marks a cut: ends the part before it, and begins the part after it
_WHOLE = "^"  # precedes an ending that is a whole word
_LONGEST_ENDING = 7
_MIN_WORDS = 2  # words with an ending that a rule needs
_MAX_TOKENS = 5  # maximum count of words from which rules for unseen words are learned

# An ending, and the lengths of the parts that are cut off a word with that ending, in the order of the text.
Cut = tuple[str, tuple[Annotated[int, Ge(1)], ...]]


def is_cut(parts: Sequence[str]) -> bool:
    """Return whether tokens are marked as parts of one word, such as ``land$`` and ``$ið``."""
    return (
        len(parts) > 1
        and all(part.endswith(JOINT) and len(part) > 1 for part in parts[:-1])
        and all(part.startswith(JOINT) and len(part) > 1 for part in parts[1:])
    )


def written(part: str) -> str:
    """Return a part of a cut word without the mark ``$``, as it is in raw text."""
    return part.strip(JOINT) or part


def learn_cuts(whole: Mapping[str, int], cut: Mapping[tuple[str, ...], int]) -> tuple[Cut, ...]:
    """Learn rules that split words by their endings, from a treebank that writes some words in parts.

    Args:
        whole: counts of the words that are not split.
        cut: counts of the split words, each a tuple of its parts, such as ``("land$", "$ið")``.

    Returns:
        Rules, sorted by ending: pairs of an ending (or ``^`` and a whole word) and the lengths of the parts
        to cut off. A rule is left out if the rule of a shorter ending gives the same lengths.
    """
    if not cut:
        return ()
    seen: dict[str, Counter[tuple[int, ...]]] = defaultdict(Counter)
    for word, count in whole.items():
        seen[word.lower()][()] += count
    for parts, count in cut.items():
        bare = [written(part) for part in parts]
        seen["".join(bare).lower()][tuple(map(len, bare[1:]))] += count
    best = {word: _commonest(counts) for word, counts in seen.items()}
    by_ending: dict[str, Counter[tuple[int, ...]]] = defaultdict(Counter)
    for word, counts in seen.items():
        if counts.total() <= _MAX_TOKENS:
            for start in range(max(1, len(word) - _LONGEST_ENDING), len(word) + 1):
                by_ending[word[start:]][best[word]] += 1
    rules: dict[str, tuple[int, ...]] = {}
    for ending in sorted(by_ending, key=len):
        if by_ending[ending].total() >= _MIN_WORDS:
            _add(rules, ending, _commonest(by_ending[ending]))
    for word, lengths in best.items():
        _add(rules, _WHOLE + word, lengths)
    return tuple(sorted(rules.items()))


def _commonest(counts: Counter[tuple[int, ...]]) -> tuple[int, ...]:
    return min(counts, key=lambda lengths: (-counts[lengths], lengths))


def _add(rules: dict[str, tuple[int, ...]], ending: str, lengths: tuple[int, ...]) -> None:
    if _look_up(rules, ending[1:]) != lengths:
        rules[ending] = lengths


def _look_up(rules: Mapping[str, tuple[int, ...]], word: str) -> tuple[int, ...]:
    """Return the lengths of the parts to cut off a word, by the rule of its longest known ending.

    The result is empty if no rule applies.
    """
    return next((rules[word[start:]] for start in range(len(word) + 1) if word[start:] in rules), ())


class WordCutter:
    """Splitter of words of raw text into the parts that a treebank writes.

    Args:
        cuts: rules from `learn_cuts`; an empty sequence leaves all words whole.
    """

    def __init__(self, cuts: Sequence[Cut]) -> None:
        self._rules = dict(cuts)

    def parts(self, word: str) -> list[tuple[str, str]]:
        """Return a pair for each part of a word: the part in raw text, and as the treebank writes it.

        Args:
            word: a word of raw text, without blanks.
        """
        lengths = _look_up(self._rules, _WHOLE + word.lower()) if self._rules and word.isalpha() else ()
        if not lengths or sum(lengths) >= len(word):
            return [(word, word)]
        result, end = [], len(word)
        for length in reversed(lengths):
            result.append(word[end - length : end])
            end -= length
        result.append(word[:end])
        result.reverse()
        last = len(result) - 1
        return [
            (part, f"{JOINT if i else ''}{part}{JOINT if i < last else ''}") for i, part in enumerate(result)
        ]
