"""Which sentence next: the one from which the parser learns most for the work, or the next of the text.

A sentence teaches the words in it that the parser does not know, and one that comes often in the sentences
that are still open teaches something for all of these: it has a gain of the logarithm of how often. Tags of
words are what a parser lacks first in a new domain, and cost no brackets. A bracket of posterior p is
expected to be wrong with probability 1 - p (Hwa 2004, "Sample selection for statistical parsing", uses the
entropy of the tree in this place); that counts little beside, for what is wrong has to be corrected. Both
are taken a word, for the work of reading grows with the words. A word that an earlier sentence teaches is not
taught again: sentences are chosen one after the other, and so are spread over the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import log

from spectralnlp.trees.parse import Parse

Place = tuple[int, int]

# What an expected mistake counts beside a word that is new and comes e = 2.7 times.
_MISTAKE = 0.1
# Words that reading a sentence costs beside its own: very short ones teach little.
_OVERHEAD = 4
# Sentences that are chosen one after the other; the others, as if all after these.
_AHEAD = 50


def expected_errors(parse: Parse) -> float:
    """The number of brackets of a parse that its model expects to be wrong; a fallback's are all wrong."""
    if parse.fallback is not None and not parse.constituents:
        return float(len(parse.tree.words()))
    return float(sum(1.0 - each.posterior for each in parse.constituents))


def expected_gains(
    parses: Sequence[Parse],
    texts: Sequence[Sequence[str]],
    known: Collection[str],
    ahead: int = _AHEAD,
) -> list[float]:
    """Return what open sentences teach, a word.

    Args:
        parses: of the first of them.
        texts: words of all of them, in which new words are counted.
        known: words that the parser knows, in small letters.
        ahead: how many are chosen one after the other; for the rest it is what is then left to learn.
    """
    times = Counter(word.lower() for words in texts for word in words)
    new = [{word.lower() for word in words} - set(known) for words in texts[: len(parses)]]
    mistakes = [_MISTAKE * expected_errors(parse) for parse in parses]
    lengths = [len(words) + _OVERHEAD for words in texts]
    taught: set[str] = set()

    def gain(at: int) -> float:
        return (sum(log(times[word]) for word in new[at] - taught) + mistakes[at]) / lengths[at]

    gains: dict[int, float] = {}
    rest = set(range(len(parses)))
    for _ in range(min(ahead, len(parses))):
        gains_now = {at: gain(at) for at in sorted(rest)}
        best = max(gains_now, key=gains_now.__getitem__)
        gains[best] = gains_now[best]
        rest.remove(best)
        taught |= new[best]
    gains |= {at: gain(at) for at in rest}
    return [gains[at] for at in range(len(parses))]


def next_place(
    places: Sequence[Place], accepted: Sequence[Place], gains: Mapping[Place, float], after: Place | None
) -> Place | None:
    """The open sentence to annotate next.

    Args:
        places: of all sentences, in order.
        accepted: those that are done.
        gains: of open sentences, as far as they are known; without any, the next of the text is taken.
        after: the sentence that is shown now; it comes last.

    Returns:
        Its place; None where all are accepted.
    """
    done = set(accepted)
    rest = [place for place in places if place not in done and place != after]
    if not rest:
        return after if after is not None and after not in done else None
    known = [place for place in rest if place in gains]
    if not known:
        return next((place for place in rest if after is None or place > after), rest[0])
    return max(known, key=lambda place: gains[place])
