"""Finer tags: those to learn, told apart by the tags of a second column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from spectralnlp.errors import InputError
from spectralnlp.parameters import Ints
from spectralnlp.text.conll import TaggedSentence

# Pairs of a tag and a finer one that are seen less often are the tag alone.
_FEWEST_SEEN = 30


@dataclass(frozen=True)
class FineTags:
    """Sentences with fine tags.

    Attributes:
        sentences: words and the names of fine tags.
        names: of fine tags, sorted.
        tag_of: int32 (n_fine,); the number of each one's tag.
    """

    sentences: list[TaggedSentence]
    names: tuple[str, ...]
    tag_of: Ints


def checked(
    corpus: Iterable[Sequence[Sequence[str]]], *, with_finer: bool
) -> tuple[list[tuple[tuple[str, ...], tuple[str, ...]]], list[tuple[str, ...]]]:
    """Return the sentences that have words, and their finer tags.

    Raises:
        InputError: there are none, or one has more words than tags, or no finer tags.
    """
    given = [tuple(tuple(each) for each in sentence) for sentence in corpus if len(sentence[0])]
    for words, *columns in given:
        if len(columns) < 1 + with_finer:
            raise InputError("a sentence without finer tags", hint="give words, tags and finer tags")
        for tags in columns:
            if len(words) != len(tags):
                raise InputError(f"{len(tags)} tags for {len(words)} words: {' '.join(words[:8])} …")
    if not given:
        raise InputError("no tagged sentences to learn from")
    finer = [sentence[2] for sentence in given] if with_finer else []
    return [(sentence[0], sentence[1]) for sentence in given], finer


def refine(
    sentences: Sequence[TaggedSentence], finer: Sequence[Sequence[str]], names: Sequence[str]
) -> FineTags:
    """Tell tags apart by a second column's, where both are seen together often enough.

    Args:
        sentences: words and tags.
        finer: of each sentence the tags of the second column.
        names: of the tags.
    """
    pairs = [tuple(zip(tags, fine, strict=True)) for (_, tags), fine in zip(sentences, finer, strict=True)]
    seen = Counter(pair for each in pairs for pair in each)
    often = {pair for pair, n_seen in seen.items() if n_seen >= _FEWEST_SEEN}
    # Two numbers, so that no tag is read as one of a span.
    numbered = {name: number for number, name in enumerate(sorted({fine for _, fine in often}), 1)}
    number_of = {name: number for number, name in enumerate(names)}

    def fine_name(pair: tuple[str, str]) -> str:
        return f"{number_of[pair[0]]}.{numbered[pair[1]] if pair in often else 0}"

    refined = [
        (words, tuple(fine_name(pair) for pair in each))
        for (words, _), each in zip(sentences, pairs, strict=True)
    ]
    # Every tag has a fine one, seen or not.
    fine_names = sorted(
        {name for _, tags in refined for name in tags} | {f"{n}.0" for n in range(len(names))}
    )
    tag_of = np.array([int(name.partition(".")[0]) for name in fine_names], np.int32)
    return FineTags(list(refined), tuple(fine_names), tag_of)
