"""Counts of how words are written, for models that tokenise as their training data did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from spectralnlp.runtime import Counts, Joint, Key, Moments
from spectralnlp.text.conventions import Conventions, token_boundaries
from spectralnlp.trees import Tree


class WordSeams(Counts[Any]):
    """How often each word occurs, and what may be one word split: what conventions are learned from.

    An example is a tree, or words with their tags.
    """

    def events(self, example: Any) -> Iterator[Key]:
        """Yield the words and triples of `token_boundaries`."""
        return token_boundaries(example.words() if isinstance(example, Tree) else example[0])


def with_seams(moments: Moments[Any]) -> Joint[Any]:
    """An estimator's moments, and counts of how words are written."""
    return Joint({"estimator": moments, "seams": WordSeams()})


def without_seams(both: Joint[Any]) -> tuple[Moments[Any], Conventions]:
    """The estimator's moments, and the conventions of all words counted."""
    seams = cast(WordSeams, both.parts["seams"])
    return both.parts["estimator"], Conventions.of_counts(dict(seams.items()))
