"""Rule-based tokeniser in Penn Treebank style, with exact offsets, for the conventions of any treebank.

A text is cut at blanks into chunks, and each chunk into tokens by one pattern. Decisions that depend on a
chunk's neighbours come last: the direction of a free-standing quotation mark, the stop after an abbreviation.
No rule looks beyond a line, so that a stream can be read line by line. All patterns are possessive or
bounded, so that time is linear in the length of the text, however long a line or a word is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from spectralnlp.errors import ConfigError
from spectralnlp.text.conventions import DOUBLE_QUOTES, SINGLE_QUOTES, Conventions
from spectralnlp.text.cut_words import WordCutter
from spectralnlp.text.english import (
    ANY_CASE,
    CAPITALISED,
    CLIPPED,
    CONTRACTIONS,
    ELIDED,
    NUMBERED,
    PREFIXES,
    SUFFIXES,
)
from spectralnlp.text.scripts import is_continuous
from spectralnlp.text.sentence_ends import SentenceEnds
from spectralnlp.text.tokens import Token

# Blanks: white space, and invisible control or format characters (NUL, zero-width space, BOM).
BLANK = r"\s\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
_CHUNK = re.compile(f"[^{BLANK}]+")

# Combining accents and vowel signs do not match \w, but belong to the letter before them.
_MARKS = "".join(chr(c) for c in range(0x300, 0x3100) if unicodedata.category(chr(c)).startswith("M"))
_MARKS += "\u00ad\u200c\u200d\ufe0e\ufe0f"
_EMOJI = (
    r"(?:[\U0001F1E6-\U0001F1FF]{2}|[0-9#*]\ufe0f?\u20e3"
    r"|[\U0001F000-\U0001FAFF\u2600-\u27bf\u2b00-\u2bff][\ufe0f\U0001F3FB-\U0001F3FF]*+"
    r"(?:\u200d[\U0001F000-\U0001FAFF\u2600-\u27bf\u2b00-\u2bff][\ufe0f\U0001F3FB-\U0001F3FF]*+)*)"
)
_EMOTICON = r"(?<![\w)])(?:[:;]['^]?[-o]?[()\[\]DPO/\\|*]|=[()]|<3|\^_\^|-_-)(?!\w)"
# A bracket belongs to an address only together with the one that it closes.
_BALANCED = r"\([^\s<>\"“”()]*\)"
_URL = rf"(?:(?:https?|ftp)://|www\.)(?:[^\s<>\"“”()]|{_BALANCED})*(?:[^\s<>\"“”.,;:!?'’()\]}}…]|{_BALANCED})"
_PATH_PART = r"/\.?[\w+@-]++(?:\.[\w+@-]++)*+"
_PATH = rf"(?<![\w.)\]/])(?:(?:\.{{1,2}}|~)(?:{_PATH_PART})++|(?:{_PATH_PART}){{2,}}+)/?"
_EMAIL = r"[\w.+%-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+"
_OPENERS = "([{<‘“„«`¿¡"
_CLOSERS = ("'", '"', "’", "”", "»", ")", "]")
_CLOSING = ".,;:!?)]}>’”»%…"

_CLITIC = r"(?:n['’]t|['’](?:s|m|d|ll|re|ve))"
_CLITIC_AT_END = re.compile(rf"{_CLITIC}\Z", re.I)
_HYPHEN = re.compile("([-‐‑])")
_DOTTED = re.compile(r"(?:[^\W\d_]++-)?(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")
_CLIPPED = re.compile(rf"[^\W\d_]{{2,}}in|{'|'.join(CLIPPED)}", re.I)
_APOSTROPHES = ("'", "’")
_BEFORE_ITEMS = frozenset((".", "?", "!", ":", ";"))
_ENUMERATOR = re.compile(r"\d{1,3}(?:\.\d{1,3})*")

_Piece = tuple[int, int, str, str]  # start and end within the chunk, text, form
_MAX_CLITICS = 3  # "shouldn't've"
_CACHED_CHUNKS = 1 << 15
_CACHED_LENGTH = 40


class Segmenter(Protocol):
    """Protocol of word segmenters, which find the words in text without blanks between words."""

    def ends(self, text: str) -> Sequence[int]:
        """Return the end offset of each word in a text without blanks; the last is the length of the text."""


class Tokenizer:
    """Tokenizer of raw text, which spells tokens by a treebank's conventions.

    The stop after an abbreviation belongs to its token, even if it also ends the sentence. Every character
    that is not blank is in exactly one token.

    Args:
        conventions: the treebank's conventions; by default those of the Penn treebank.
        ends: learned sentence splitter, which `spectralnlp.text.sentences.split_sentences` uses; None to
            split by rules.
        segmenter: splitter of text without blanks between words; None for languages that write blanks.
    """

    def __init__(
        self,
        conventions: Conventions | None = None,
        ends: SentenceEnds | None = None,
        segmenter: Segmenter | None = None,
    ) -> None:
        self.conventions = conventions or Conventions()
        self.ends, self.segmenter = ends, segmenter
        self.english = self.conventions.language == "en"
        self._cutter = WordCutter(self.conventions.cut_words)
        self._match = re.compile(_pattern(self.conventions), re.I).match
        self._cache: dict[str, tuple[_Piece, ...]] = {}

    def __reduce__(self) -> tuple[object, ...]:
        return Tokenizer, (
            self.conventions,
            self.ends,
            self.segmenter,
        )  # the cache is not sent to other processes

    def tokenize(self, text: str, offset: int = 0) -> Iterator[Token]:
        """Yield the tokens of a text, from left to right.

        Args:
            text: one line or many.
            offset: where the text starts in the stream; added to the tokens' offsets.

        Raises:
            ConfigError: the text has no blanks between words, and there is no segmenter.
        """
        start = 0
        while start < len(text):
            end = text.find("\n", start) + 1 or len(text)
            yield from self._line(text[start:end], offset + start)
            start = end

    def normalise(self, word: str) -> str:
        """Return a token as the treebank writes it; an upright quotation mark is taken as an opening one."""
        return self.conventions.form(word)

    def normalise_all(self, words: Iterable[str]) -> list[str]:
        """Return a sentence's tokens as the treebank writes them.

        Upright quotation marks open and close in turn.
        """
        return self.conventions.forms(words)

    def _line(self, line: str, offset: int) -> Iterator[Token]:
        inside = within_single = False  # whether a quotation is open on this line, in double or single marks
        before, ends = "", _BEFORE_ITEMS if self.english else ()  # the last token, and those before an item
        chunks = [(match.start(), match[0]) for match in _CHUNK.finditer(line)]
        for number, (position, chunk) in enumerate(chunks):
            pieces = self._cache.get(chunk) or self._remember(chunk)
            if chunk[-1] == ".":
                following = chunks[number + 1][1] if number + 1 < len(chunks) else ""
                pieces = self._settle_stop(pieces, number == 0 or before in ends, following)
            if self.english and not within_single and pieces[-1][0] and ("'" in chunk or "’" in chunk):
                pieces = self._join_clipped(pieces)
            position += offset
            for start, end, text, form in pieces:
                if text in DOUBLE_QUOTES:
                    inside = self._opens(chunk, start, end, inside)
                    form = self.conventions.form(text, opening=inside)
                elif text in SINGLE_QUOTES:
                    within_single = _opens_single(chunk, start, end)
                yield Token(text, form, position + start, position + end)
            before = pieces[-1][2]

    def _join_clipped(self, pieces: tuple[_Piece, ...]) -> tuple[_Piece, ...]:
        """Join an apostrophe to a word whose last sound is not written, as in *lovin'*.

        Args:
            pieces: tokens of a chunk outside of a quotation in single marks.
        """
        joined = [pieces[0]]
        for piece in pieces[1:]:
            start, _, word, _ = joined[-1]
            if piece[2] in _APOSTROPHES and _CLIPPED.fullmatch(word) and joined[0][2] not in SINGLE_QUOTES:
                joined[-1] = self._piece(start, word + piece[2])
            else:
                joined.append(piece)
        return tuple(joined)

    def _opens(self, chunk: str, start: int, end: int, inside: bool) -> bool:
        """Return whether a double quotation mark opens a quotation, by its direction or its neighbours.

        Args:
            chunk: text between blanks.
            start, end: range of the quotation mark in the chunk.
            inside: whether a quotation is open; used if neither direction nor neighbours decide.
        """
        opens = DOUBLE_QUOTES[chunk[start:end]]
        if opens is not None and not (opens and _closes_code(chunk, start, end)):
            return opens
        free_before = start == 0 or chunk[start - 1] in _OPENERS
        free_after = end == len(chunk) or chunk[end] in _CLOSING
        if free_before == free_after:
            return not inside
        return free_before

    def _settle_stop(self, pieces: tuple[_Piece, ...], first: bool, following: str) -> tuple[_Piece, ...]:
        """Decide by the next word whether a final full stop is part of the word before it, as in ``No. 5``.

        Args:
            pieces: tokens of a chunk (text between blanks).
            first: whether the chunk is the first of its line or, in English, follows a stop or colon; numbers
                with stops are ordinal numbers in other languages.
            following: the next chunk of the line; empty if there is none.

        Returns:
            The tokens, with the stop attached or separated; unchanged if the next word does not matter.
        """
        start, end, text, _ = pieces[-1]
        if text == ".":
            enumerates = first and following and len(pieces) == 2 and _ENUMERATOR.fullmatch(pieces[0][2])
            if enumerates:  # "1. Introduction"
                return (self._piece(0, pieces[0][2] + "."),)
            return pieces
        stem = text[:-1]
        if len(text) == 2 and stem.isupper():  # "J. Smith", but "plan B." and "so do I."
            attached = bool(following) and (stem != "I" or following[1:2] == ".")
        elif self.english and stem.lower() in NUMBERED and stem not in CAPITALISED:
            attached = any(map(str.isdigit, following)) or following.isupper()
        else:
            return pieces
        return pieces if attached else (*pieces[:-1], self._piece(start, stem), self._piece(end - 1, "."))

    def _remember(self, chunk: str) -> tuple[_Piece, ...]:
        pieces = tuple(self._split(chunk) if self.conventions.words_apart else self._segment(chunk))
        if len(chunk) <= _CACHED_LENGTH:
            if len(self._cache) >= _CACHED_CHUNKS:
                self._cache.clear()
            self._cache[chunk] = pieces
        return pieces

    def _segment(self, chunk: str) -> Iterator[_Piece]:
        """Yield the tokens of a chunk (text between blanks), by the segmenter if blanks do not end words."""
        if not is_continuous(chunk):
            yield from self._split(chunk)
            return
        if self.segmenter is None:
            what = (
                f"no words are known to end in {chunk[:20]!r}: the model cannot segment text without blanks"
            )
            hint = "give tokens (--tokenized), or train with `segmenter` on, on 500 trees or more"
            raise ConfigError(what, hint=hint)
        start = 0
        for end in self.segmenter.ends(chunk):
            yield start, end, chunk[start:end], self.conventions.form(chunk[start:end])
            start = end

    def _split(self, chunk: str) -> Iterator[_Piece]:
        """Yield the tokens of a chunk (text between blanks), whatever precedes and follows it."""
        start = 0
        while start < len(chunk):
            match = self._match(chunk, start)
            assert match is not None  # the last alternative takes any character
            end = match.end()
            assert end > start
            if match.lastgroup in ("word", "elided"):
                if chunk[end : end + 1] == "." and self._is_abbreviation(match[0], chunk[end + 1 : end + 2]):
                    end += 1
                for word in self._parts(chunk[start:end]):
                    for part, form in self._cutter.parts(word):
                        yield start, start + len(part), part, self.conventions.form(form)
                        start += len(part)
            elif match.lastgroup == "quote":
                opens = _opens_single(chunk, start, end)
                yield start, end, match[0], self.conventions.form("‘" if opens else "’")
            else:
                yield self._piece(start, match[0])
            start = end

    def _piece(self, start: int, text: str) -> _Piece:
        return start, start + len(text), text, self.conventions.form(text)

    def _is_abbreviation(self, word: str, after: str) -> bool:
        """Whether the stop between ``word`` and the character ``after`` belongs to the word."""
        if after.isalnum() or after in ("_", ".", "…"):
            return False
        lowered = word.lower()
        if len(word) == 1 and word.isupper():
            return after not in _CLOSERS  # 'plan B."'
        if not self.english or _DOTTED.fullmatch(word):
            return _DOTTED.fullmatch(word) is not None
        if lowered in NUMBERED:
            return after not in _CLOSERS  # 'He said "No."'
        return lowered in ANY_CASE or (word[0].isupper() and lowered.capitalize() in CAPITALISED)

    def _parts(self, word: str) -> list[str]:
        """Split a word at contractions, clitics and hyphens, if the treebank's conventions do so."""
        tail: list[str] = []
        if self.conventions.split_clitics:
            cut = CONTRACTIONS.get(word.lower().replace("’", "'"))
            if cut is not None:
                return [word[:cut], word[cut:]]
            for _ in range(_MAX_CLITICS):
                match = _CLITIC_AT_END.search(word, max(len(word) - 3, 1))
                if match is None or word[match.start() - 1].isdigit():  # "1980's" is a plural
                    break
                tail.insert(0, match[0])
                word = word[: match.start()]
        if self.conventions.split_hyphens and _HYPHEN.search(word):
            return [*_split_hyphens(word), *tail]
        return [word, *tail]


def _opens_single(chunk: str, start: int, end: int) -> bool:
    """Return whether a single quotation mark opens a quotation, by its direction or its neighbours.

    Args:
        chunk: text between blanks.
        start, end: range of the quotation mark in the chunk.
    """
    opens = SINGLE_QUOTES[chunk[start:end]]
    if chunk[start] == "'":
        return chunk[end : end + 1].isalnum() and not chunk[start - 1 : start].isalnum()
    return opens and not _closes_code(chunk, start, end)


def _closes_code(chunk: str, start: int, end: int) -> bool:
    """Return whether a backtick closes what another one opened: text precedes it, and none follows."""
    return (
        chunk[start] == "`"
        and start > 0
        and chunk[start - 1] not in _OPENERS
        and not chunk[end : end + 1].isalnum()
    )


def _split_hyphens(word: str) -> list[str]:
    """Split a word at hyphens, except after a prefix, before a suffix and at the end of the word."""
    parts = _HYPHEN.split(word)
    result = [parts[0]]
    for hyphen, part in zip(parts[1::2], parts[2::2], strict=True):
        bound = not part or result[-1].lower() in PREFIXES or part.lower() in SUFFIXES
        if bound:
            result[-1] += hyphen + part
        else:
            result += [hyphen, part]
    return result


def _pattern(conventions: Conventions) -> str:
    """Return a regular expression that matches the next token of a chunk (text between blanks).

    A match of its group ``word`` may consist of several tokens, into which `Tokenizer` splits it.
    """
    english = conventions.language == "en"
    hyphens = "-‐‑" if conventions.split_hyphens else "-‐‑–"
    run = rf"(?:[^\W_]++[{_MARKS}]*+)++"
    joiners = [
        r"(?<=\d)[.,:](?=\d)",
        r"['’](?=[^\W_])",
        r"_++(?=[^\W_])",
        r"(?<=[^\W\d_])(?:&|\*{1,9})(?=[^\W\d_])",
        rf"[{hyphens}](?=[^\W_])",
        rf"\.[{hyphens}](?=[^\W_])",  # "U.S.-based"
        rf"(?<=\d)%[{hyphens}](?=[^\W\d_])",  # "62%-owned"
        # A capital after a stop is a new sentence with a missing blank ("film.The").
        r"\.(?=[^\W_])" + (r"(?!(?-i:(?<=[a-z]{2}\.)[A-Z]))" if english else ""),
    ]
    if not conventions.split_fractions:
        joiners.append(r"(?<=\d)\\?[/⁄](?=\d)")
    if not conventions.split_slashes:
        joiners.append(r"\\?/(?=[^\W_])")
    before, after = "", r"(?:(?<=[^\W\d_])-(?![\w-]))?(?:\+{1,2}(?!\w))?"
    if not conventions.split_hyphens:
        before += r"(?:(?<![\w)\]}%])[-+](?=\.?\d))?"
    if not conventions.split_units:
        before += r"(?:[$€£¥](?=\d))?"
        after += r"(?:(?<=\d)%)?"
    before += r"(?:(?<![\w.)\]'\"’”])\.(?=\d|(?-i:[a-z]|[A-Z]{2})))?"  # ".5", ".NET"
    alternatives = [
        _URL,
        _PATH,
        _EMAIL,
        r"-[LR][RSC]B-",
        *(map(re.escape, conventions.round)),
        _EMOTICON,
        _EMOJI,
        r"[#@](?=[^\W\d_])\w++",
        r"``|''|[\"“”„«»‟]",
        r"[.…]{2,}+|…",
    ]
    if english:
        alternatives += [
            rf"{_CLITIC}(?!\w)",
            rf"(?P<elided>(?<!\w)['’](?:n['’]|\d\ds?|{'|'.join(ELIDED)})(?!\w))",
            r"(?-i:(?<!\w)[A-Z]{1,3}\$)",
        ]
    # Not possessive, because Python before 3.11.5 mishandles possessive groups with alternatives. What
    # follows may be empty, so that the pattern never backtracks.
    alternatives += [
        rf"(?P<word>{before}{run}(?:(?:{'|'.join(joiners)}){run})*{after})",
        r"(?P<quote>['`‘’])",
        rf"°[CF](?!\w)|--++|—++|––++|[!?]++|\\[/*]|(?P<symbol>[*=_~#+<>|•·^。！？])(?P=symbol)*+[{_MARKS}]*+",
        rf"(?s:.)[{_MARKS}]*+",
    ]
    return "|".join(alternatives)
