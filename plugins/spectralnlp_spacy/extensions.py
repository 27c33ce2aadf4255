"""Extension attributes of spans and tokens: ``span._.parse_string``, ``.constituents``, ``.labels`` etc.

The names are those of benepar. All values are computed from ``doc.spans``, so documents can be saved and sent
to other processes. The span of a unary chain has several labels. White space at either end of a span is
ignored; a sentence of white space only has no labels, no constituents and an empty ``parse_string``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc, Span, Token

from spectralnlp.errors import ConfigError
from spectralnlp_spacy.constituents import (
    Chain,
    has_dependencies,
    read_brackets,
    read_chains,
    read_fallback,
    read_tags,
    tree_of,
    write_constituents,
)
from spectralnlp_spacy.errors import ComponentError, Errors
from spectralnlp_spacy.sentences import words_of

if TYPE_CHECKING:
    import nltk

    from spectralnlp.trees import Tree


class NotAConstituentError(ComponentError):
    """Error raised if ``span._.labels`` or a similar attribute is read for a span that is no constituent.

    Examples:
        >>> import spacy
        >>> from spectralnlp_spacy import NotAConstituentError
        >>> nlp = spacy.blank("en")
        >>> _ = nlp.add_pipe("sentencizer"), nlp.add_pipe("spectral_parser")
        >>> doc = nlp("The keeper climbs the stairs.")
        >>> try:
        ...     doc[1:3]._.labels
        ... except NotAConstituentError:
        ...     print("no constituent")
        ...
        no constituent
    """


# The name of this error in benepar.
NonConstituentException = NotAConstituentError


class Getters:
    """Functions that compute the extension attributes of spans from the constituents in ``doc.spans[key]``.

    Args:
        key: key of the constituents in ``doc.spans``.
    """

    def __init__(self, key: str) -> None:
        self.key = key

    def labels(self, span: Span) -> tuple[str, ...]:
        """Return the labels of a constituent, the topmost first; empty for a word that is no constituent."""
        return tuple(bracket.label for bracket in self._chain(span).brackets)

    def constituents(self, span: Span) -> Iterator[Span]:
        """Yield a constituent and all constituents within it, parents first, down to single words."""
        first = self._chain(span)
        if first.start == first.end:
            return
        for chain in read_chains(span.doc, self.key, first.start, first.end):
            yield _span(span, chain)

    def children(self, span: Span) -> Iterator[Span]:
        """Yield the immediate constituents (or words) of a constituent, from left to right."""
        whole = self._chain(span)
        end = whole.start
        for chain in read_chains(span.doc, self.key, whole.start, whole.end)[1:]:
            if chain.start >= end:
                yield _span(span, chain)
                end = chain.end

    def parent(self, span: Span) -> Span | None:
        """Return the next larger constituent around a constituent; None for a whole sentence."""
        inner = self._chain(span)
        if inner.start == inner.end:
            return None
        around = [
            chain
            for chain in self._sentence_chains(span)
            if chain.start <= inner.start and inner.end <= chain.end and chain[:2] != inner[:2]
        ]
        return _span(span, around[-1]) if around else None

    def parse_string(self, span: Span) -> str:
        """Return the tree of a constituent as labelled brackets, on one line."""
        tree = self._tree(span)
        return "" if tree is None else str(tree)

    def tree(self, span: Span) -> nltk.Tree | None:
        """Return a constituent as an ``nltk.Tree``; None for white space."""
        tree = self._tree(span)
        try:
            return None if tree is None else tree.to_nltk()
        except ConfigError as error:
            raise ComponentError(Errors.SN014) from error

    def confidence(self, span: Span) -> float | None:
        """Return the posterior probability of a constituent; None if it is unknown.

        For a unary chain this is the minimum of the constituents' probabilities.
        """
        posteriors = [bracket.posterior for bracket in self._chain(span).brackets]
        known = [each for each in posteriors if each is not None]
        return min(known) if known else None

    def fallback(self, span: Span) -> str | None:
        """Return why the span's sentence has a fallback tree; None if its tree is the grammar's best."""
        return read_fallback(span, self.key)

    def as_doc(self, span: Span, *, copy_user_data: bool = False) -> Doc:
        """Copy a span to a new document, as ``span.as_doc()`` does, with its constituents.

        Args:
            span: any span; the constituents within it are copied.
            copy_user_data: whether to copy ``doc.user_data`` too, as for ``span.as_doc``.
        """
        doc = span.as_doc(copy_user_data=copy_user_data)
        brackets = [
            each._replace(start=each.start - span.start, end=each.end - span.start)
            for each in read_brackets(span.doc, self.key, span.start, span.end)
        ]
        tags = read_tags(span.doc, self.key, span.start, span.end)
        reason = self.fallback(span)
        fallbacks = [] if reason is None else [(0, reason)]
        write_constituents(doc, self.key, brackets, tags, fallbacks, has_dependencies(span.doc, self.key))
        return doc

    def _tree(self, span: Span) -> Tree | None:
        chain = self._chain(span)
        if chain.start == chain.end:
            return None
        tree = tree_of(span.doc, self.key, chain.start, chain.end)
        return tree if chain.brackets else tree.children[0]

    def _sentence_chains(self, span: Span) -> list[Chain]:
        sentence = span.sent
        return read_chains(span.doc, self.key, sentence.start, sentence.end)

    def _chain(self, span: Span) -> Chain:
        """Return the unary chain that covers exactly this span; an empty chain for white space.

        Raises:
            ComponentError: the document has no constituents.
            NotAConstituentError: no constituent or word covers exactly this span.
        """
        words = words_of(span.doc, span.start, span.end)
        if not words and len(span):
            read_brackets(span.doc, self.key, span.start, span.start)  # fails if nothing was parsed
            return Chain(span.start, span.start, ())
        if words:
            wanted = words[0], words[-1] + 1
            for chain in read_chains(span.doc, self.key, *wanted):
                if chain[:2] == wanted:
                    return chain
        raise NotAConstituentError(Errors.SN011.format(span=span.text))


ON_SPANS = ("labels", "constituents", "children", "parent", "parse_string", "tree", "confidence", "fallback")
ON_TOKENS = ("labels", "parent", "parse_string")
AS_METHOD = "as_doc"


def install_extensions(prefix: str = "", *, spans_key: str = "constituents") -> None:
    """Register the extension attributes of ``span._`` and ``token._``; ``spectral_parser`` calls this itself.

    Args:
        prefix: prefix of each name: with ``"spectral_"``, the names are ``span._.spectral_labels`` and so on.
        spans_key: key in ``doc.spans`` of the spans from which the attributes are computed.

    Raises:
        ComponentError: a name is registered by another package, or with another ``spans_key``.

    Examples:
        >>> from spacy.tokens import Span
        >>> from spectralnlp_spacy import install_extensions
        >>> install_extensions(prefix="example_")
        >>> Span.has_extension("example_parse_string")
        True
    """
    getters = Getters(spans_key)
    for name in ON_SPANS:
        _install(Span, prefix + name, getattr(getters, name))
    for name in ON_TOKENS:
        _install(Token, prefix + name, _of_token(getattr(getters, name)))
    _install(Span, prefix + AS_METHOD, getters.as_doc, kind="method")


def _install(owner: Any, name: str, getter: Callable[[Any], Any], kind: str = "getter") -> None:
    if owner.has_extension(name):
        _, method, other, _ = owner.get_extension(name)
        if _key(method if kind == "method" else other) == _key(getter):
            return
        raise ComponentError(Errors.SN013.format(owner=owner.__name__.lower(), extension=name))
    owner.set_extension(name, **{kind: getter})


def _key(getter: Any) -> str | None:
    """Return the key in ``doc.spans`` that a getter of this package reads; None for other functions."""
    getters = getattr(getattr(getter, "of_span", getter), "__self__", None)
    return getters.key if isinstance(getters, Getters) else None


def _of_token(of_span: Callable[[Span], Any]) -> Callable[[Token], Any]:
    def getter(token: Token) -> Any:
        return of_span(token.doc[token.i : token.i + 1])

    getter.of_span = of_span  # type: ignore[attr-defined]
    return getter


def _span(like: Span, chain: Chain) -> Span:
    return like.doc[chain.start : chain.end]
