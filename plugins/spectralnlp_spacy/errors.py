"""Everything this package complains of, by code, as spaCy does it."""

from __future__ import annotations

from spacy.errors import ErrorsWithCodes

from spectralnlp.errors import ConfigError


class ComponentError(ConfigError, ValueError):
    """A component that cannot do what it was asked. A ValueError, as spaCy's own errors are."""


class Errors(metaclass=ErrorsWithCodes):
    """Messages of errors; fill them in with ``format``."""

    SN001 = "The component '{name}' cannot load the model {model!r}: {reason}"
    SN002 = (
        "The component '{name}' has no model, and none is installed for the language {lang!r}{how}. Name one "
        'in its config ({{"model": "DIR"}}; installed are {installed}), train it with '
        "nlp.initialize(get_examples), or load a trained pipeline with spacy.load"
    )
    SN003 = (
        "The component '{name}' needs examples with {needed}, and in {n_examples} examples there are none. "
        "Give them to nlp.initialize(get_examples), or keep the model that the component has: put '{name}' "
        "into frozen_components, or disable it with nlp.select_pipes while the others are initialized"
    )
    SN004 = "The component '{name}' holds a model for {kind!r}, and it needs one for {task!r}: {model}"
    SN005 = "The component '{name}' cannot be trained: {reason}"
    SN006 = "The components '{name}' and '{other}' would both write {place}. Remove one of them{remedy}"
    SN007 = "The estimator {estimator!r} is for {task!r}, and the component '{name}' needs one for {needed!r}"
    SN008 = "'{name}': max_length is a number of words, at least 1, not {max_length}"
    SN009 = "'{name}': use_tags is one of {known}, not {use_tags!r}"
    SN010 = (
        "doc.spans[{key!r}] holds no constituents. Add 'spectral_parser' to the pipeline, or name the group "
        "that your parser writes to: spectralnlp_spacy.install_extensions(spans_key=...). spaCy's "
        "span.as_doc() copies no spans: span._.as_doc() does"
    )
    SN011 = "{span!r} is no constituent. All that there are: list(span.sent._.constituents)"
    SN012 = "The constituents in doc.spans[{key!r}] do not nest: {label} over tokens {start} to {end}"
    SN013 = (
        "The extension {owner}._.{extension} is taken by another package. Give the component a prefix in its "
        "config: {{'prefix': 'spectral_'}}"
    )
    SN014 = "nltk.Tree objects need nltk, which is not installed: pip install nltk"
    SN015 = "The sentence {sentence!r} has words without a part of speech: set token.tag_ of each"
    SN016 = (
        "'{name}': k_best takes one sentence with words, and there are {found}. For a document of several: "
        "[parser.k_best(sentence) for sentence in doc.sents]"
    )
    SN017 = (
        "'{name}': in doc.spans[{key!r}], {label!r} over tokens {start} to {end} reaches beyond its sentence"
    )
    SN018 = "'{name}': doc.spans[{key!r}] in {sentence!r}, tokens counted from its first: {reason}"
    SN019 = "'{name}': {reason}"

    SN020 = "'{name}' cannot tag {attribute!r}: there are {known}"
    SN021 = "'{name}' needs {place} of every word, and some lack it in: {sentence}"
    SN022 = "'{name}' takes spans that do not overlap, and in {place} {label} and {other} do"
    SN023 = "'{name}' takes one label a text, and {text!r} has {labels}"
    SN024 = (
        "The component '{name}' writes {place}, and tags of the model {model!r} are no spans, but {tags} …. "
        "Give it a tagger that was trained on B-, I- and O (or BIOES), or another attribute"
    )


class Warnings(metaclass=ErrorsWithCodes):
    """Messages of warnings; each is given once by a component."""

    SW001 = (
        "'{name}' got a document without sentence boundaries and has set them. Put a component that sets "
        "them before it ('sentencizer', 'senter', 'parser') to decide yourself, or set its "
        "split_sentences to false to take each document as one sentence"
    )
