"""Training examples of a span scorer: the span options and token values of many sentences, concatenated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.rescoring.options import SpanOptions
from spectralnlp.inference.trees.rescoring.values import TokenValues
from spectralnlp.parameters import Ints, Offsets
from spectralnlp.runtime import concatenated, current_memory, offsets_of

# Gold values of a span that is no bracket in the gold tree, or whose gold label is not among its options.
NO_BRACKET, NOT_AN_OPTION = -1, -2


@dataclass(frozen=True)
class Example:
    """A training sentence of a span scorer.

    Attributes:
        options: candidate labels of the sentence's spans, from grammars that were not trained on it.
        tokens: the feature values of the sentence's tokens.
        gold: int32 (n_spans,); index in ``options`` of the span's label in the gold tree; NO_BRACKET if the
            span is no constituent of the gold tree, NOT_AN_OPTION if ``options`` lack its label.
    """

    options: SpanOptions
    tokens: TokenValues
    gold: Ints


def spill_examples(examples: Sequence[Example]) -> Sequence[Example]:
    """Return the same examples, with their arrays stored in files if a memory limit is set.

    Raises:
        ConfigError: the disk is full, or the process uses more memory than the limit.
    """
    if current_memory() is None or not examples:
        return examples
    options = (_spilled(column) for column in zip(*(each.options for each in examples), strict=True))
    tokens = (_spilled(column) for column in zip(*(each.tokens for each in examples), strict=True))
    gold = _spilled([each.gold for each in examples])
    parts = zip(zip(*options, strict=True), zip(*tokens, strict=True), gold, strict=True)
    return [Example(SpanOptions(*some), TokenValues(*values), each) for some, values, each in parts]


def _spilled(arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return the same arrays as slices of one array that is stored in a file."""
    return np.split(concatenated(arrays), np.cumsum([len(each) for each in arrays])[:-1])


class ExampleTable(NamedTuple):
    """The training sentences of a span scorer in one table.

    Attributes:
        options: the options (candidate labels of spans) of all sentences, concatenated.
        tokens: the token values of all sentences, concatenated, each sentence with its padding.
        gold: int64 (n_spans,); the span's gold option in ``options``, or NO_BRACKET or NOT_AN_OPTION.
        spans, token_offsets: int64 (n_examples + 1,); first span and first token of each sentence.
    """

    options: SpanOptions
    tokens: TokenValues
    gold: Offsets
    spans: Offsets
    token_offsets: Offsets

    @classmethod
    def of(cls, examples: Sequence[Example]) -> ExampleTable:
        """Return the table of some training sentences.

        Args:
            examples: one or more; in each, the same number of grammars must have scored the spans.
        """
        parts = [each.options for each in examples]
        n_options = offsets_of([len(each.label) for each in parts])
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
            spans=offsets_of([len(each.start) for each in parts]),
            token_offsets=offsets_of([len(each.tag) for each in parts]),
        )
