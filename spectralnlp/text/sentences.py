"""Sentences from a stream of lines: split from raw text, or one a line.

Everything here is lazy and keeps no more than the sentence under way (and one line) in memory. Offsets
count decoded characters from the start of the stream, line ends included.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TextIO

from spectralnlp.errors import InputError
from spectralnlp.text.english import NEVER_FINAL, STARTERS
from spectralnlp.text.tokenizer import Tokenizer
from spectralnlp.text.tokens import Sentence, Token

# A sentence that has not ended after so many tokens is cut there.
MAX_TOKENS = 1000

# A line longer than so many characters is handed on in pieces by ``read_lines``.
MAX_LINE = 1 << 16

# A line of more characters was not wrapped by an editor: it is a paragraph, and its end is an end.
_WIDEST_WRAP = 120
# A line of fewer was not wrapped either, unless the next one clearly carries on.
_NARROWEST_WRAP = 40
_ITEM = re.compile(r"[-*•–—]\s|\(?\w{1,3}[.)]\s")

_STOPS = re.compile(r"[.?!。！？؟।]|[?!]+|\.{4,}")
_SUSPENSIONS = frozenset(("...", "..", "…", "……"))
_CLOSERS = frozenset(("'", '"', "''", "’", "”", "»", "›", ")", "]", "}", "-RRB-", "-RSB-", "-RCB-"))
_MOST_CLOSERS = 8  # so that a million of them take linear time
_CONTINUERS = frozenset((",", ";", ":", "%", "-", "--", "–", "—"))
_TOKEN = re.compile(r"[^ \t\r\n\f\v\ufeff]+")


def read_lines(stream: TextIO) -> Iterator[str]:
    """Read the lines of a text stream with their ends; a line too long for memory in pieces, cut at blanks.

    A piece is shorter than twice ``MAX_LINE``; only a word longer than ``MAX_LINE`` is cut itself.
    """
    rest = ""
    while piece := stream.readline(MAX_LINE):
        unfinished = len(piece) == MAX_LINE and not piece.endswith("\n")
        piece, rest = rest + piece, ""
        if unfinished and (cut := piece.rfind(" ") + 1):
            piece, rest = piece[:cut], piece[cut:]
        yield piece
    if rest:
        yield rest


def split_sentences(
    lines: Iterable[str], tokenizer: Tokenizer, *, offset: int = 0, width: int = 0
) -> Iterator[Sentence]:
    """Split raw text into sentences.

    A sentence ends at a stop that the words around it do not contradict: abbreviations, initials, a
    comma or a small letter behind a closing quotation mark. Closing quotation marks and brackets
    go with the stop. A blank line ends a sentence always. A line end without a stop ends it unless
    the next line carries on, which is so if both lines look wrapped (at most 120 characters) and the next
    begins with a small letter, or this one ends with a comma or the like, or the first word of the next
    would not have fitted on this line (of at least 40). So headings and lists stay apart. A sentence is
    cut after ``MAX_TOKENS`` tokens.

    A sentence that ends with its line is yielded before the next line is read.

    Args:
        lines: lines with their ends, as a file object or ``read_lines`` gives them; one that ends in a blank
            is a piece of a line.
        tokenizer: brings the conventions, and with them the language's rules.
        offset: characters of the stream before these lines, which begin where `may_cut` says.
        width: the widest line since the last blank one, in characters without blanks at its ends.
    """
    ends = _ends_english if tokenizer.english else _ends_neutral
    pending: list[Token] = []
    previous = ""
    for line in lines:
        bare = line.strip()
        if not bare:
            width = 0
        if pending and not (previous.endswith(" ") or _carries_on(previous.strip(), bare, width)):
            yield Sentence(tuple(pending))
            pending = []
        for token in tokenizer.tokenize(line, offset):
            if pending and (len(pending) >= MAX_TOKENS or _breaks(pending, token, ends)):
                yield Sentence(tuple(pending))
                pending = []
            pending.append(token)
        if pending and _is_complete(pending):
            yield Sentence(tuple(pending))
            pending = []
        offset += len(line)
        previous, width = line, max(width, len(bare))
    if pending:
        yield Sentence(tuple(pending))


def may_cut(line: str, tokenizer: Tokenizer | None) -> bool:
    """Whether no sentence goes on after a line, whatever stands before and after it.

    A text that is cut there, and its parts split apart, has the sentences that it has as a whole.

    Args:
        line: a whole line, with or without its end.
        tokenizer: of the text; without one, only blank and very wide lines end sentences for sure.
    """
    bare = line.strip()
    if not bare or len(bare) > _WIDEST_WRAP:
        return True
    if tokenizer is None:
        return False
    last = deque(tokenizer.tokenize(line), maxlen=1)
    return bool(last) and _STOPS.fullmatch(last[0].text) is not None


def _carries_on(line: str, following: str, width: int) -> bool:
    """Whether a sentence without a stop goes on in the next line (``width``: the paragraph's widest line)."""
    if not following or len(line) > _WIDEST_WRAP or _ITEM.match(following):
        return False
    if following[0].islower() or line[-1:] in tuple(",;-–—&("):
        return True
    first_word = len(following.split(None, 1)[0])
    fits = len(line) + 1 + first_word <= max(width, len(following))
    return not fits and len(line) >= _NARROWEST_WRAP and len(following) <= _WIDEST_WRAP


def _is_complete(tokens: list[Token]) -> bool:
    """Whether the tokens end with a plain stop, so that the line end settles it."""
    return _STOPS.fullmatch(tokens[_last_open(tokens)].text) is not None


def _last_open(tokens: list[Token]) -> int:
    """Return the index of the last token that is no closing mark, as far back as a few such marks."""
    last = len(tokens) - 1
    index = last
    while index > max(0, last - _MOST_CLOSERS) and tokens[index].text in _CLOSERS:
        index -= 1
    return index


def _breaks(before: list[Token], token: Token, ends: Callable[[str, str], bool]) -> bool:
    """Whether a sentence ends between the tokens ``before`` and the next one."""
    last = before[-1]
    if last.text[-1].isalnum():  # most tokens: be quick
        return False
    index = _last_open(before)
    stop = before[index].text
    if stop[-1] not in ".?!…。！？؟।" or token.text in _CONTINUERS:
        return False
    if token.text in _SUSPENSIONS or _STOPS.fullmatch(token.text):
        return False
    if _closes(token, last):
        return False
    if index < len(before) - 1 and token.text[0].islower():  # '"Why?" he asked', '(the man!) left'
        return False
    if _STOPS.fullmatch(stop):
        return not (token.start == last.end and token.text[0].islower())
    return ends(stop, token.text)


def _closes(token: Token, last: Token) -> bool:
    """Whether a closing mark belongs to ``last``; an upright one must touch it or be known to close."""
    if token.text in ("'", '"'):
        return token.start == last.end or token.form in ("''", "”")
    return token.text in _CLOSERS


def _ends_neutral(stop: str, following: str) -> bool:
    """Whether an ellipsis or a word with its stop ends a sentence, by the capital after it; no initials."""
    if stop in _SUSPENSIONS:
        return not following[0].islower()
    return len(stop) > 2 and stop[:-1].isalpha() and following[0].isupper()


def _ends_english(stop: str, following: str) -> bool:
    """Whether an ellipsis or an abbreviation ends the sentence too."""
    if stop in _SUSPENSIONS:
        return not (following[0].islower() or following[0].isdigit())
    stem = stop.removesuffix(".")
    if stem == stop or stem.lower() in NEVER_FINAL:
        return False
    if len(stem) == 1 and following == "A":  # "J. A. Smith"
        return False
    return following in STARTERS or (stem.lower() == "etc" and following[0].isupper())


def read_tokenized(
    lines: Iterable[str], tokenizer: Tokenizer | None = None, *, offset: int = 0
) -> Iterator[Sentence | None]:
    """Read sentences that are tokenised already: one a line, blanks between tokens.

    Args:
        lines: lines with their ends.
        tokenizer: brings the tokens into its conventions; without one, forms are the tokens as given.
        offset: characters of the stream before these lines.

    Yields:
        a sentence per line, None for a blank one, so that output lines up with input.
    """
    for line in lines:
        words = [(match[0], match.start() + offset) for match in _TOKEN.finditer(line)]
        yield _sentence(words, tokenizer) if words else None
        offset += len(line)


def read_tagged(
    lines: Iterable[str],
    tokenizer: Tokenizer | None = None,
    path: str | Path | None = None,
    *,
    offset: int = 0,
    first: int = 1,
) -> Iterator[Sentence | None]:
    """Read sentences of ``word_TAG``, one a line; the tag follows the last underscore.

    Args:
        lines: lines with their ends.
        tokenizer: as in ``read_tokenized``.
        path: where the lines are from, for errors.
        offset: characters of the stream before these lines.
        first: the number of the first line, for errors.

    Yields:
        a sentence with tags per line, None for a blank one.

    Raises:
        InputError: a token without a word, an underscore or a tag.
    """
    for number, line in enumerate(lines, first):
        words: list[tuple[str, int]] = []
        tags: list[str] = []
        for match in _TOKEN.finditer(line):
            word, _, tag = match[0].rpartition("_")
            if not word or not tag:
                shown = match[0] if len(match[0]) <= 40 else match[0][:40] + "…"
                hint = "without tags, use `tokenized`"
                raise InputError(f"no word_TAG: {shown!r}", path=path, line=number, hint=hint)
            words.append((word, match.start() + offset))
            tags.append(tag)
        yield _sentence(words, tokenizer, tuple(tags)) if words else None
        offset += len(line)


def _sentence(
    words: list[tuple[str, int]], tokenizer: Tokenizer | None, tags: tuple[str, ...] | None = None
) -> Sentence:
    """Make a sentence of words and where they begin."""
    texts = [word for word, _ in words]
    forms = tokenizer.normalise_all(texts) if tokenizer else texts
    tokens = (
        Token(word, form, start, start + len(word)) for (word, start), form in zip(words, forms, strict=True)
    )
    return Sentence(tuple(tokens), tags)
