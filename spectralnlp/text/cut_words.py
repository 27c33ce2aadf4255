"""Words that a treebank cuts in two although a text writes them as one: ``land$ $ið`` for *landið*.

Which words are cut, and where, is learned from how they end: a word that was seen is cut as it mostly was,
any other as most words with its longest ending that the treebank shows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated

from annotated_types import Ge

JOINT = "$"  # ends a part that goes on, and begins the part that goes on with it
_WHOLE = "^"  # before an ending that is all of a word
_LONGEST_ENDING = 7
_LEAST_WORDS = 2  # with an ending, for it to count
_MOST_TOKENS = 5  # of words that tell how unseen ones are cut

# An ending, and the lengths of the parts that are cut from the end of a word that has it, the last one last.
Cut = tuple[str, tuple[Annotated[int, Ge(1)], ...]]


def is_cut(parts: Sequence[str]) -> bool:
    """Whether tokens are the parts of one written word."""
    return (
        len(parts) > 1
        and all(part.endswith(JOINT) and len(part) > 1 for part in parts[:-1])
        and all(part.startswith(JOINT) and len(part) > 1 for part in parts[1:])
    )


def written(part: str) -> str:
    """Return a part as a text has it, without the marks."""
    return part.strip(JOINT) or part


def learn_cuts(whole: Mapping[str, int], cut: Mapping[tuple[str, ...], int]) -> tuple[Cut, ...]:
    """Learn how words are cut by their endings.

    Args:
        whole: how often each word occurs that is no part of another.
        cut: how often each sequence of parts occurs.

    Returns:
        Endings in alphabetical order, without those that say the same as the next shorter one.
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
        if counts.total() <= _MOST_TOKENS:
            for start in range(max(1, len(word) - _LONGEST_ENDING), len(word) + 1):
                by_ending[word[start:]][best[word]] += 1
    rules: dict[str, tuple[int, ...]] = {}
    for ending in sorted(by_ending, key=len):
        if by_ending[ending].total() >= _LEAST_WORDS:
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
    """The lengths of the longest ending of a word that is known."""
    return next((rules[word[start:]] for start in range(len(word) + 1) if word[start:] in rules), ())


class WordCutter:
    """Cuts written words as a treebank does.

    Args:
        cuts: of `learn_cuts`; none to leave all words whole.
    """

    def __init__(self, cuts: Sequence[Cut]) -> None:
        self._rules = dict(cuts)

    def parts(self, word: str) -> list[tuple[str, str]]:
        """Return the parts of a word, as written and as the treebank has them.

        Args:
            word: without blanks, as a text has it.
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
