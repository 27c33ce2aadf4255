"""Sentences from a stream of lines: split from raw text, or read one per line.

All functions are lazy and keep only the current sentence and one line in memory. Offsets count decoded
characters from the start of the stream, line ends included.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from spectralnlp.errors import InputError
from spectralnlp.text.constraints import similar_names
from spectralnlp.text.sentence_ends import LIST_MARK, Pending, is_stop
from spectralnlp.text.tokenizer import Tokenizer
from spectralnlp.text.tokens import Sentence, Token

# A line of more characters is processed in pieces.
MAX_LINE = 1 << 16
# Maximum tokens of a pre-tokenised sentence, since all are held in memory.
MAX_LINE_TOKENS = 200_000

# A line of more characters was not wrapped by an editor: it is a paragraph, and a sentence ends with it.
_WIDEST_WRAP = 120
# A line of fewer characters was not wrapped either, unless the next line clearly continues it.
_NARROWEST_WRAP = 50
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
# A line of more characters has lost its line ends: headings and items have no lines of their own in it.
_LONGEST_PARAGRAPH = 1_000
_ITEM = re.compile(rf"(?:{LIST_MARK})\s")

_TOKEN = re.compile(r"[^ \t\r\n\f\v\ufeff]+")


def pieces(line: str) -> Iterator[str]:
    """Yield a long line in pieces of at most `MAX_LINE` characters, cut at blanks.

    A word of more than `MAX_LINE` characters is itself cut.
    """
    start = 0
    while len(line) - start > MAX_LINE:
        end = line.rfind(" ", start, start + MAX_LINE) + 1 or start + MAX_LINE
        yield line[start:end]
        start = end
    yield line[start:]


def split_sentences(
    lines: Iterable[str], tokenizer: Tokenizer, *, offset: int = 0, width: int = 0
) -> Iterator[Sentence]:
    """Split raw text into sentences.

    Within a line, a sentence ends at a full stop or the like, unless the stop belongs to an abbreviation or
    initial. Closing quotation marks and brackets after the stop belong to the sentence; if a comma, a
    lower-case word, or a name with a verb of saying follows them, the sentence continues. The mark of a list
    item belongs to its item. Otherwise a learned splitter (``tokenizer.ends``) replaces these rules wherever
    a blank separates two tokens. It hardly ever ends a sentence without a mark, except in lines of over 1,000
    characters, in which headings have no lines of their own.

    At line ends, rules always decide. A sentence ends with its line if the line ends with a stop or the next
    line is blank. Otherwise it also ends, as a heading, list item or line of chat, unless the text looks
    wrapped there: the line has at most 120 characters, the next line does not begin a list item and has as
    many marks of quoted mail (``>``), and one of the following holds. The next line begins with a lower-case
    letter, and the sentence does not. The line ends with a comma or the like. The first word of the next line
    does not fit on the line, which has lower-case words, unlike a headline.

    A sentence is cut after ``MAX_TOKENS`` tokens. A sentence that ends with its line by a stop is yielded
    before the next line is read.

    Args:
        lines: lines with their ends, as a file object gives them. A line that ends in a blank is taken as a
            piece of a longer line; a line of more than `MAX_LINE` characters is tokenised in `pieces`.
        tokenizer: has the conventions, the language of the rules and the learned splitter.
        offset: number of characters in the stream before these lines; if not 0, the line before these lines
            must satisfy `may_cut`.
        width: length of the widest line since the last blank line before these lines, in characters without
            outer blanks.
    """
    pending = Pending(tokenizer.english, tokenizer.ends)
    previous = ""
    for line in chain.from_iterable(map(pieces, lines)):
        bare = line.strip()
        if not bare:
            width = 0
        goes_on = previous.endswith(" ")
        small = pending.begins_small
        if pending and not (goes_on or _carries_on(previous.strip(), bare, width, small=small)):
            yield from pending.close()
        unbroken = len(line) > _LONGEST_PARAGRAPH or (goes_on and len(previous) > _LONGEST_PARAGRAPH)
        pending.extend(list(tokenizer.tokenize(line, offset)), unbroken=unbroken)
        yield from pending.close() if pending.is_complete else pending.settle()
        offset += len(line)
        previous, width = line, max(width, len(bare))
    yield from pending.close()


def may_cut(line: str, tokenizer: Tokenizer | None) -> bool:
    """Return whether a line ends a sentence in any context, so that a text can be divided after the line.

    If a text is divided after such lines and its parts are split separately, the sentences are the same.

    Args:
        line: a whole line, with or without its end.
        tokenizer: the tokeniser of the text; without one, only blank and very wide lines qualify.
    """
    bare = line.strip()
    if not bare or len(bare) > _WIDEST_WRAP:
        return True
    if tokenizer is None:
        return False
    last = deque(tokenizer.tokenize(line), maxlen=1)
    return bool(last) and is_stop(last[0].text)


def _carries_on(line: str, following: str, width: int, *, small: bool) -> bool:
    """Return whether a sentence that ends its line without a stop continues on the next line.

    Args:
        line: a line that ends without a stop, without outer blanks.
        following: the next line, without outer blanks.
        width: length of the longest line of the paragraph, in characters.
        small: whether the sentence begins with a lower-case letter, as in chat.
    """
    (marks, line), (marks_after, following) = _unquoted(line), _unquoted(following)
    if not following or marks != marks_after or len(line) > _WIDEST_WRAP or _ITEM.match(following):
        return False
    if line[-1:] in tuple(",;-–—&(") or (following[0].islower() and not small):
        return True
    first_word = len(following.split(None, 1)[0])
    fits = len(line) + 1 + first_word <= max(width, len(following))
    words = _LONG_WORD.findall(line)
    is_headline = len(words) > 0 and all(word[0].isupper() for word in words)
    return not (fits or is_headline) and len(line) >= _NARROWEST_WRAP and len(following) <= _WIDEST_WRAP


def _unquoted(line: str) -> tuple[int, str]:
    """Return the number of marks of quoted mail (``>``) before a line, and the line without them."""
    text = line.lstrip("> ")
    return line[: len(line) - len(text)].count(">"), text


def read_tokenized(
    lines: Iterable[str],
    tokenizer: Tokenizer | None = None,
    path: str | Path | None = None,
    *,
    offset: int = 0,
    first: int = 1,
) -> Iterator[Sentence | None]:
    """Read tokenised sentences, one per line, with blanks between tokens.

    Args:
        lines: lines with their ends.
        tokenizer: tokeniser with the conventions for the forms of tokens; None to leave tokens unchanged.
        path: path of the file, for error messages.
        offset: number of characters in the stream before these lines.
        first: number of the first line, for error messages.

    Yields:
        A sentence for each line, or None for a blank line, so that output lines match input lines.

    Raises:
        InputError: a line of more than `MAX_LINE_TOKENS` tokens.
    """
    for number, line in enumerate(lines, first):
        words = [(match[0], match.start() + offset) for match in _tokens(line, path, number)]
        yield _sentence(words, tokenizer) if words else None
        offset += len(line)


def read_tagged(
    lines: Iterable[str],
    tokenizer: Tokenizer | None = None,
    path: str | Path | None = None,
    *,
    offset: int = 0,
    first: int = 1,
    known: Collection[str] | None = None,
) -> Iterator[Sentence | None]:
    """Read sentences of ``word_TAG``, one per line; the tag follows the last underscore.

    Args:
        lines: lines with their ends.
        tokenizer: tokeniser with the conventions for the forms of tokens; None to leave tokens unchanged.
        path: path of the file, for error messages.
        offset: number of characters in the stream before these lines.
        first: number of the first line, for error messages.
        known: the valid tags; None to accept any.

    Yields:
        A sentence with tags for each line, or None for a blank line.

    Raises:
        InputError: a token lacks a word, an underscore or a tag; a tag is not valid; or a line has more than
            `MAX_LINE_TOKENS` tokens.
    """
    for number, line in enumerate(lines, first):
        words: list[tuple[str, int]] = []
        tags: list[str] = []
        for match in _tokens(line, path, number):
            word, _, tag = match[0].rpartition("_")
            if not word or not tag:
                shown = match[0] if len(match[0]) <= 40 else match[0][:40] + "…"
                hint = "without tags, use `tokenized`"
                raise InputError(f"no word_TAG: {shown!r}", path=path, line=number, hint=hint)
            words.append((word, match.start() + offset))
            if known is not None and tag not in known:
                what = f"the model has no tag {tag[:40]!r}"
                raise InputError(what, path=path, line=number, hint=similar_names(tag, known))
            tags.append(tag)
        yield _sentence(words, tokenizer, tuple(tags)) if words else None
        offset += len(line)


def _tokens(line: str, path: str | Path | None, number: int) -> Sequence[re.Match[str]]:
    """Return the tokens of a line as matches of a regular expression, which have offsets.

    Raises:
        InputError: the line has more than `MAX_LINE_TOKENS` tokens.
    """
    matches = list(islice(_TOKEN.finditer(line), MAX_LINE_TOKENS + 1))
    if len(matches) > MAX_LINE_TOKENS:
        what, hint = f"a sentence of more than {MAX_LINE_TOKENS:,} tokens", "give one sentence a line"
        raise InputError(what, path=path, line=number, hint=hint)
    return matches


def _sentence(
    words: list[tuple[str, int]], tokenizer: Tokenizer | None, tags: tuple[str, ...] | None = None
) -> Sentence:
    """Return a sentence made from words and their start offsets."""
    texts = [word for word, _ in words]
    forms = tokenizer.normalise_all(texts) if tokenizer else texts
    tokens = (
        Token(word, form, start, start + len(word)) for (word, start), form in zip(words, forms, strict=True)
    )
    return Sentence(tuple(tokens), tags)
