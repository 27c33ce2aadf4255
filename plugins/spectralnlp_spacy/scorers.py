"""Scorers for spaCy: of constituents, as labelled spans and by EVALB, of tags and of labels of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from spacy.scorer import Scorer, get_ner_prf
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
    return _score_group(examples, spans_key, name=KEY)


def _score_group(examples: Iterable[Example], key: str, name: str) -> Scores:
    """Labelled spans of one group, called ``name`` in the scores."""

    def has_group(doc: Doc) -> bool:
        return key in doc.spans

    def group(doc: Doc, _: str) -> Sequence[Span]:
        return list(doc.spans.get(key, ()))

    scores: Scores = Scorer.score_spans(
        examples, name, getter=group, has_annotation=has_group, allow_overlap=True
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


def make_tagger_scorer() -> Callable[..., Scores]:
    """``spectralnlp.tagger_scorer.v1``: see `score_tags`."""
    return score_tags


def score_tags(
    examples: Iterable[Example], *, attribute: str = "tag", spans_key: str = "chunks", **settings: Any
) -> Scores:
    """Tags as spaCy scores them: ``tag_acc``, ``pos_acc``, ``ents_f`` or, of spans, ``chunks_f``.

    Args:
        examples: with gold annotation; others are passed over.
        attribute: of the tagger.
        spans_key: the group that holds spans; the scores are named after it.
        settings: ignored.
    """
    scores: Scores
    if attribute in ("tag", "pos"):
        scores = Scorer.score_token_attr(examples, attribute)
    elif attribute == "ents":
        scores = get_ner_prf(examples)
    else:
        scores = _score_group(examples, spans_key, name=spans_key)
    return scores


def make_textcat_scorer() -> Callable[..., Scores]:
    """``spectralnlp.textcat_scorer.v1``: see `score_cats`."""
    return score_cats


def score_cats(
    examples: Iterable[Example], *, labels: Sequence[str], threshold: float | None = None, **settings: Any
) -> Scores:
    """Scores of exclusive labels: ``cats_score``, ``cats_micro_f``, which is the accuracy, and so on.

    Args:
        examples: with gold labels; others are passed over, as in a corpus that holds treebanks too.
        labels: of the classifier.
        threshold: least probability of a label that counts.
        settings: ignored.
    """
    labelled = [example for example in examples if example.reference.cats]
    if not labelled:
        return {"cats_score": None}
    scores: Scores = Scorer.score_cats(
        labelled, "cats", labels=labels, multi_label=False, threshold=threshold
    )
    return scores
