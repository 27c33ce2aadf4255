"""Options and token values of many sentences, end to end: the examples that a span scorer learns from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.rescoring.options import SpanOptions
from spectralnlp.inference.trees.rescoring.values import TokenValues
from spectralnlp.parameters import Ints, Offsets
from spectralnlp.runtime import concatenated, current_memory

# Gold options: the span is no bracket, or one that is not among its options.
NO_BRACKET, NOT_AN_OPTION = -1, -2


@dataclass(frozen=True)
class Example:
    """A training sentence.

    Attributes:
        options: of its spans, by grammars that never saw it.
        tokens: of its tokens.
        gold: int32 (n_spans,); the option that the gold tree has, counted from the sentence's first one,
            or NO_BRACKET or NOT_AN_OPTION.
    """

    options: SpanOptions
    tokens: TokenValues
    gold: Ints


def spill_examples(examples: Sequence[Example]) -> Sequence[Example]:
    """Return examples whose arrays lie in files if memory is limited; errors as of `concatenated`."""
    if current_memory() is None or not examples:
        return examples
    options = (_spilled(column) for column in zip(*(each.options for each in examples), strict=True))
    tokens = (_spilled(column) for column in zip(*(each.tokens for each in examples), strict=True))
    gold = _spilled([each.gold for each in examples])
    parts = zip(zip(*options, strict=True), zip(*tokens, strict=True), gold, strict=True)
    return [Example(SpanOptions(*some), TokenValues(*values), each) for some, values, each in parts]


def _spilled(arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """The same arrays as parts of one in a file."""
    return np.split(concatenated(arrays), np.cumsum([len(each) for each in arrays])[:-1])


class ExampleTable(NamedTuple):
    """All examples.

    Attributes:
        options: of all sentences.
        tokens: of all sentences, each with its margins.
        gold: int64 (n_spans,); of each span, the option or a negative number as in `Example`.
        spans, token_offsets: int64 (n_examples + 1,); where the sentences' spans and tokens begin.
    """

    options: SpanOptions
    tokens: TokenValues
    gold: Offsets
    spans: Offsets
    token_offsets: Offsets

    @classmethod
    def of(cls, examples: Sequence[Example]) -> ExampleTable:
        """Lay examples, one or more, end to end; their grammars are as many."""
        parts = [each.options for each in examples]
        n_options = np.cumsum([0, *(len(each.label) for each in parts)])
        first = [each.first[1:] + base for each, base in zip(parts, n_options[:-1], strict=True)]
        gold = [
            np.where(each.gold >= 0, each.gold + base, each.gold)
            for each, base in zip(examples, n_options[:-1], strict=True)
        ]
        options = SpanOptions(*(concatenated(column) for column in zip(*parts, strict=True)))
        tokens = zip(*(each.tokens for each in examples), strict=True)
        return cls(
            options=options._replace(first=np.concatenate([np.zeros(1, np.int64), *first])),
            tokens=TokenValues(*(concatenated(column) for column in tokens)),
            gold=np.concatenate(gold).astype(np.int64),
            spans=np.cumsum([0, *(len(each.start) for each in parts)]),
            token_offsets=np.cumsum([0, *(len(each.tag) for each in parts)]),
        )
