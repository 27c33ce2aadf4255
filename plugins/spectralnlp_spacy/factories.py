"""The factories of the components. spaCy imports this module with every pipeline, so it is light."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from spacy.language import Language

if TYPE_CHECKING:
    from spectralnlp_spacy.parser import SpectralParser
    from spectralnlp_spacy.tagger import SpectralTagger
    from spectralnlp_spacy.textcat import SpectralTextcat

PARSER_CONFIG: dict[str, Any] = {
    "model": "en",
    "estimator": "lpcfg",
    "settings": {},
    "decoder": None,
    "spans_key": "constituents",
    "prefix": "",
    "set_tags": True,
    "split_sentences": True,
    "max_length": 150,
    "scorer": {"@scorers": "spectralnlp.parser_scorer.v1"},
}

TAGGER_CONFIG: dict[str, Any] = {
    "model": None,
    "estimator": "tagger",
    "settings": {},
    "attribute": "tag",
    "spans_key": "chunks",
    "overwrite": True,
    "split_sentences": True,
    "scorer": {"@scorers": "spectralnlp.tagger_scorer.v1"},
}

TEXTCAT_CONFIG: dict[str, Any] = {
    "model": None,
    "estimator": "intent",
    "settings": {},
    "threshold": 0.0,
    "prefix": "",
    "scorer": {"@scorers": "spectralnlp.textcat_scorer.v1"},
}


@Language.factory(
    "spectral_parser",
    assigns=["doc.spans", "token.tag", "token.is_sent_start"],
    default_config=PARSER_CONFIG,
    default_score_weights={"evalb_f": 1.0, "evalb_p": 0.0, "evalb_r": 0.0, "constituents_f": 0.0},
)
def make_parser(
    nlp: Language,
    name: str,
    model: str | None,
    estimator: str,
    settings: dict[str, Any],
    decoder: str | None,
    spans_key: str,
    prefix: str,
    set_tags: bool,
    split_sentences: bool,
    max_length: int,
    scorer: Callable[..., dict[str, Any]] | None,
) -> SpectralParser:
    """The factory of ``spectral_parser``; its settings are those of `SpectralParser`."""
    from spectralnlp_spacy.component import check_alone
    from spectralnlp_spacy.parser import SpectralParser

    pipe = SpectralParser(
        nlp.vocab,
        name,
        model=model,
        estimator=estimator,
        settings=settings,
        decoder=decoder,
        spans_key=spans_key,
        prefix=prefix,
        set_tags=set_tags,
        split_sentences=split_sentences,
        max_length=max_length,
        scorer=scorer,
    )
    check_alone(pipe, nlp)
    return pipe


@Language.factory(
    "spectral_tagger",
    assigns=["token.tag", "token.pos", "doc.ents", "doc.spans", "token.is_sent_start"],
    default_config=TAGGER_CONFIG,
    default_score_weights={"tag_acc": 1.0, "pos_acc": 1.0, "ents_f": 1.0, "chunks_f": 1.0},
)
def make_tagger(
    nlp: Language,
    name: str,
    model: str | None,
    estimator: str,
    settings: dict[str, Any],
    attribute: str,
    spans_key: str,
    overwrite: bool,
    split_sentences: bool,
    scorer: Callable[..., dict[str, Any]] | None,
) -> SpectralTagger:
    """The factory of ``spectral_tagger``; its settings are those of `SpectralTagger`."""
    from spectralnlp_spacy.component import check_alone
    from spectralnlp_spacy.tagger import SpectralTagger

    pipe = SpectralTagger(
        nlp.vocab,
        name,
        model=model,
        estimator=estimator,
        settings=settings,
        attribute=attribute,  # type: ignore[arg-type]
        spans_key=spans_key,
        overwrite=overwrite,
        split_sentences=split_sentences,
        scorer=scorer,
    )
    check_alone(pipe, nlp)
    return pipe


@Language.factory(
    "spectral_textcat",
    assigns=["doc.cats"],
    default_config=TEXTCAT_CONFIG,
    default_score_weights={"cats_score": 1.0, "cats_micro_f": 0.0, "cats_macro_f": 0.0},
)
def make_textcat(
    nlp: Language,
    name: str,
    model: str | None,
    estimator: str,
    settings: dict[str, Any],
    threshold: float,
    prefix: str,
    scorer: Callable[..., dict[str, Any]] | None,
) -> SpectralTextcat:
    """The factory of ``spectral_textcat``; its settings are those of `SpectralTextcat`."""
    from spectralnlp_spacy.component import check_alone
    from spectralnlp_spacy.textcat import SpectralTextcat

    pipe = SpectralTextcat(
        nlp.vocab,
        name,
        model=model,
        estimator=estimator,
        settings=settings,
        threshold=threshold,
        prefix=prefix,
        scorer=scorer,
    )
    check_alone(pipe, nlp)
    return pipe
