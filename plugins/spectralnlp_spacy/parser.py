"""Component ``spectral_parser``: a constituency parser that writes constituents to ``doc.spans``."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from spacy.tokens import Doc, Span

from spectralnlp import registry
from spectralnlp.errors import RegistryError
from spectralnlp.runtime import Corpus, InMemoryCorpus
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree, clean, is_intermediate, labels_of
from spectralnlp.trees.parse import IN_PIECES
from spectralnlp_spacy.arcs import Arcs
from spectralnlp_spacy.constituents import (
    Bracket,
    gold_trees,
    sentence_bounds,
    words_of,
    write_constituents,
)
from spectralnlp_spacy.constraints import RequiredSpans
from spectralnlp_spacy.errors import ComponentError, Errors, Warnings
from spectralnlp_spacy.extensions import install_extensions
from spectralnlp_spacy.noun_phrases import install_noun_chunks
from spectralnlp_spacy.sentences import Bounds, SentencePipe, set_boundaries
from spectralnlp_spacy.settings import ParserSettings

if TYPE_CHECKING:
    from spectralnlp import Parser
    from spectralnlp.trees.parse import Alternative, Parse

USES_OF_TAGS = ("none", "evidence", "fixed")


class ParsedDoc(NamedTuple):
    """Parses of all sentences of a document, with positions counted in tokens of the document.

    Args:
        bounds: first token and end (exclusive) of each sentence.
        brackets: constituents, sentence after sentence, parents first.
        tags: for each token, its tag in the tree; empty for white space.
        fallbacks: for each sentence with a fallback tree, its first token and the reason.
        arcs: head and relation of each token; None if dependencies are not wanted.
    """

    bounds: Bounds
    brackets: list[Bracket]
    tags: list[str]
    fallbacks: list[tuple[int, str]]
    arcs: Arcs | None


class SpectralParser(SentencePipe):
    """Component that parses documents: sets tags, sentence boundaries, and constituents in ``doc.spans``."""

    factory = "spectral_parser"
    settings_type = ParserSettings
    task = "parsing"
    place_setting = "spans_key"
    _warned_of_pieces = False

    def _configure(self, settings: ParserSettings) -> None:
        if settings.max_length < 1:
            raise ComponentError(Errors.SN008.format(name=self.name, max_length=settings.max_length))
        if settings.use_tags not in USES_OF_TAGS:
            known = ", ".join(USES_OF_TAGS)
            raise ComponentError(Errors.SN009.format(name=self.name, known=known, use_tags=settings.use_tags))
        try:
            if settings.decoder is not None:
                registry.decoders.resolve(settings.decoder)
        except RegistryError as error:
            raise ComponentError(Errors.SN019.format(name=self.name, reason=error)) from error
        self.decoder = settings.decoder
        self.use_tags = settings.use_tags
        self.constraints = settings.constraints
        self.spans_key = settings.spans_key
        self.set_tags = settings.set_tags
        self.split_sentences = settings.split_sentences
        self.max_length = settings.max_length
        self.dependencies = settings.dependencies
        self.cfg = {"spans_key": settings.spans_key}
        install_extensions(settings.prefix, spans_key=settings.spans_key)
        if settings.noun_chunks:
            install_noun_chunks(self.vocab, settings.spans_key)

    def _model_of_language(self) -> str | None:
        return self.vocab.lang if self.vocab.lang in registry.models else None

    @property
    def place(self) -> str:
        """Group of spans that the component writes: ``doc.spans['constituents']``."""
        return f"doc.spans[{self.spans_key!r}]"

    @property
    def needed(self) -> str:
        """Text for error messages: the annotation that training examples must have."""
        return f"constituents ({self.place}) and token.tag_"

    def _labels(self) -> tuple[str, ...]:
        grammar = self.ready().coarse
        labels = {
            label
            for symbol, is_tag in zip(grammar.symbols, grammar.is_tag.tolist(), strict=True)
            if not is_intermediate(symbol)
            for label in labels_of(symbol)[: -1 if is_tag else None]
        }
        return tuple(sorted(labels))

    # -----------------------------------------------------------------------------------------------------
    # Annotating

    def ready(self) -> Parser:
        """Return the parser model, loaded on the first call, with the component's setting ``max_length``."""
        parser: Parser = super().ready()
        if parser.max_length != self.max_length:
            self.model = parser = replace(parser, max_length=self.max_length)
        return parser

    def predict(self, docs: Sequence[Doc]) -> list[ParsedDoc]:
        """Return the parses of documents, one `ParsedDoc` each; the documents are not changed."""
        parser = self.ready()
        bounds = [self.bounds(doc) for doc in docs]
        words = [
            [sentence for start, end in in_doc if (sentence := words_of(doc, start, end))]
            for doc, in_doc in zip(docs, bounds, strict=True)
        ]
        required = [RequiredSpans(doc, self.constraints, self.name) for doc in docs]
        every = [
            (spans, sentence) for spans, in_doc in zip(required, words, strict=True) for sentence in in_doc
        ]
        parses = _or_refused(
            parser.parse_many(
                (self._sentence(spans, sentence) for spans, sentence in every),
                decoder=self.decoder,
                fixed_tags=self.use_tags == "fixed",
            ),
            every,
        )
        parsed = [
            _assemble(doc, of_bounds, in_doc, parses, Arcs.of(doc) if self.dependencies else None)
            for doc, of_bounds, in_doc in zip(docs, bounds, words, strict=True)
        ]
        self._warn_of_pieces(parsed)
        return parsed

    def _warn_of_pieces(self, parsed: Sequence[ParsedDoc]) -> None:
        """Warn once that sentences of more than ``max_length`` words are parsed in pieces."""
        reasons = (reason for each in parsed for _, reason in each.fallbacks)
        if not self._warned_of_pieces and IN_PIECES in reasons:
            self._warned_of_pieces = True
            warnings.warn(Warnings.SW002.format(name=self.name, max_length=self.max_length), stacklevel=2)

    def set_annotations(self, docs: Sequence[Doc], predictions: Sequence[ParsedDoc]) -> None:
        """Write constituents, tags, sentence boundaries and dependencies to documents.

        Existing tags and sentence boundaries are kept. Whether tags and dependencies are set depends on the
        settings ``set_tags`` and ``dependencies``.
        """
        for doc, parsed in zip(docs, predictions, strict=True):
            set_boundaries(doc, parsed.bounds)
            if self.set_tags:
                for token, tag in zip(doc, parsed.tags, strict=True):
                    if tag and not token.tag:
                        token.tag_ = tag
            has_arcs = parsed.arcs is not None and parsed.arcs.write(doc, parsed.bounds)
            write_constituents(doc, self.spans_key, parsed.brackets, parsed.tags, parsed.fallbacks, has_arcs)

    def k_best(self, sentence: Span | Doc, n: int = 5) -> list[Alternative]:
        """Return the ``n`` best trees of a sentence, or of a part of a sentence parsed on its own.

        Args:
            sentence: a span, or a document of one sentence.
            n: maximum number of trees.

        Returns:
            Objects with a tree (``tree``, a `spectralnlp.trees.Tree`) and the decoder's score of the tree
            (``score``), the best first. Scores are comparable within one sentence only. A parser with several
            binarisations, such as ``en``, uses only the first for this list, so its best tree may differ from
            the document's.

        Raises:
            ComponentError: there are no words, or the document has several sentences.
        """
        doc = sentence.doc
        bounds = [(sentence.start, sentence.end)] if isinstance(sentence, Span) else sentence_bounds(doc)
        sentences = [words for start, end in bounds if (words := words_of(doc, start, end))]
        if len(sentences) != 1:
            raise ComponentError(Errors.SN016.format(name=self.name, found=len(sentences)))
        (words,) = sentences
        required = RequiredSpans(doc, self.constraints, self.name)
        fixed = self.use_tags == "fixed"
        with required.refused(words):
            (parse,) = self.ready().parse_many(
                [self._sentence(required, words)], decoder=self.decoder, k=max(n, 2), fixed_tags=fixed
            )
        return list(parse.alternatives[:n])

    def _sentence(self, required: RequiredSpans, words: Sequence[int]) -> Sentence:
        doc = required.doc
        plain = Sentence.from_words(doc[i].text for i in words)
        tokens = zip(plain.tokens, self.forms(doc, words), strict=True)
        tags = tuple(doc[i].tag_ for i in words) if self.use_tags != "none" else ()
        return Sentence(
            tuple(replace(token, form=form) for token, form in tokens),
            tags if any(tags) else None,
            required.among(words),
        )

    # -----------------------------------------------------------------------------------------------------
    # Learning

    def _training_corpus(self, docs: Sequence[Doc]) -> Corpus[Tree] | None:
        cleaned = (clean(tree) for tree in gold_trees(docs, self.spans_key))
        trees = [tree for tree in cleaned if tree is not None]
        return InMemoryCorpus(trees) if trees else None


def _or_refused(
    parses: Iterator[Parse], sentences: Sequence[tuple[RequiredSpans, Sequence[int]]]
) -> Iterator[Parse]:
    """Yield parses unchanged; report a violated constraint as an error that quotes the sentence.

    Args:
        parses: iterator that computes the parse of one sentence after another.
        sentences: for each sentence, the required spans of its document, and the token indices of its words.
    """
    for required, words in sentences:
        with required.refused(words):
            parse = next(parses)
        yield parse


def _assemble(
    doc: Doc,
    bounds: Bounds,
    words: Sequence[Sequence[int]],
    parses: Iterator[Parse],
    arcs: Arcs | None,
) -> ParsedDoc:
    """Join the parses of a document's sentences, and convert word ranges to ranges of tokens.

    Args:
        doc: the document.
        bounds: first token and end of each sentence.
        words: for each sentence that has words, the token indices of its words.
        parses: iterator over parses, of which one is consumed for each item of ``words``.
        arcs: dependency arcs to fill in; None if dependencies are not wanted.
    """
    result = ParsedDoc(bounds, [], [""] * len(doc), [], arcs)
    for sentence in words:
        parse = next(parses)
        result.brackets.extend(_brackets(parse, sentence))
        for token, tag in zip(sentence, parse.tree.tags(), strict=True):
            result.tags[token] = tag
        if arcs is not None:
            arcs.add(parse, sentence)
        if parse.fallback is not None:
            result.fallbacks.append((sentence[0], parse.fallback))
    return result


def _brackets(parse: Parse, words: Sequence[int]) -> Iterator[Bracket]:
    """Yield the constituents of a parse as ranges of tokens; add a ``TOP`` if none covers all words.

    Args:
        parse: parse of a sentence.
        words: for each word of the sentence, the index of its token in the document.
    """
    if not any((c.start, c.end) == (0, len(words)) for c in parse.constituents[:1]):
        yield Bracket("TOP", words[0], words[-1] + 1, 0.0 if parse.fallback else 1.0)
    for c in parse.constituents:
        yield Bracket(c.label, words[c.start], words[c.end - 1] + 1, c.posterior)
