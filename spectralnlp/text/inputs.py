"""Arguments of models' methods: raw texts, token lists, sentences and batches of them, checked."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from numbers import Integral
from typing import TypeAlias, TypeVar

from spectralnlp.errors import InputError
from spectralnlp.runtime import OnBad
from spectralnlp.text.constraints import Constraints, near
from spectralnlp.text.sentences import split_sentences
from spectralnlp.text.tokenizer import Tokenizer
from spectralnlp.text.tokens import Sentence, Token

R = TypeVar("R")

# A tokenised sentence; and what a batch may hold: texts, tokenised sentences, or sentences with offsets.
Tokens: TypeAlias = list[str] | tuple[str, ...]
Item: TypeAlias = str | Tokens | Sentence

# In place of constraints where there are none left.
_MISSING = Constraints()

_SHOWN = 40  # characters of a value that a message quotes


def check_text(text: object, verb: str) -> str:
    """Return a raw text.

    Args:
        text: what was given for one.
        verb: stem of the model's methods, ``parse``.

    Raises:
        InputError: it is no string.
    """
    if not isinstance(text, str):
        what = f"{type(text).__name__} where a text is expected"
        raise InputError(what, hint=f"{verb}_tokens takes a list of tokens, {verb}_many a batch")
    return text


def check_tokens(words: Iterable[str], *, least: int = 0) -> list[str]:
    """Return tokens as a list.

    Args:
        words: what was given for a tokenised sentence.
        least: how many there have to be.

    Raises:
        InputError: it is one string, no iterable, holds something that is no string, or too few.
    """
    if isinstance(words, str | bytes):
        shown = words if len(words) <= _SHOWN else words[:_SHOWN]
        raise InputError(f"a text where tokens are expected: {shown!r}", hint="give a list of tokens")
    if not isinstance(words, Iterable):
        raise InputError(f"{type(words).__name__} where tokens are expected", hint="give a list of tokens")
    listed = list(words)
    for number, word in enumerate(listed, 1):
        if not isinstance(word, str):
            raise InputError(
                f"token {number} is {type(word).__name__}, not text", hint="give a list of tokens"
            )
    if len(listed) < least:
        raise InputError("no tokens", hint=f"give {least} or more")
    return listed


def check_number(value: object, name: str, *, least: int, most: int | None = None) -> None:
    """Check a whole number.

    Raises:
        InputError: the value is none, or out of range.
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InputError(f"{name} is {type(value).__name__}, not a whole number", hint="give a whole number")
    if int(value) < least or (most is not None and int(value) > most):
        bounds = f"{least} or more" if most is None else f"from {least} to {most}"
        raise InputError(f"{name} {value} is out of range", hint=f"give {bounds}")


def check_tags(tags: Iterable[str], known: Collection[str]) -> None:
    """Check the tags of words against those that a model has.

    Raises:
        InputError: the model does not have one; names those that are written alike.
    """
    for tag in tags:
        if tag not in known:
            raise InputError(f"the model has no tag {tag[:_SHOWN]!r}", hint=near(tag, known))


def sentence_of(words: Iterable[str], tokenizer: Tokenizer, tags: Iterable[str] | None = None) -> Sentence:
    """Return tokens as a sentence in a model's conventions, as if single blanks stood between them.

    Args:
        words: one or more tokens.
        tokenizer: brings the conventions.
        tags: for each token, its part of speech.

    Raises:
        InputError: `words` are no tokens, one is empty, or there are not as many tags.
    """
    listed = check_tokens(words, least=1)
    if "" in listed:
        raise InputError(f"token {listed.index('') + 1} is empty", hint="leave it out")
    plain = Sentence.from_words(listed)
    given = None if tags is None else tuple(check_tokens(tags))
    if given is not None and len(given) != len(plain):
        raise InputError(f"{len(plain)} tokens and {len(given)} tags", hint="give each token one tag")
    forms = tokenizer.normalise_all(plain.words)
    tokens = (
        Token(each.text, form, each.start, each.end) for each, form in zip(plain.tokens, forms, strict=True)
    )
    return Sentence(tuple(tokens), given)


def split_text(text: str, tokenizer: Tokenizer) -> list[Sentence]:
    """Return the sentences of a text, with offsets into it."""
    return list(split_sentences(text.splitlines(keepends=True), tokenizer))


def constrained_items(
    items: Iterable[Item | None], constraints: Iterable[Constraints | None], tokenizer: Tokenizer
) -> Iterator[Sentence | None]:
    """Give tokenised sentences their constraints.

    Args:
        items: tokenised sentences; None stays None.
        constraints: one for each item, or None.
        tokenizer: brings the conventions.

    Raises:
        InputError: there are not as many constraints as items, or an item is a text.
    """
    left = iter(constraints)
    number = 0
    for number, item in enumerate(items, 1):
        given = next(left, _MISSING)
        if given is _MISSING:
            raise InputError(f"item {number} has no constraints", hint="give each item its own, or None")
        if isinstance(item, str):
            what = f"item {number} is a text, and constraints are for tokens"
            raise InputError(what, hint="give a list of tokens")
        sentence = item if item is None or isinstance(item, Sentence) else sentence_of(item, tokenizer)
        yield sentence if sentence is None or given is None else replace(sentence, constraints=given)
    if next(left, _MISSING) is not _MISSING:
        raise InputError(f"constraints {number + 1} have no item", hint="give constraints for each item")


def annotate_items(
    items: Iterable[Item | None],
    tokenizer: Tokenizer,
    annotate: Callable[[Iterator[Sentence | None]], Iterable[R]],
    on_bad: OnBad | None = None,
) -> Iterator[R | list[R]]:
    """Annotate a stream of texts and tokenised sentences, lazily and in order.

    Args:
        items: texts, tokenised sentences, sentences; None stands for a sentence that is not there.
        tokenizer: of the model.
        annotate: makes one result of each sentence of a stream, and of each None.
        on_bad: called with the error of each item that is nothing of all that, which then counts as None;
            None to raise the first.

    Yields:
        The result of each tokenised sentence; for each text a list, with a result for each sentence in it.

    Raises:
        InputError: `items` is one text, or an item is nothing of all that; with its number, from 1.
    """
    if isinstance(items, str | bytes):
        raise InputError("a text where a batch of texts is expected", hint="give a list of texts")
    return _annotated(items, tokenizer, annotate, on_bad)


def _annotated(
    items: Iterable[Item | None],
    tokenizer: Tokenizer,
    annotate: Callable[[Iterator[Sentence | None]], Iterable[R]],
    on_bad: OnBad | None,
) -> Iterator[R | list[R]]:
    # For each item under way the number of sentences in it, None where the item is itself a sentence.
    expected: deque[int | None] = deque()

    def sentences() -> Iterator[Sentence | None]:
        for number, item in enumerate(items, 1):
            if isinstance(item, str):
                found = split_text(item, tokenizer)
                expected.append(len(found))
                yield from found
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
