"""Sentences from a stream of lines: split from raw text, or one a line.

Everything here is lazy and keeps no more than the sentence under way (and one line) in memory. Offsets
count decoded characters from the start of the stream, line ends included.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from spectralnlp.errors import InputError
from spectralnlp.text.constraints import near
from spectralnlp.text.sentence_ends import Pending
from spectralnlp.text.sentence_rules import is_stop
from spectralnlp.text.tokenizer import Tokenizer
from spectralnlp.text.tokens import Sentence, Token

# A line of more characters is split into sentences in pieces.
MAX_LINE = 1 << 16
# A sentence a line has no more tokens: all of them are held at once.
MAX_LINE_TOKENS = 200_000

# A line of more characters was not wrapped by an editor: it is a paragraph, and its end is an end.
_WIDEST_WRAP = 120
# A line of fewer was not wrapped either, unless the next one clearly carries on.
_NARROWEST_WRAP = 40
_ITEM = re.compile(r"[-*•–—]\s|\(?\w{1,3}[.)]\s")

_TOKEN = re.compile(r"[^ \t\r\n\f\v\ufeff]+")


def pieces(line: str) -> Iterator[str]:
    """Cut a line that is too long to be held as tokens, at blanks; a piece has `MAX_LINE` characters at most.

    Only a word longer than that is cut itself.
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

    A sentence ends at a stop that the words around it do not contradict: abbreviations, initials, a
    comma or a small letter behind a closing quotation mark. Closing quotation marks and brackets
    go with the stop. Where ends were learned of a treebank (``tokenizer.ends``), they decide in place of
    these rules wherever a blank stands between two tokens. Line ends are the rules': a blank line ends a
    sentence always, and a stop at the end of a line. A line end without a stop ends it unless
    the next line carries on, which is so if both lines look wrapped (at most 120 characters) and the next
    begins with a small letter, or this one ends with a comma or the like, or the first word of the next
    would not have fitted on this line (of at least 40). So headings and lists stay apart. A sentence is
    cut after ``MAX_TOKENS`` tokens.

    A sentence that ends with its line is yielded before the next line is read.

    Args:
        lines: lines with their ends, as a file object gives them; one that ends in a blank is a piece of a
            line. A line of more than `MAX_LINE` characters is tokenised in `pieces`.
        tokenizer: brings the conventions, and with them the language's rules and the ends that were learned.
        offset: characters of the stream before these lines, which begin where `may_cut` says.
        width: the widest line since the last blank one, in characters without blanks at its ends.
    """
    pending = Pending(tokenizer.english, tokenizer.ends)
    previous = ""
    for line in chain.from_iterable(map(pieces, lines)):
        bare = line.strip()
        if not bare:
            width = 0
        if pending and not (previous.endswith(" ") or _carries_on(previous.strip(), bare, width)):
            yield from pending.close()
        pending.extend(tokenizer.tokenize(line, offset))
        yield from pending.close() if pending.is_complete else pending.settle()
        offset += len(line)
        previous, width = line, max(width, len(bare))
    yield from pending.close()


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
    return bool(last) and is_stop(last[0].text)


def _carries_on(line: str, following: str, width: int) -> bool:
    """Whether a sentence without a stop goes on in the next line (``width``: the paragraph's widest line)."""
    if not following or len(line) > _WIDEST_WRAP or _ITEM.match(following):
        return False
    if following[0].islower() or line[-1:] in tuple(",;-–—&("):
        return True
    first_word = len(following.split(None, 1)[0])
    fits = len(line) + 1 + first_word <= max(width, len(following))
    return not fits and len(line) >= _NARROWEST_WRAP and len(following) <= _WIDEST_WRAP


def read_tokenized(
    lines: Iterable[str],
    tokenizer: Tokenizer | None = None,
    path: str | Path | None = None,
    *,
    offset: int = 0,
    first: int = 1,
) -> Iterator[Sentence | None]:
    """Read sentences that are tokenised already: one a line, blanks between tokens.

    Args:
        lines: lines with their ends.
        tokenizer: brings the tokens into its conventions; without one, forms are the tokens as given.
        path: where the lines are from, for errors.
        offset: characters of the stream before these lines.
        first: the number of the first line, for errors.

    Yields:
        a sentence per line, None for a blank one, so that output lines up with input.

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
    """Read sentences of ``word_TAG``, one a line; the tag follows the last underscore.

    Args:
        lines: lines with their ends.
        tokenizer: as in ``read_tokenized``.
        path: where the lines are from, for errors.
        offset: characters of the stream before these lines.
        first: the number of the first line, for errors.
        known: the tags that there are; None for any.

    Yields:
        a sentence with tags per line, None for a blank one.

    Raises:
        InputError: a token without a word, an underscore or a tag; a tag that is not known; a line of more
            than `MAX_LINE_TOKENS`.
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
                raise InputError(what, path=path, line=number, hint=near(tag, known))
            tags.append(tag)
        yield _sentence(words, tokenizer, tuple(tags)) if words else None
        offset += len(line)


def _tokens(line: str, path: str | Path | None, number: int) -> Sequence[re.Match[str]]:
    """The tokens of a line.

    Raises:
        InputError: there are more than `MAX_LINE_TOKENS`.
    """
    found = list(islice(_TOKEN.finditer(line), MAX_LINE_TOKENS + 1))
    if len(found) > MAX_LINE_TOKENS:
        what, hint = f"a sentence of more than {MAX_LINE_TOKENS:,} tokens", "give one sentence a line"
        raise InputError(what, path=path, line=number, hint=hint)
    return found


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
