"""Mixin with the methods of parsers for texts, tokenised sentences, and batches of either."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, overload

from spectralnlp.runtime import OnBad
from spectralnlp.text.annotations import Annotations
from spectralnlp.text.constraints import Constraints
from spectralnlp.text.inputs import (
    Item,
    Tokens,
    annotate_items,
    check_number,
    check_tags,
    check_text,
    sentence_of,
    split_text,
    with_each,
)
from spectralnlp.text.sentences import split_sentences
from spectralnlp.text.tokenizer import Tokenizer
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees.parse import Parse


class TextParser(ABC):
    """Mixin of parsers: methods that parse a text, a tokenised sentence, or a batch of either."""

    @property
    @abstractmethod
    def tokenizer(self) -> Tokenizer:
        """The tokenizer for raw text."""

    @property
    @abstractmethod
    def tags(self) -> Sequence[str]:
        """The part-of-speech tags, sorted."""

    @abstractmethod
    def _parse_stream(
        self, sentences: Iterable[Sentence | None], decoder: str | None, k: int, fixed_tags: bool = True
    ) -> Iterator[Parse | None]:
        """Yield the parse of each sentence of a stream, in order; None for an item that is None."""

    @abstractmethod
    def _parse_one(self, sentence: Sentence, decoder: str | None, k: int) -> Parse:
        """Return the parse of one sentence, computed in the calling thread."""

    def sentences(self, lines: Iterable[str]) -> Iterator[Sentence]:
        """Split a stream of lines of raw text into tokenised sentences."""
        return split_sentences(lines, self.tokenizer)

    def parse(self, text: str, *, decoder: str | None = None, k: int = 1) -> list[Parse]:
        """Parse every sentence of a text.

        Args:
            text: raw text.
            decoder: name of a decoder to use; None for the parser's default.
            k: number of trees per sentence; if more than 1, they are in ``Parse.alternatives``.

        Raises:
            InputError: ``text`` is not a string, or ``k`` is less than 1.
        """
        check_number(k, "k", least=1)
        sentences = split_text(check_text(text, "parse"), self.tokenizer)
        return list(filter(None, self._parse_stream(sentences, decoder, k)))

    def parse_tokens(
        self,
        words: Iterable[str],
        tags: Iterable[str] | Mapping[int, str] | None = None,
        *,
        brackets: Iterable[Sequence[Any]] = (),
        forbidden: Iterable[Sequence[Any]] = (),
        annotations: Annotations | None = None,
        decoder: str | None = None,
        k: int = 1,
    ) -> Parse:
        """Parse one tokenised sentence, optionally under constraints on its tree.

        Only trees that meet the constraints are considered: posteriors are conditional on the constraints,
        and the log-probability is that of the words together with the constraints.

        Args:
            words: one or more tokens, as in raw text or as in the treebank.
            tags: the part-of-speech tag that each token must have; or a map from token numbers, from 0, to
                tags, for some of the tokens.
            brackets: constituents that the tree must have: (start, end, label) in tokens with the end
                exclusive, or (start, end) for any label.
            forbidden: constituents that the tree must not have; (start, end) forbids all labels.
            annotations: tags and a dependency parse of the tokens, by a pipeline of the scheme that the
                parser was trained with. They are evidence, not constraints. A parser that was trained without
                annotations ignores them.
            decoder: name of a decoder to use; None for the parser's default.
            k: see `parse`.

        Raises:
            InputError: ``words`` is a single string, empty, or holds something that is not a string; the
                number of tags differs from that of the words; a tag is unknown to the model; or the
                annotations are of another number of tokens or of another scheme.
            ConstraintError: brackets are out of range or cross, a label is unknown to the model, or no tree
                of the model meets the constraints. The message names the constraints at fault.

        Examples:
            >>> import spectralnlp
            >>> parser = spectralnlp.load("en")
            >>> words = "We saw the keeper with a telescope".split()
            >>> [
            ...     [c.label for c in parse.constituents if (c.start, c.end) == (2, 7)]
            ...     for parse in (
            ...         parser.parse_tokens(words, brackets=[(2, 7, "NP")]),
            ...         parser.parse_tokens(words, forbidden=[(2, 7)]),
            ...     )
            ... ]
            [['NP'], []]
        """
        check_number(k, "k", least=1)
        constraints = Constraints.of(brackets, forbidden, tags if isinstance(tags, Mapping) else None)
        sentence = sentence_of(words, self.tokenizer, None if isinstance(tags, Mapping) else tags)
        check_tags(sentence.tags or (), self.tags)
        sentence = replace(sentence, constraints=constraints or None, annotations=annotations)
        return self._parse_one(sentence, decoder, k)

    @overload
    def parse_many(
        self,
        items: Iterable[Tokens | Sentence],
        *,
        decoder: str | None = None,
        k: int = 1,
        fixed_tags: bool = True,
        constraints: Iterable[Constraints | None] | None = None,
        annotations: Iterable[Annotations | None] | None = None,
    ) -> Iterator[Parse]: ...
    @overload
    def parse_many(
        self,
        items: Iterable[Tokens | Sentence | None],
        *,
        decoder: str | None = None,
        k: int = 1,
        fixed_tags: bool = True,
        constraints: Iterable[Constraints | None] | None = None,
        annotations: Iterable[Annotations | None] | None = None,
        on_bad: OnBad | None = None,
    ) -> Iterator[Parse | None]: ...
    @overload
    def parse_many(
        self, items: Iterable[str], *, decoder: str | None = None, k: int = 1, fixed_tags: bool = True
    ) -> Iterator[list[Parse]]: ...
    def parse_many(
        self,
        items: Iterable[Item | None],
        *,
        decoder: str | None = None,
        k: int = 1,
        fixed_tags: bool = True,
        constraints: Iterable[Constraints | None] | None = None,
        annotations: Iterable[Annotations | None] | None = None,
        on_bad: OnBad | None = None,
    ) -> Iterator[Any]:
        """Parse a stream of texts or of tokenised sentences, lazily and in order.

        Inside ``use_engine("threads")``, sentences are parsed in parallel, because kernels release the GIL.

        Args:
            items: texts, tokenised sentences or `Sentence`s; None is allowed as an item, and yields None.
            decoder: name of a decoder to use; None for the parser's default.
            k: see `parse`.
            fixed_tags: whether the tree must have the tags of a `Sentence`. If false, the tags only influence
                the tags of rare and unknown words (see `TagEvidence`).
            constraints: for each item its constraints or None; items must then be tokenised sentences. None
                if there are no constraints at all.
            annotations: likewise for each item its tags and dependency parse, or None; see `parse_tokens`.
            on_bad: function that is called with the error of each invalid item, for which None is yielded;
                None to raise the error.

        Yields:
            The result of `parse` for each text, and of `parse_tokens` for each tokenised sentence.

        Raises:
            InputError: an item is neither a text nor a tokenised sentence (the message gives its number, from
                1); an item is a text, although there are constraints or annotations; their number differs
                from that of the items; or annotations are of another number of tokens or another scheme.
            ConstraintError: as for `parse_tokens`.
        """
        check_number(k, "k", least=1)
        if constraints is not None:
            items = with_each(items, "constraints", constraints, self.tokenizer)
        if annotations is not None:
            items = with_each(items, "annotations", annotations, self.tokenizer)
        parse = partial(self._parse_stream, decoder=decoder, k=k, fixed_tags=fixed_tags)
        return annotate_items(items, self.tokenizer, parse, on_bad)
