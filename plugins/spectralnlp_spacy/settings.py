"""Settings of the spaCy components, the options in a pipeline's config."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

AUTO = "auto"  # stands for the installed model of the pipeline's language


@dataclass(frozen=True, kw_only=True)
class PipeSettings:
    """Settings that all spaCy components share.

    Attributes:
        model: a model folder, or the name of an installed model; ``auto`` for the installed model of the
            pipeline's language; None to train one.
        estimator: name of the estimator that `initialize` trains.
        settings: hyper-parameters of the estimator by name; the key ``preset`` selects a preset.
        scorer: function that scores examples.
    """

    model: str | None = None
    estimator: str
    settings: dict[str, Any] = field(default_factory=dict)
    scorer: Callable[..., dict[str, Any]] | None = None


@dataclass(frozen=True, kw_only=True)
class UpdatedSettings(PipeSettings):
    """Settings of components to which ``nlp.update`` can add examples.

    Attributes:
        keep_examples: whether the model keeps its training examples, so that ``nlp.update`` can add new ones.
            The saved model then contains the training texts.
    """

    keep_examples: bool = False


@dataclass(frozen=True, kw_only=True)
class ParserSettings(PipeSettings):
    """Settings of ``spectral_parser``.

    The installed parser of a language is named after the language: ``en`` for English.

    Attributes:
        decoder: name of the decoder; None for the model's default.
        spans_key: name of the group of constituents, ``doc.spans[spans_key]``.
        prefix: prefix of the names of extension attributes (``span._``).
        set_tags: whether tokens without a ``tag_`` get the tag in the tree.
        split_sentences: whether to split documents without sentence boundaries; otherwise each is one
            sentence.
        max_length: maximum length of a sentence, in words, that is parsed as a whole. A longer sentence is
            parsed in pieces under a node ``TOP`` and marked as a fallback. Time grows with the cube of the
            length.
        use_tags: use of a ``tag_`` that tokens already have: ``fixed`` to require it in the tree,
            ``evidence`` to use it for rare and unknown words, ``none`` to ignore it. The parser has its own
            tagger, and tags of another tagger do not improve its trees.
        use_dependencies: use of a dependency parse and tags that tokens already have, by a model that was
            trained with such annotations: ``auto`` and ``evidence`` to use them, if they have the labels of
            the training; ``none`` to ignore them. ``auto`` warns once that it uses them.
        constraints: name of a group of spans, ``doc.spans[constraints]``, that the tree must have as
            constituents, with the label of the span if it has one. None for no constraints.
        noun_chunks: whether ``doc.noun_chunks`` are base noun phrases of the trees, in documents without a
            dependency parse.
        dependencies: whether to set ``token.head`` and ``token.dep_`` from the tree, in documents without a
            dependency parse: Universal Dependencies for English, unlabelled heads for other languages.
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
    use_dependencies: str = "auto"
    constraints: str | None = None
    noun_chunks: bool = True
    dependencies: bool = False


@dataclass(frozen=True, kw_only=True)
class TaggerSettings(UpdatedSettings):
    """Settings of ``spectral_tagger``.

    If ``model`` is None and no tagger has been trained yet, the installed tagger of the pipeline's language
    is used: for English, ``en-tagger`` if ``attribute`` is ``tag``, and ``en-upos`` if it is ``pos``.

    Attributes:
        attribute: where tags are written: ``tag`` (``token.tag_``), ``pos`` (``token.pos_``), ``ents``
            (``doc.ents``) or ``spans`` (``doc.spans[spans_key]``).
        spans_key: key in ``doc.spans`` if ``attribute`` is ``spans``.
        overwrite: whether to replace existing tags.
        overwrite_ents: whether new entities replace existing ones that they overlap; otherwise the existing
            ones are kept. Entities that do not overlap are kept in both cases.
        split_sentences: whether to split documents without sentence boundaries; otherwise each is one
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
        threshold: minimum probability of a label to be the intent; below it, the intent is None.
        prefix: prefix of the names of extension attributes (``doc._``).
    """

    estimator: str = "intent"
    threshold: float = 0.0
    prefix: str = ""
