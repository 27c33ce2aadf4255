"""Settings of the components, as a pipeline's config has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

AUTO = "auto"  # in place of a model: the installed one of the pipeline's language


@dataclass(frozen=True, kw_only=True)
class PipeSettings:
    """Settings of every component.

    Attributes:
        model: a model folder, or the name of an installed one; ``auto`` for the installed one of the
            pipeline's language; None to have it trained.
        estimator: name of the estimator that `initialize` trains.
        settings: its hyper-parameters; ``preset`` names a preset.
        scorer: makes scores of examples.
    """

    model: str | None = None
    estimator: str
    settings: dict[str, Any] = field(default_factory=dict)
    scorer: Callable[..., dict[str, Any]] | None = None


@dataclass(frozen=True, kw_only=True)
class UpdatedSettings(PipeSettings):
    """Settings of components that ``nlp.update`` can add examples to.

    Attributes:
        keep_examples: whether what `initialize` learns from is kept with the model, so that ``nlp.update``
            can add to it. It reveals the texts.
    """

    keep_examples: bool = False


@dataclass(frozen=True, kw_only=True)
class ParserSettings(PipeSettings):
    """Settings of ``spectral_parser``.

    The installed grammar of a language has its name: ``en`` for English.

    Attributes:
        decoder: how the tree is chosen; None for the model's own way.
        spans_key: where constituents go: ``doc.spans[spans_key]``.
        prefix: of the names under ``span._``.
        set_tags: whether tokens without a ``tag_`` get the tree's.
        split_sentences: whether documents without sentence boundaries get some; otherwise they are taken as
            one sentence.
        max_length: longest sentence, in words, that is parsed as a whole. A longer one is parsed in pieces
            under a node ``TOP``, and marked as a fallback. Time grows with the cube of the length.
        use_tags: what becomes of the ``tag_`` that tokens have already: ``fixed``, the tree must have them;
            ``evidence`` for the tags of rare and unknown words; or ``none``, for the parser listens to a
            tagger of its own, and tags by another one make its trees no better.
        constraints: name of a group of spans, ``doc.spans[constraints]``, that the tree must have as
            constituents, of their label if they have one; documents without it are free. None for no group.
        noun_chunks: whether ``doc.noun_chunks`` are base noun phrases of the trees, in documents without a
            dependency parse.
        dependencies: whether ``token.head`` and ``token.dep_`` are set from the tree, in documents that have
            no dependency parse: Universal Dependencies of English, heads without labels of other languages.
    """

    model: str | None = AUTO
    estimator: str = "lpcfg"
    decoder: str | None = None
    spans_key: str = "constituents"
    prefix: str = ""
    set_tags: bool = True
    split_sentences: bool = True
    max_length: int = 150
    use_tags: str = "none"
    constraints: str | None = None
    noun_chunks: bool = True
    dependencies: bool = False


@dataclass(frozen=True, kw_only=True)
class TaggerSettings(UpdatedSettings):
    """Settings of ``spectral_tagger``.

    Without a ``model``, and until it is trained, the installed tagger of the pipeline's language tags:
    ``en-tagger`` for English, or ``en-upos`` where the attribute is ``pos``.

    Attributes:
        attribute: where tags go: ``tag`` (``token.tag_``), ``pos`` (``token.pos_``), ``ents`` (``doc.ents``)
            or ``spans`` (``doc.spans[spans_key]``).
        spans_key: where ``spans`` go.
        overwrite: whether tags that are there already are replaced.
        overwrite_ents: whether entities that are there already give way to new ones that overlap them;
            otherwise the new ones do. What does not overlap stays in both cases.
        split_sentences: whether documents without sentence boundaries get some; otherwise each is one
            sentence.
    """

    estimator: str = "tagger"
    attribute: str = "tag"
    spans_key: str = "chunks"
    overwrite: bool = True
    overwrite_ents: bool = False
    split_sentences: bool = True


@dataclass(frozen=True, kw_only=True)
class TextcatSettings(UpdatedSettings):
    """Settings of ``spectral_textcat``.

    Attributes:
        threshold: least probability of a label that is taken for the intent.
        prefix: of the names under ``doc._``.
    """

    estimator: str = "intent"
    threshold: float = 0.0
    prefix: str = ""
