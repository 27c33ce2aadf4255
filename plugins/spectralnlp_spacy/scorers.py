"""Scorers of constituents for spaCy: labelled spans, and EVALB."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from spacy.scorer import Scorer
from spacy.tokens import Doc, Span
from spacy.training import Example

from spectralnlp.scoring import EvalbScore, SentenceCounts, count_sentence
from spectralnlp.trees import add_root
from spectralnlp_spacy.constituents import KEY, sentence_bounds, tree_of, words_of

Scores = dict[str, Any]


def make_span_scorer() -> Callable[..., Scores]:
    """``spectralnlp.constituent_scorer.v1``: see `score_constituents`."""
    return score_constituents


def make_evalb_scorer() -> Callable[..., Scores]:
    """``spectralnlp.evalb_scorer.v1``: see `score_evalb`."""
    return score_evalb


def make_parser_scorer() -> Callable[..., Scores]:
    """``spectralnlp.parser_scorer.v1``: both."""
    return score_parser


def score_parser(examples: Iterable[Example], **settings: Any) -> Scores:
    """Both scores of constituents, and of sentence boundaries."""
    examples = list(examples)
    return score_evalb(examples, **settings) | score_constituents(examples, **settings)


def score_constituents(examples: Iterable[Example], *, spans_key: str = KEY, **settings: Any) -> Scores:
    """Labelled spans as spaCy scores spans: ``constituents_p``, ``_r``, ``_f`` and ``_per_type``.

    All constituents count, and white space and punctuation do too.

    Args:
        examples: with gold constituents; others are passed over.
        spans_key: the group that holds constituents.
        settings: ignored.
    """

    def has_constituents(doc: Doc) -> bool:
        return spans_key in doc.spans

    def constituents(doc: Doc, _: str) -> Sequence[Span]:
        return list(doc.spans.get(spans_key, ()))

    scores: Scores = Scorer.score_spans(
        examples, KEY, getter=constituents, has_annotation=has_constituents, allow_overlap=True
    )
    return scores


def score_evalb(examples: Iterable[Example], *, spans_key: str = KEY, **settings: Any) -> Scores:
    """EVALB's recall, precision and F1 in [0, 1]: ``evalb_r``, ``evalb_p``, ``evalb_f``, ``evalb_complete``.

    Punctuation and TOP are not counted, as Collins' parameters have it. Gold sentences count; where the
    prediction has other boundaries, what it has within a gold sentence is its tree. Sentences whose tokens
    differ from the gold ones cannot be scored and are left out: ``evalb_errors`` is their share.

    Args:
        examples: with gold constituents; others are passed over.
        spans_key: the group that holds constituents.
        settings: ignored.
    """
    counts = [count for example in examples for count in _count_sentences(example, spans_key)]
    if not counts:
        return dict.fromkeys(("evalb_p", "evalb_r", "evalb_f", "evalb_complete", "evalb_errors"))
    score = EvalbScore.total(counts)
    return {
        "evalb_p": score.precision / 100,
        "evalb_r": score.recall / 100,
        "evalb_f": score.f1 / 100,
        "evalb_complete": score.complete_match / 100,
        "evalb_errors": (score.errors + score.skipped) / score.sentences,
    }


def _count_sentences(example: Example, key: str) -> Iterable[SentenceCounts]:
    gold, predicted = example.reference, example.predicted
    if key not in gold.spans or not len(gold.spans[key]):
        return
    same_tokens = [token.text for token in gold] == [token.text for token in predicted]
    parsed = key in predicted.spans and same_tokens
    for start, end in sentence_bounds(gold):
        if words_of(gold, start, end):
            found = add_root(tree_of(predicted, key, start, end)) if parsed else None
            yield count_sentence(add_root(tree_of(gold, key, start, end)), found)
