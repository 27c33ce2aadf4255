"""Error and warning messages of the spaCy components, with codes such as ``SN001``."""

from __future__ import annotations

from spacy.errors import ErrorsWithCodes

from spectralnlp.errors import ConfigError


class ComponentError(ConfigError, ValueError):
    """Error raised by one of the spaCy components; also a ValueError, like spaCy's own errors."""


class Errors(metaclass=ErrorsWithCodes):
    """Templates of error messages, to be filled in with ``format``."""

    SN001 = "The component '{name}' cannot load the model {model!r}: {reason}"
    SN002 = (
        "The component '{name}' has no model, and none is installed for the language {lang!r}{how}. Name one "
        'in its config ({{"model": "DIR"}}; installed are {installed}), train it with '
        "nlp.initialize(get_examples), or load a trained pipeline with spacy.load"
    )
    SN003 = (
        "The component '{name}' needs examples with {needed}, but none of the {n_examples} examples has it. "
        "Pass such examples to nlp.initialize(get_examples), or keep the present model of the component: add "
        "'{name}' to frozen_components, or disable it with nlp.select_pipes while the others are initialized"
    )
    SN004 = "The component '{name}' has a model for {kind!r}, but it needs one for {task!r}: {model}"
    SN005 = "The component '{name}' cannot be trained: {reason}"
    SN006 = "The components '{name}' and '{other}' would both write {place}. Remove one of them{remedy}"
    SN007 = "The estimator {estimator!r} is for {task!r}, but the component '{name}' needs one for {needed!r}"
    SN008 = "'{name}': max_length must be a number of words of at least 1, not {max_length}"
    SN009 = "'{name}': use_tags must be one of {known}, not {use_tags!r}"
    SN025 = "'{name}': use_dependencies must be one of {known}, not {use_dependencies!r}"
    SN010 = (
        "doc.spans[{key!r}] has no constituents. Add 'spectral_parser' to the pipeline, or name the group "
        "that your parser writes to: spectralnlp_spacy.install_extensions(spans_key=...). If the document "
        "comes from span.as_doc(), which copies no spans, use span._.as_doc()"
    )
    SN011 = "{span!r} is not a constituent. list(span.sent._.constituents) gives all constituents"
    SN012 = "The constituents in doc.spans[{key!r}] do not nest: {label} over tokens {start} to {end}"
    SN013 = (
        "The extension {owner}._.{extension} is taken by another package. Give the component a prefix in its "
        "config: {{'prefix': 'spectral_'}}"
    )
    SN014 = "nltk.Tree objects need nltk, which is not installed: pip install nltk"
    SN015 = "The sentence {sentence!r} has words without a part of speech: set token.tag_ of each"
    SN016 = (
        "'{name}': k_best takes one sentence with words, but there are {found}. For a document of several: "
        "[parser.k_best(sentence) for sentence in doc.sents]"
    )
    SN017 = (
        "'{name}': in doc.spans[{key!r}], {label!r} over tokens {start} to {end} reaches beyond its sentence"
    )
    SN018 = "'{name}': doc.spans[{key!r}] in {sentence!r}, tokens counted from its first: {reason}"
    SN019 = "'{name}': {reason}"

    SN020 = "'{name}' cannot tag {attribute!r}; choose from {known}"
    SN021 = "'{name}' needs {place} of every word, but some lack it in: {sentence}"
    SN022 = "'{name}' takes spans that do not overlap, but in {place} {label} and {other} do"
    SN023 = "'{name}' takes one label per text, but {text!r} has {labels}"
    SN024 = (
        "The component '{name}' writes {place}, but tags of the model {model!r} are not spans, but {tags} …. "
        "Give it a tagger that was trained on B-, I- and O (or BIOES), or another attribute"
    )


class Warnings(metaclass=ErrorsWithCodes):
    """Templates of warnings; a component gives each warning once."""

    SW001 = (
        "'{name}' got a document without sentence boundaries and has set them. Put a component that sets "
        "them before it ('sentencizer', 'senter', 'parser') to decide yourself, or set its "
        "split_sentences to false to take each document as one sentence"
    )
    SW002 = (
        "'{name}' parsed a sentence of more than max_length = {max_length} words in pieces under TOP; "
        "span._.fallback says which sentences. Set max_length higher to parse them whole, in time that grows "
        "with the cube of their length"
    )
    SW003 = (
        "'{name}' uses tags and dependencies of the documents as evidence for its trees, as in the training "
        "of its model. Set use_dependencies to 'evidence' or 'none' to choose yourself"
    )
    SW004 = "'{name}' does not use the dependencies of a sentence as evidence: {reason}"
