"""spaCy scorers for constituents (as labelled spans and by EVALB), tags, and labels of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from spacy.scorer import Scorer, get_ner_prf
from spacy.tokens import Doc, Span
from spacy.training import Example

from spectralnlp.scoring import EvalbScore, SentenceCounts, count_sentence
from spectralnlp.trees import add_root
from spectralnlp_spacy.constituents import KEY, tree_of
from spectralnlp_spacy.sentences import sentence_bounds, words_of

Scores = dict[str, Any]


def make_span_scorer() -> Callable[..., Scores]:
    """Return `score_constituents`, known in spaCy configs as ``spectralnlp.constituent_scorer.v1``."""
    return score_constituents


def make_evalb_scorer() -> Callable[..., Scores]:
    """Return `score_evalb`, known in spaCy configs as ``spectralnlp.evalb_scorer.v1``."""
    return score_evalb


def make_parser_scorer() -> Callable[..., Scores]:
    """Return `score_parser`, known in spaCy configs as ``spectralnlp.parser_scorer.v1``."""
    return score_parser


def score_parser(examples: Iterable[Example], **settings: Any) -> Scores:
    """Score constituents both by EVALB and as labelled spans; return the scores by name."""
    examples = list(examples)
    return score_evalb(examples, **settings) | score_constituents(examples, **settings)


def score_constituents(examples: Iterable[Example], *, spans_key: str = KEY, **settings: Any) -> Scores:
    """Score constituents as spaCy scores labelled spans: ``constituents_p``, ``_r``, ``_f``, ``_per_type``.

    All constituents are counted, including white space and punctuation.

    Args:
        examples: examples; those without gold constituents are ignored.
        spans_key: key of the constituents in ``doc.spans``.
        settings: ignored.
    """
    return _score_group(examples, spans_key, name=KEY)


def _score_group(examples: Iterable[Example], key: str, name: str) -> Scores:
    """Score the labelled spans in ``doc.spans[key]`` as spaCy does.

    Args:
        examples: examples; those whose gold document has no ``doc.spans[key]`` are ignored.
        key: key of the spans in ``doc.spans``.
        name: prefix of the names of the scores.
    """

    def has_group(doc: Doc) -> bool:
        return key in doc.spans

    def group(doc: Doc, _: str) -> Sequence[Span]:
        return list(doc.spans.get(key, ()))

    scores: Scores = Scorer.score_spans(
        examples, name, getter=group, has_annotation=has_group, allow_overlap=True
    )
    return scores


def score_evalb(examples: Iterable[Example], *, spans_key: str = KEY, **settings: Any) -> Scores:
    """Score constituents by EVALB, from 0 to 1: ``evalb_r``, ``evalb_p``, ``evalb_f``, ``evalb_complete``.

    With Collins' parameters, punctuation and TOP are not counted. Scores are over gold sentences: if the
    predicted boundaries differ, the predicted constituents within a gold sentence are compared. Sentences
    that EVALB cannot score, such as those whose tokens differ from the gold tokens, are left out;
    ``evalb_errors`` is their share of all sentences.

    Args:
        examples: examples; those without gold constituents are ignored.
        spans_key: key of the constituents in ``doc.spans``.
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
            tree = add_root(tree_of(predicted, key, start, end)) if parsed else None
            yield count_sentence(add_root(tree_of(gold, key, start, end)), tree)


def make_tagger_scorer() -> Callable[..., Scores]:
    """Return `score_tags`, known in spaCy configs as ``spectralnlp.tagger_scorer.v1``."""
    return score_tags


def score_tags(
    examples: Iterable[Example], *, attribute: str = "tag", spans_key: str = "chunks", **settings: Any
) -> Scores:
    """Score tags with spaCy's scorers; return ``tag_acc``, ``pos_acc``, ``ents_f`` or ``chunks_f`` etc.

    Args:
        examples: examples; those without gold annotation are ignored.
        attribute: where the tagger writes tags: ``tag``, ``pos``, ``ents`` or ``spans``.
        spans_key: if ``attribute`` is ``spans``, key of the spans in ``doc.spans`` and prefix of the names of
            the scores: ``chunks_p``, ``chunks_r``, ``chunks_f``.
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
    """Return `score_cats`, known in spaCy configs as ``spectralnlp.textcat_scorer.v1``."""
    return score_cats


def score_cats(
    examples: Iterable[Example], *, labels: Sequence[str], threshold: float | None = None, **settings: Any
) -> Scores:
    """Score exclusive labels of texts: ``cats_score``, ``cats_micro_f`` (the accuracy) and others.

    Args:
        examples: examples; those without gold labels are ignored.
        labels: labels of the classifier.
        threshold: minimum probability of a predicted label.
        settings: ignored.
    """
    labelled = [example for example in examples if example.reference.cats]
    if not labelled:
        return {"cats_score": None}
    scores: Scores = Scorer.score_cats(
        labelled, "cats", labels=labels, multi_label=False, threshold=threshold
    )
    return scores
