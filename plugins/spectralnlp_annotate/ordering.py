"""Choose the next sentence to annotate: the one from which the parser gains most, or the next in the text.

The gain of a sentence is an estimate of how much its annotation improves the parser. It is the sum of two
parts, divided by the sentence's length, because reading time grows with the length:

- For each word that the parser does not know, the logarithm of the word's frequency in all open sentences,
  which are those without an accepted tree. In a new domain, a parser lacks the tags of such words most.
- The expected number of wrong brackets of the parser's tree, the sum of 1 - p over brackets of posterior p
  (Hwa 2004, "Sample selection for statistical parsing", uses the entropy of the tree instead). Its weight is
  small, because the annotator must correct these brackets, which takes time.

Sentences are chosen greedily. An unknown word counts only in the first sentence chosen with it, so that the
chosen sentences are spread over the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import log

from spectralnlp.trees.parse import Parse

Place = tuple[int, int]

# Weight of an expected wrong bracket, relative to a new word that occurs e = 2.7 times.
_MISTAKE = 0.1
# Added to the length of a sentence, because very short sentences teach little.
_OVERHEAD = 4
# Number of sentences that are chosen greedily; the others are valued as if each came next.
_AHEAD = 50


def expected_errors(parse: Parse) -> float:
    """Return the expected number of wrong brackets of a parse.

    For a parse without posteriors, return its length in words.
    """
    if parse.fallback is not None and not parse.constituents:
        return float(len(parse.tree.words()))
    return float(sum(1.0 - each.posterior for each in parse.constituents))


def expected_gains(
    parses: Sequence[Parse],
    texts: Sequence[Sequence[str]],
    known: Collection[str],
    ahead: int = _AHEAD,
) -> list[float]:
    """Return how much the parser is expected to gain, per word, from the annotation of each open sentence.

    Open sentences are those without an accepted tree; the module docstring defines the gain.

    Args:
        parses: parses of the first open sentences.
        texts: words of all open sentences, in which new words are counted.
        known: words that the parser knows, in lower case.
        ahead: number of sentences that are chosen greedily. The gains of all other sentences are computed as
            if the chosen ones had been annotated.

    Returns:
        A gain for each parse.
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
    """Return the sentence to annotate next: the one with the largest gain among those not accepted yet.

    Args:
        places: all sentences in order, as (index of the document, index of the sentence).
        accepted: sentences with an accepted tree.
        gains: expected gains of sentences; if there are none, sentences are taken in the order of the text.
        after: the sentence that is shown now, returned only if no other is left; None at the start.

    Returns:
        Indices of the next sentence, as in ``places``; None if all sentences are accepted.
    """
    done = set(accepted)
    rest = [place for place in places if place not in done and place != after]
    if not rest:
        return after if after is not None and after not in done else None
    known = [place for place in rest if place in gains]
    if not known:
        return next((place for place in rest if after is None or place > after), rest[0])
    return max(known, key=lambda place: gains[place])
