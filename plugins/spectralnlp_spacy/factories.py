"""Register the factories of the spaCy components.

spaCy imports this module for every pipeline, so it imports the components only when they are created.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from importlib import import_module
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, get_type_hints

from spacy.language import Language

from spectralnlp import __version__
from spectralnlp_spacy.settings import ParserSettings, PipeSettings, TaggerSettings, TextcatSettings

if TYPE_CHECKING:
    from spectralnlp_spacy.component import SpectralPipe


def default_config(kind: type[PipeSettings], scorer: str) -> dict[str, Any]:
    """Return the default config of a component: the defaults of its settings, and its scorer.

    Args:
        kind: class of the component's settings.
        scorer: registered name of the scorer.
    """
    defaults = dict(vars(kind()))  # type: ignore[call-arg]
    return {**{name: defaults[name] for name in defaults if name != "scorer"}, "scorer": {"@scorers": scorer}}


PARSER_CONFIG = default_config(ParserSettings, "spectralnlp.parser_scorer.v1")
TAGGER_CONFIG = default_config(TaggerSettings, "spectralnlp.tagger_scorer.v1")
TEXTCAT_CONFIG = default_config(TextcatSettings, "spectralnlp.textcat_scorer.v1")


def _register(
    component: str,
    kind: type[PipeSettings],
    config: Mapping[str, Any],
    assigns: Sequence[str],
    weights: Mapping[str, float],
) -> Callable[..., SpectralPipe]:
    """Register a spaCy factory, a function that creates a component from values of its settings.

    Args:
        component: module and name of the class, which is imported when a component is created. The factory is
            named after the module: ``spectral_parser``.
        kind: class of the component's settings.
        config: default values of the settings.
        assigns: attributes that the component sets, for spaCy's analysis of pipelines.
        weights: weights of the component's scores in the total score of ``spacy train``.

    Returns:
        The factory function.
    """
    module, _, class_name = component.rpartition(".")

    def make(nlp: Language, name: str, **settings: Any) -> SpectralPipe:
        from spectralnlp_spacy.component import check_alone

        pipe: SpectralPipe = getattr(import_module(module), class_name)(nlp.vocab, name, kind(**settings))
        check_alone(pipe, nlp)
        if name not in nlp._meta.get("pipeline", ()):  # a saved pipeline loads its model later
            pipe.check_source()
        _require(nlp)
        return pipe

    # spaCy validates a config against the signature.
    hints = get_type_hints(kind)
    typed = {"nlp": Language, "name": str, **{each.name: hints[each.name] for each in fields(kind)}}
    make.__signature__ = Signature(  # type: ignore[attr-defined]
        [Parameter(each, Parameter.POSITIONAL_OR_KEYWORD, annotation=typed[each]) for each in typed]
    )
    make.__doc__ = f"Create a component; the parameters are the fields of `{kind.__name__}`."
    Language.factory(
        f"spectral_{module.rpartition('.')[2]}",
        func=make,
        assigns=assigns,
        default_config=dict(config),
        default_score_weights=dict(weights),
    )
    return make


def _require(nlp: Language) -> None:
    """Add spectralnlp to the requirements in a pipeline's description, for ``spacy package``."""
    # `nlp.meta` would drop the components of a saved pipeline that have not been added yet.
    requirements: list[str] = nlp._meta.setdefault("requirements", [])
    if not any(re.match(r"spectralnlp\b", each) for each in requirements):
        major, minor = __version__.split(".")[:2]
        requirements.append(f"spectralnlp[spacy]>={__version__},<{major}.{int(minor) + 1}.0")


make_parser = _register(
    "spectralnlp_spacy.parser.SpectralParser",
    ParserSettings,
    PARSER_CONFIG,
    assigns=["doc.spans", "token.tag", "token.is_sent_start"],
    weights={"evalb_f": 1.0, "evalb_p": 0.0, "evalb_r": 0.0, "constituents_f": 0.0},
)
make_tagger = _register(
    "spectralnlp_spacy.tagger.SpectralTagger",
    TaggerSettings,
    TAGGER_CONFIG,
    assigns=["token.tag", "token.pos", "doc.ents", "doc.spans", "token.is_sent_start"],
    # spaCy has one set of weights per factory; for other attributes, set [training.score_weights].
    weights={"tag_acc": 1.0, "pos_acc": 0.0, "ents_f": 0.0, "chunks_f": 0.0},
)
make_textcat = _register(
    "spectralnlp_spacy.textcat.SpectralTextcat",
    TextcatSettings,
    TEXTCAT_CONFIG,
    assigns=["doc.cats"],
    weights={"cats_score": 1.0, "cats_micro_f": 0.0, "cats_macro_f": 0.0},
)
