"""Check the arguments of models' methods: raw texts, token lists, tokenised sentences and batches."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Set
from dataclasses import replace
from numbers import Integral
from typing import Any, TypeAlias, TypeVar

from spectralnlp.errors import InputError
from spectralnlp.runtime import OnBad, items_of
from spectralnlp.text.constraints import similar_names
from spectralnlp.text.sentences import split_sentences
from spectralnlp.text.tokenizer import Tokenizer
from spectralnlp.text.tokens import Sentence

R = TypeVar("R")

# A tokenised sentence, and an item of a batch: a text, a tokenised sentence, or a sentence with offsets.
Tokens: TypeAlias = list[str] | tuple[str, ...]
Item: TypeAlias = str | Tokens | Sentence

# Stands for a value that is missing at the end of an iterator.
_MISSING: Any = object()

_SHOWN = 40  # characters of a value that a message quotes


def check_text(text: object, verb: str) -> str:
    """Return a raw text after checking its type.

    Args:
        text: the argument to check.
        verb: name of the called method, such as ``parse``. The error's hint suggests the related methods
            for other inputs, ``parse_tokens`` and ``parse_many``.

    Raises:
        InputError: ``text`` is not a string.
    """
    if not isinstance(text, str):
        what = f"{type(text).__name__} where a text is expected"
        raise InputError(what, hint=f"{verb}_tokens takes a list of tokens, {verb}_many a batch")
    return text


def check_tokens(words: Any, *, least: int = 0) -> list[str]:
    """Return tokens as a list after checking their types.

    Args:
        words: the argument to check.
        least: minimum number of tokens.

    Raises:
        InputError: ``words`` is a single string or a mapping, is not an iterable of strings, or has too few
            tokens.
    """
    if isinstance(words, Set):
        raise InputError("a set where tokens are expected, in order", hint="give a list of tokens")
    listed = list(items_of(words, "tokens are expected", hint="give a list of tokens"))
    if not set(map(type, listed)) <= {str}:
        for number, word in enumerate(listed, 1):
            if not isinstance(word, str):
                what = f"token {number} is {type(word).__name__}, not text"
                raise InputError(what, hint="give a list of tokens")
    if len(listed) < least:
        raise InputError("no tokens", hint=f"give {least} or more")
    return listed


def check_number(value: object, name: str, *, least: int, most: int | None = None) -> None:
    """Check that a value is a whole number in range.

    Args:
        value: the value to check.
        name: name of the argument, for the message.
        least, most: smallest and largest valid number.

    Raises:
        InputError: the value is not a whole number, or out of range.
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InputError(f"{name} is {type(value).__name__}, not a whole number", hint="give a whole number")
    if int(value) < least or (most is not None and int(value) > most):
        bounds = f"{least} or more" if most is None else f"from {least} to {most}"
        raise InputError(f"{name} {value} is out of range", hint=f"give {bounds}")


def check_tags(tags: Iterable[str], known: Collection[str]) -> None:
    """Check that a model knows all tags of an input.

    Args:
        tags: the tags to check.
        known: tags of the model.

    Raises:
        InputError: the model does not know a tag; the hint gives similar tags.
    """
    for tag in tags:
        if tag not in known:
            raise InputError(f"the model has no tag {tag[:_SHOWN]!r}", hint=similar_names(tag, known))


def sentence_of(words: Iterable[str], tokenizer: Tokenizer, tags: Iterable[str] | None = None) -> Sentence:
    """Return tokens as a `Sentence` in a model's spelling, with offsets as if joined by single blanks.

    Args:
        words: one or more tokens.
        tokenizer: the model's tokeniser, whose conventions are used to spell tokens.
        tags: part of speech of each token.

    Raises:
        InputError: ``words`` are not tokens, a token is empty, or the number of tags differs.
    """
    listed = check_tokens(words, least=1)
    if "" in listed:
        raise InputError(f"token {listed.index('') + 1} is empty", hint="leave it out")
    checked_tags = None if tags is None else check_tokens(tags)
    if checked_tags is not None and len(checked_tags) != len(listed):
        raise InputError(f"{len(listed)} tokens and {len(checked_tags)} tags", hint="give each token one tag")
    return Sentence.from_words(listed, checked_tags, tokenizer.normalise_all(listed))


def split_text(text: str, tokenizer: Tokenizer) -> list[Sentence]:
    """Return the sentences of a text, with offsets into it."""
    return list(split_sentences(text.splitlines(keepends=True), tokenizer))


def with_each(
    items: Iterable[Item | None], name: str, values: Iterable[Any], tokenizer: Tokenizer
) -> Iterator[Sentence | None]:
    """Yield tokenised sentences, each with its constraints or its annotations.

    Args:
        items: tokenised sentences; None stands for a missing sentence, for which None is yielded.
        name: the attribute of `Sentence`: ``constraints`` or ``annotations``.
        values: its value for each item; None for an item without any.
        tokenizer: the model's tokeniser, whose conventions are used to spell tokens.

    Raises:
        InputError: the numbers of values and items differ, an item is an untokenised text, or annotations are
            those of another number of tokens.
    """
    remaining = iter(values)
    number = 0
    for number, item in enumerate(items, 1):
        value = next(remaining, _MISSING)
        if value is _MISSING:
            raise InputError(f"item {number} has no {name}", hint="give each item its own, or None")
        if isinstance(item, str):
            what = f"item {number} is a text, and {name} are for tokens"
            raise InputError(what, hint="give a list of tokens")
        sentence = item if item is None or isinstance(item, Sentence) else sentence_of(item, tokenizer)
        if sentence is None or value is None:
            yield sentence
            continue
        try:
            yield replace(sentence, **{name: value})
        except InputError as error:
            raise InputError(f"item {number}: {error.what}", hint=error.hint) from error
    if next(remaining, _MISSING) is not _MISSING:
        raise InputError(f"there is no item for {name} {number + 1}", hint="give one item for each")


def annotate_items(
    items: Iterable[Item | None],
    tokenizer: Tokenizer,
    annotate: Callable[[Iterator[Sentence | None]], Iterable[R]],
    on_bad: OnBad | None = None,
) -> Iterator[R | list[R]]:
    """Annotate a stream of texts and tokenised sentences, lazily and in order.

    Args:
        items: texts, tokenised sentences or `Sentence`; None stands for a missing sentence.
        tokenizer: the model's tokeniser.
        annotate: function from a stream of sentences (None for a missing one) to a stream with one result
            for each.
        on_bad: called with the error of each invalid item, which then counts as None; None to raise the first
            error.

    Yields:
        The result of each tokenised sentence; for each text, a list with the result of each of its sentences.

    Raises:
        InputError: ``items`` is a single text, a mapping or a table of several columns; or, if ``on_bad`` is
            None, an item is invalid. The message has the item's number, from 1.
    """
    items = items_of(items, "a batch of texts is expected", hint="give a list of texts", rows=True)
    return _annotated(items, tokenizer, annotate, on_bad)


def _annotated(
    items: Iterable[Item | None],
    tokenizer: Tokenizer,
    annotate: Callable[[Iterator[Sentence | None]], Iterable[R]],
    on_bad: OnBad | None,
) -> Iterator[R | list[R]]:
    # For each pending item, its number of sentences if it is a text, or None if it is a sentence.
    expected: deque[int | None] = deque()

    def sentences() -> Iterator[Sentence | None]:
        for number, item in enumerate(items, 1):
            if isinstance(item, str):
                in_text = split_text(item, tokenizer)
                expected.append(len(in_text))
                yield from in_text
            else:
                expected.append(None)
                yield _sentence_of_item(item, number, tokenizer, on_bad)

    of_text: list[R] = []
    for result in annotate(sentences()):
        while expected[0] == 0:
            expected.popleft()
            yield []
        if expected[0] is not None:
            of_text.append(result)
            if len(of_text) < expected[0]:
                continue
        is_text = expected.popleft() is not None
        yield of_text if is_text else result
        of_text = []
    yield from ([] for _ in expected)


def _sentence_of_item(
    item: Tokens | Sentence | None, number: int, tokenizer: Tokenizer, on_bad: OnBad | None
) -> Sentence | None:
    if item is None or isinstance(item, Sentence):
        return item
    try:
        return sentence_of(item, tokenizer)
    except InputError as error:
        named = InputError(f"item {number}: {error.what}", hint=error.hint)
        if on_bad is None:
            raise named from error
        on_bad(named)
        return None
