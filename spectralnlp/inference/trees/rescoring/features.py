"""Describe the features by which a span scorer scores a bracket, with their weights, for explanations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from spectralnlp.inference.evidence import Feature
from spectralnlp.inference.trees.open_cells import CellMarginals
from spectralnlp.inference.trees.rescoring.options import span_options
from spectralnlp.inference.trees.rescoring.rescorer import SpanRescorer, number_known
from spectralnlp.inference.trees.rescoring.scores import describe_span, make_workspace
from spectralnlp.inference.trees.rescoring.span_values import (
    likely_brackets,
    set_option_values,
    set_span_values,
)
from spectralnlp.inference.trees.rescoring.tokens import hash_name, shape_of
from spectralnlp.inference.trees.rescoring.values import MARGIN, NOTHING, TokenValues, Value
from spectralnlp.inference.trees.scored_forest import ScoredForest
from spectralnlp.jit import kernel
from spectralnlp.text.constraints import Bracket

# Values that are small integers; all others are hashed names of words, tags, labels or shapes, or clusters.
_NUMBERS = frozenset(
    "LENGTH PLACE COMMAS QUOTES PARENT_MARGINS POSTERIOR SPREAD RANK HEAD_MARGINS".split()  # noqa: SIM905
)
GRAMMARS = "what the grammars say"  # the feature that sums an option's log-odds and other real numbers
_OUTSIDE = {1: "(start)", 2: "(end)"}


def bracket_features(
    rescorer: SpanRescorer,
    forests: Mapping[int, ScoredForest],
    words: Sequence[str],
    bracket: Bracket,
    cell_marginals: CellMarginals | None,
) -> list[Feature]:
    """Return a bracket's features by decreasing magnitude of weight; the weights sum to its score.

    The text of a feature lists the values that it combines as ``name=value``. Features of weight 0 are left
    out. The score is relative to the score of "no bracket", which is 0.

    Args:
        rescorer: the span scorer.
        forests: the sentence's forests before rescoring, by index of the binarisation.
        words: the tokens of the sentence.
        bracket: a bracket with a label; if several unary chains over the span contain the label, the most
            probable of them is scored.
        cell_marginals: marginals of the spans that the parser considered; None without a model of cells.

    Returns:
        The features; an empty list if no forest has the bracket.
    """
    shared, table = rescorer.shared, rescorer.table
    maps = [shared.maps[number] for number in forests]
    options, _ = span_options(list(forests.values()), maps, shared.labels, len(words), cell_marginals)
    names, pairs = shared.names, shared.labels.pairs.tolist()
    of_option = [(name,) for name in names] + [tuple(names[label] for label in pair) for pair in pairs]
    span = np.flatnonzero((options.start == bracket.start) & (options.end == bracket.end))
    rows = [
        row
        for s in span.tolist()
        for row in range(options.first[s], options.first[s + 1])
        if bracket.label in of_option[options.label[row]]
    ]
    if not rows:
        return []
    row = max(rows, key=lambda each: float(options.posterior[each].mean()))
    tokens = rescorer.tokens.read(words, options.tag)
    values, places, numbers = _features_of(
        int(span[0]), row, options, tokens, rescorer.labels, table, rescorer.known
    )
    texts = _texts(rescorer, words, tokens)
    present = [
        [Value(value) for value in template if value >= 0]
        for template in table.tolist()
        if all(values[value] != NOTHING for value in template if value >= 0)
    ]
    found = [
        Feature(_text(template, values, texts), float(rescorer.known.weights[place]))
        for template, place in zip(present, places.tolist(), strict=True)
    ]
    numbers_weight = rescorer.scorer.number_weights
    found.append(Feature(GRAMMARS, float(numbers[0] + numbers[: len(numbers_weight)] @ numbers_weight)))
    return sorted((each for each in found if each.weight), key=lambda each: -abs(each.weight))


@kernel
def _features_of(s, option, options, tokens, labels, table, known):
    """Compute the features of one option (candidate label of a span), to explain its score.

    Args:
        s: index of the span.
        option: index of the option in ``options``.
        options: `SpanOptions` of the sentence.
        tokens: `TokenValues` of the sentence.
        labels: `LabelValues`.
        table: int64; the templates, from `template_table`.
        known: `KnownFeatures`, the weights of hashed features.

    Returns:
        uint64 (N_VALUES,), the values that the templates combine; int32 (n_features,), the index in
        ``known.weights`` of each hashed feature; and float64 (N_NUMBERS,), the real-valued features.
    """
    brackets = likely_brackets(options, 0, len(options.start), tokens, labels)
    work = make_workspace(options.first, len(table))
    describe_span(s, options, tokens, labels, brackets, table, work)
    first = options.first[s]
    number_known(known, options.first[s + 1] - first, work)
    start, end = options.start[s], options.end[s]
    set_span_values(start, end, tokens, labels, brackets, work.values)
    mean, rank = options.posterior[option].mean(), 0
    for other in range(first, options.first[s + 1]):
        rank += options.posterior[other].mean() > mean
    spread = work.numbers[option - first, 4]
    set_option_values(start, end, options.label[option], mean, spread, rank, tokens, labels, work.values)
    row = option - first
    return work.values, work.buckets[row, : work.n_features[row]], work.numbers[row]


def _texts(rescorer: SpanRescorer, words: Sequence[str], tokens: TokenValues) -> dict[int, str]:
    """Return the text (word, shape, tag or label) of each hash that a sentence's features can contain."""
    shared = rescorer.shared
    texts = dict(_OUTSIDE)
    for name in shared.names:
        texts[hash_name("tag", name)] = texts[hash_name("label", name)] = name
    for top, bottom in shared.labels.pairs.tolist():
        texts[hash_name("unary", shared.names[top], shared.names[bottom])] = (
            f"{shared.names[top]} over {shared.names[bottom]}"
        )
    for place, word in enumerate(words, MARGIN):
        texts[int(tokens.shape[place])] = shape_of(word)
        texts[int(tokens.word[place])] = word
    return texts


def _text(template: Sequence[Value], values: np.ndarray, texts: Mapping[int, str]) -> str:
    parts = []
    for value in template:
        number, name = int(values[value]), value.name.lower()
        is_number = value.name in _NUMBERS or "COARSE" in value.name or "FINE" in value.name
        shown = str(number) if is_number else texts.get(number)
        parts.append(name if shown is None else f"{name}={shown}")
    return " ".join(parts)
