"""The factories of the components. spaCy imports this module with every pipeline, so it is light."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from spacy.language import Language

if TYPE_CHECKING:
    from spectralnlp_spacy.parser import SpectralParser

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
