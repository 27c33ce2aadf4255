"""Which sentence next: the one from which the parser learns most, or the next of the text.

What a sentence teaches is what the parser expects to get wrong there. The expectation is that of its own
posteriors: a bracket of posterior p is wrong with probability 1 - p (Hwa 2004, "Sample selection for
statistical parsing", uses the entropy of the tree in the same place). Per word, for the work of reading grows
with the words; and not where a neighbour has just been annotated, whose sentences are alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spectralnlp.trees.parse import Parse

Place = tuple[int, int]

# Sentences on either side of an accepted one count less, down to half for the next.
_NEAR = 5
# Words that reading a sentence costs beside its own: very short ones teach little.
_OVERHEAD = 4


def expected_errors(parse: Parse) -> float:
    """The number of brackets of a parse that its model expects to be wrong; a fallback's are all wrong."""
    if parse.fallback is not None and not parse.constituents:
        return float(len(parse.tree.words()))
    return float(sum(1.0 - each.posterior for each in parse.constituents))


def gain(parse: Parse) -> float:
    """Expected errors a word."""
    return expected_errors(parse) / (len(parse.tree.words()) + _OVERHEAD)


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
    return max(known, key=lambda place: gains[place] * _freshness(place, done))


def _freshness(place: Place, done: set[Place]) -> float:
    """From 1 far from all that was accepted down to a half beside it."""
    document, number = place
    distances = [
        away for away in range(1, _NEAR + 1) for side in (-away, away) if (document, number + side) in done
    ]
    return 1.0 if not distances else 0.5 + 0.5 * (min(distances) - 1) / _NEAR
