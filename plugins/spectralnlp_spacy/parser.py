"""Component ``spectral_parser``: a constituency parser that writes constituents to ``doc.spans``."""

from __future__ import annotations

import warnings
from collections.abc import Sequence, Set
from dataclasses import replace
from itertools import islice, repeat
from typing import TYPE_CHECKING, NamedTuple

from spacy.tokens import Doc, Span

from spectralnlp import registry
from spectralnlp.errors import InputError, RegistryError
from spectralnlp.runtime import Corpus, InMemoryCorpus
from spectralnlp.text.constraints import ConstraintError
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree, clean, is_intermediate, labels_of
from spectralnlp.trees.parse import IN_PIECES
from spectralnlp_spacy.annotations import annotations_of
from spectralnlp_spacy.arcs import Arcs
from spectralnlp_spacy.constituents import Bracket, gold_trees, write_constituents
from spectralnlp_spacy.constraints import RequiredSpans
from spectralnlp_spacy.errors import ComponentError, Errors, Warnings
from spectralnlp_spacy.extensions import install_extensions
from spectralnlp_spacy.noun_phrases import of_trees
from spectralnlp_spacy.sentence_pipe import SentencePipe
from spectralnlp_spacy.sentences import (
    Bounds,
    DocSentences,
    read_sentences,
    sentence_bounds,
    set_boundaries,
)
from spectralnlp_spacy.settings import ParserSettings

if TYPE_CHECKING:
    from spectralnlp import Parser
    from spectralnlp.trees.parse import Alternative, Parse

USES_OF_TAGS = ("none", "evidence", "fixed")
USES_OF_DEPENDENCIES = ("auto", "evidence", "none")


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
    _warned_of: Set[str] = frozenset()

    def _configure(self, settings: ParserSettings) -> None:
        if settings.max_length < 1:
            raise ComponentError(Errors.SN008.format(name=self.name, max_length=settings.max_length))
        if settings.use_tags not in USES_OF_TAGS:
            known = ", ".join(USES_OF_TAGS)
            raise ComponentError(Errors.SN009.format(name=self.name, known=known, use_tags=settings.use_tags))
        if settings.use_dependencies not in USES_OF_DEPENDENCIES:
            message = Errors.SN025.format(
                name=self.name,
                known=", ".join(USES_OF_DEPENDENCIES),
                use_dependencies=settings.use_dependencies,
            )
            raise ComponentError(message)
        try:
            if settings.decoder is not None:
                registry.decoders.resolve(settings.decoder)
        except RegistryError as error:
            raise ComponentError(Errors.SN019.format(name=self.name, reason=error)) from error
        self.decoder = settings.decoder
        self.use_tags = settings.use_tags
        self.use_dependencies = settings.use_dependencies
        self.constraints = settings.constraints
        self.spans_key = settings.spans_key
        self.set_tags = settings.set_tags
        self.split_sentences = settings.split_sentences
        self.max_length = settings.max_length
        self.dependencies = settings.dependencies
        self.cfg = {"spans_key": settings.spans_key}
        install_extensions(settings.prefix, spans_key=settings.spans_key)
        self.noun_chunks = settings.noun_chunks
        if settings.noun_chunks:  # of all documents of the pipeline, also those read from disk later
            self.vocab.get_noun_chunks = of_trees(self.vocab.get_noun_chunks, settings.spans_key)

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
        self.ready()
        read = self.read(docs, with_tags=self.use_tags != "none")
        parses = iter(self._parse(read))
        parsed = [_assemble(each, list(islice(parses, len(each.words))), self.dependencies) for each in read]
        self._warn_of_pieces(parsed)
        return parsed

    def _parse(self, read: Sequence[DocSentences], k: int = 1) -> list[Parse]:
        """Return the parse of each sentence of documents, under the constraints of its document.

        Args:
            read: the documents' sentences.
            k: number of trees per sentence.

        Raises:
            ComponentError: no tree meets the constraints; the message quotes the sentence.
        """
        inputs: list[Sentence] = []
        places: list[tuple[RequiredSpans, list[int]]] = []
        for each in map(self._annotated, read):
            required = RequiredSpans(each.doc, self.constraints, self.name)
            inputs += required.constrain(each)
            places += zip(repeat(required), each.words)
        parses: list[Parse] = []
        fixed = self.use_tags == "fixed"
        try:
            for parse in self.ready().parse_many(inputs, decoder=self.decoder, k=k, fixed_tags=fixed):
                parses.append(parse)  # an error concerns the first sentence without a parse
        except ConstraintError as error:
            required, words = places[len(parses)]
            raise required.refusal(words, error) from error
        return parses

    def _annotated(self, read: DocSentences) -> DocSentences:
        """Return the sentences of a document, with annotations if the model was trained with such."""
        scheme = self.ready().annotation_scheme
        if scheme is None or self.use_dependencies == "none":
            return read
        inputs = list(read.inputs)
        try:
            annotations = annotations_of(read)
        except InputError as error:
            self._warn_once(Warnings.SW004, reason=error)
            return read
        for number, each in enumerate(annotations or ()):
            try:
                scheme.check(each)
            except InputError as error:  # of this sentence alone: a rare tag may be missing from the training
                self._warn_once(Warnings.SW004, reason=error)
                continue
            inputs[number] = replace(inputs[number], annotations=each)
            if self.use_dependencies == "auto":
                self._warn_once(Warnings.SW003)
        return read._replace(inputs=inputs)

    def _warn_once(self, warning: str, **values: object) -> None:
        if warning not in self._warned_of:
            self._warned_of = {*self._warned_of, warning}
            warnings.warn(warning.format(name=self.name, **values), stacklevel=2)

    def _warn_of_pieces(self, parsed: Sequence[ParsedDoc]) -> None:
        """Warn once that sentences of more than ``max_length`` words are parsed in pieces."""
        reasons = (reason for each in parsed for _, reason in each.fallbacks)
        if IN_PIECES in reasons:
            self._warn_once(Warnings.SW002, max_length=self.max_length)

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
            if self.noun_chunks:  # the document may be of another vocabulary
                doc.noun_chunks_iterator = of_trees(doc.noun_chunks_iterator, self.spans_key)

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
        read = read_sentences(doc, bounds, self.conventions(), with_tags=self.use_tags != "none")
        if len(read.words) != 1:
            raise ComponentError(Errors.SN016.format(name=self.name, found=len(read.words)))
        (parse,) = self._parse([read], max(n, 2))
        return list(parse.alternatives[:n])

    # -----------------------------------------------------------------------------------------------------
    # Learning

    def _training_corpus(self, docs: Sequence[Doc]) -> Corpus[Tree] | None:
        cleaned = (clean(tree) for tree in gold_trees(docs, self.spans_key))
        trees = [tree for tree in cleaned if tree is not None]
        return InMemoryCorpus(trees) if trees else None


def _assemble(read: DocSentences, parses: Sequence[Parse], dependencies: bool) -> ParsedDoc:
    """Join the parses of a document's sentences, and convert word ranges to ranges of tokens.

    A node ``TOP`` is added to a parse without a constituent over all words.

    Args:
        read: sentences of the document.
        parses: parse of each sentence that has words.
        dependencies: whether to derive dependencies from the trees.
    """
    result = ParsedDoc(read.bounds, [], [""] * len(read.doc), [], None)
    for words, parse in zip(read.words, parses, strict=True):
        found = parse.constituents
        if not found or (found[0].start, found[0].end) != (0, len(words)):
            result.brackets.append(Bracket("TOP", words[0], words[-1] + 1, 0.0 if parse.fallback else 1.0))
        for c in found:
            result.brackets.append(Bracket(c.label, words[c.start], words[c.end - 1] + 1, c.posterior))
        for token, tag in zip(words, parse.tree.tags(), strict=True):
            result.tags[token] = tag
        if parse.fallback is not None:
            result.fallbacks.append((words[0], parse.fallback))
    return result._replace(arcs=Arcs.of(read.doc, read.words, parses)) if dependencies else result
