"""Search the trees of documents with patterns in Tregex's language; matches are spans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from spacy.tokens import Doc, Span

from spectralnlp import registry
from spectralnlp.display import one_line
from spectralnlp.trees import Tree, add_root, strip_root
from spectralnlp_spacy.constituents import KEY, tree_of
from spectralnlp_spacy.sentences import sentence_bounds, words_of

# Number of sentences that are searched at a time.
_AT_A_TIME = 1_000


@dataclass(frozen=True)
class SpanMatch:
    """One way in which a pattern matches in a document.

    Attributes:
        span: span of the matched node, with the node's label (for a word, the word).
        named: spans of the nodes bound to the names of the pattern; names in optional parts may be absent.
        variables: texts bound to the variables of the pattern.

    Examples:
        >>> import spacy
        >>> from spectralnlp_spacy import SpanMatch, search
        >>> nlp = spacy.blank("en")
        >>> _ = nlp.add_pipe("sentencizer"), nlp.add_pipe("spectral_parser")
        >>> match: SpanMatch = next(search(nlp("The keeper sleeps."), "NP < NN=noun"))
        >>> match.span.text, match.span.label_, match.named["noun"].text
        ('The keeper', 'NP', 'keeper')
    """

    span: Span
    named: dict[str, Span] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)

    __repr__ = one_line

    @property
    def text(self) -> str:
        """Text of the span of the matched node."""
        return str(self.span.text)


@dataclass(frozen=True)
class _Sentence:
    """Tree of a sentence, with the index of each of its words among the tokens of the document."""

    doc: Doc
    tree: Tree
    tokens: list[int]

    def span(self, node: Any) -> Span:
        """Return the span of the document that a node of the sentence's tree covers."""
        label = self.doc.vocab.strings.add(node.label)
        return Span(self.doc, self.tokens[node.start], self.tokens[node.end - 1] + 1, label=label)


def search(
    docs: Doc | Span | Iterable[Doc | Span],
    pattern: str,
    *,
    once: bool = False,
    head_rules: str = "english",
    spans_key: str = KEY,
) -> Iterator[SpanMatch]:
    """Find the matches of a pattern in Tregex's language in parsed documents or spans.

    Args:
        docs: documents or spans, such as ``nlp.pipe(texts)``; each sentence is a tree under ``TOP``.
        pattern: a pattern such as ``NP < PP``, as for `spectralnlp_trees.search`.
        once: whether to yield each node once, not once for each way in which the pattern matches there.
        head_rules: head rules for ``<#`` and similar relations: ``english`` or ``neutral``.
        spans_key: key of the constituents in ``doc.spans``.

    Raises:
        ComponentError: a document has not been parsed.
        PatternError: the pattern is invalid.
        ConfigError: the head rules are unknown.

    Examples:
        >>> import spacy
        >>> from spectralnlp_spacy import search
        >>> nlp = spacy.blank("en")
        >>> _ = nlp.add_pipe("sentencizer"), nlp.add_pipe("spectral_parser")
        >>> doc = nlp("The keeper feeds the gulls. They like it.")
        >>> [(match.text, match.named["object"].text) for match in search(doc, "VP < NP=object")]
        [('feeds the gulls', 'the gulls'), ('like it', 'it')]
    """
    registry.tree_tools.get("search").read_pattern(pattern)  # fails before any document is parsed
    return _matches(_sentences(docs, spans_key), pattern, once, head_rules)


def count(
    docs: Doc | Span | Iterable[Doc | Span],
    pattern: str,
    *,
    once: bool = False,
    head_rules: str = "english",
    spans_key: str = KEY,
) -> int:
    """Count the matches of a pattern in Tregex's language in parsed documents or spans.

    Args:
        docs: documents or spans, such as ``nlp.pipe(texts)``.
        pattern: a pattern such as ``NP < PP``, as for `spectralnlp_trees.search`.
        once: whether to count each node once, not once for each way in which the pattern matches there.
        head_rules: head rules for ``<#`` and similar relations: ``english`` or ``neutral``.
        spans_key: key of the constituents in ``doc.spans``.

    Raises:
        ComponentError: a document has not been parsed.
        PatternError: the pattern is invalid.
        ConfigError: the head rules are unknown.

    Examples:
        >>> import spacy
        >>> from spectralnlp_spacy import count
        >>> nlp = spacy.blank("en")
        >>> _ = nlp.add_pipe("sentencizer"), nlp.add_pipe("spectral_parser")
        >>> count(nlp("The keeper feeds the gulls. They like it."), "NP > VP")
        2
    """
    registry.tree_tools.get("search").read_pattern(pattern)
    some_at_a_time = _batches(_sentences(docs, spans_key))
    return sum(_index(some).count(pattern, once=once, head_rules=head_rules) for some in some_at_a_time)


def _matches(
    sentences: Iterator[_Sentence], pattern: str, once: bool, head_rules: str
) -> Iterator[SpanMatch]:
    for some in _batches(sentences):
        for match in _index(some).search(pattern, once=once, head_rules=head_rules):
            sentence = some[match.tree]
            named = {name: sentence.span(node) for name, node in match.named.items()}
            yield SpanMatch(sentence.span(match.node), named, match.variables)


def _index(sentences: list[_Sentence]) -> Any:
    return registry.tree_tools.get("search").TreeIndex(each.tree for each in sentences)


def _batches(sentences: Iterator[_Sentence]) -> Iterator[list[_Sentence]]:
    while some := list(islice(sentences, _AT_A_TIME)):
        yield some


def _sentences(docs: Doc | Span | Iterable[Doc | Span], key: str) -> Iterator[_Sentence]:
    """Yield the tree of each sentence of documents or spans; a sentence is cut where a span ends."""
    for each in [docs] if isinstance(docs, Doc | Span) else docs:
        doc = each if isinstance(each, Doc) else each.doc
        first, last = (0, len(doc)) if isinstance(each, Doc) else (each.start, each.end)
        for start, end in sentence_bounds(doc):
            start, end = max(start, first), min(end, last)
            tokens = words_of(doc, start, end)
            if tokens:
                yield _Sentence(doc, add_root(strip_root(tree_of(doc, key, start, end))), tokens)
