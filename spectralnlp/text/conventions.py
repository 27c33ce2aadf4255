"""Token conventions of treebanks (spelling of quotes, brackets etc.), by which raw text is tokenised."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Annotated, Any

from spectralnlp.display import one_line
from spectralnlp.errors import ModelError
from spectralnlp.storage import Matching, checked_value
from spectralnlp.text.cut_words import Cut, is_cut, learn_cuts, written
from spectralnlp.text.english import PREFIXES
from spectralnlp.text.scripts import is_continuous

Form = Annotated[str, Matching(r"\S+")]
Pair = tuple[Form, Form]

# Spellings of opening and closing brackets in treebanks; the commonest is last, so that it wins ties.
_BRACKETS: dict[str, tuple[Pair, ...]] = {
    "()": (("(", ")"), ("-Fpa-", "-Fpt-"), ("-LRB-", "-RRB-")),
    "[]": (("[", "]"), ("-LSB-", "-RSB-")),
    "{}": (("{", "}"), ("-LCB-", "-RCB-")),
}
_ESCAPED = {
    form: character
    for characters, styles in _BRACKETS.items()
    for style in styles
    for form, character in zip(style, characters, strict=True)
    if form != character
}
_ESCAPED_FORM = re.compile("|".join(map(re.escape, _ESCAPED)))

# Direction of quotation marks: True opens, False closes, None is undirected.
DOUBLE_QUOTES: dict[str, bool | None] = {
    '"': None,
    "‟": None,
    **dict.fromkeys(("``", "“", "„", "«"), True),
    **dict.fromkeys(("''", "”", "»", "″"), False),
}
# A lone upright single quote is an apostrophe more often than an opening quotation mark.
SINGLE_QUOTES = {**dict.fromkeys("`‘‚‹", True), **dict.fromkeys("'’›", False)}

# ASCII equivalents of typographic characters: standing alone, and within a word.
_ALONE = {"–": "--", "—": "--", "―": "--", "−": "-", "‐": "-", "‑": "-", "…": "...", "′": "'"}
_WITHIN = {"–": "-", "−": "-", "‐": "-", "‑": "-", "’": "'", "‘": "'", "′": "'", "…": "..."}
_TYPOGRAPHIC = frozenset(_ALONE) | frozenset(_WITHIN) | frozenset("“”„«»″‟‚‹›")

# Marks at the end of a sentence, after which nothing is quoted.
_FINAL = frozenset(('"', "'", "''", "”", "’", ".", "?", "!", "...", "…", ")", "]", "-RRB-", "-RSB-"))

_ENGLISH = frozenset(["the", "of", "and", "to", "is", "was", "that", "with", "for", "from", "are", "be"])
_SPACE = re.compile(r"\s+")
_JOINED = re.compile(r"(?<=\w)_(?=\w)")
_ESCAPED_SLASH = re.compile(r"\\+([/*])")
_UNESCAPED_SLASH = re.compile(r"(?<!\\)([/*])")


@dataclass(frozen=True)
class Conventions:
    r"""Conventions for writing tokens; the defaults are those of the Penn treebank (Wall Street Journal).

    Args:
        round: spellings of ``(`` and ``)``.
        square: spellings of ``[`` and ``]``.
        curly: spellings of ``{`` and ``}``.
        double_quotes: spellings of an opening and a closing ``"``.
        single_quotes: spellings of an opening and a closing ``'``.
        typography: typographic characters (curly quotes, dashes, …) that the treebank keeps; all others
            become their ASCII equivalents.
        split_hyphens: whether ``well-known`` is three tokens (OntoNotes, GUM, CRAFT).
        split_slashes: whether ``and/or`` is three tokens.
        split_fractions: whether ``1/2`` is three tokens.
        split_units: whether ``$5`` and ``5%`` are two tokens.
        split_clitics: whether ``don't`` is ``do n't``, ``cannot`` is ``can not``, ``gonna`` is ``gon na``.
        ascii_escapes: whether ``/`` and ``*`` are written ``\/`` and ``\*``, and a pound sign ``#``.
        joiner: string that joins the words of a multiword token (``_`` in CESS-ESP), or empty. The tokeniser
            does not recognise multiword tokens; it only replaces blanks within a given token.
        language: ``en``, or ``neutral`` for rules without English word lists.
        cut_words: rules that split words by their endings, from `spectralnlp.text.cut_words.learn_cuts`.
        words_apart: whether the language writes blanks between words; False for Japanese.
    """

    round: Pair = ("-LRB-", "-RRB-")
    square: Pair = ("-LSB-", "-RSB-")
    curly: Pair = ("-LCB-", "-RCB-")
    double_quotes: Pair = ("``", "''")
    single_quotes: Pair = ("`", "'")
    typography: str = ""
    split_hyphens: bool = False
    split_slashes: bool = False
    split_fractions: bool = False
    split_units: bool = True
    split_clitics: bool = True
    ascii_escapes: bool = True
    joiner: str = ""
    language: str = "en"
    cut_words: tuple[Cut, ...] = ()
    words_apart: bool = True

    __repr__ = one_line

    def form(self, word: str, opening: bool = True) -> str:
        """Return a token as this treebank writes it; a token already in that form is unchanged.

        Args:
            word: a token, as in a text or in the conventions of another treebank.
            opening: whether an upright quotation mark opens a quotation.
        """
        if word in DOUBLE_QUOTES:
            opens = DOUBLE_QUOTES[word]
            return self._quote(word, self._double, opening if opens is None else opens)
        if word in SINGLE_QUOTES:
            return self._quote(word, self._single, SINGLE_QUOTES[word])
        if word.isalnum():
            return word
        if "-" in word:
            word = _ESCAPED_FORM.sub(lambda match: _ESCAPED[match[0]], word)
        if "\\" in word:
            word = _ESCAPED_SLASH.sub(r"\1", word)
        word = word.translate(self._tables[0 if len(word) == 1 else 1])
        if word in DOUBLE_QUOTES:  # made of two single quotes
            return self.form(word, opening)
        if self.ascii_escapes:
            word = _UNESCAPED_SLASH.sub(r"\\\1", word)
        return _SPACE.sub(self.joiner or "_", word)

    def forms(self, words: Iterable[str]) -> list[str]:
        """Return tokens as the treebank writes them.

        Upright quotation marks open and close in turn; one at the end of the sentence closes.
        """
        listed, result = list(words), list[str]()
        end = len(listed)
        while end > 1 and listed[end - 1] in _FINAL:
            end -= 1
        inside = False
        for index, word in enumerate(listed):
            result.append(self.form(word, opening=not inside and index < end))
            if word in DOUBLE_QUOTES:
                opens = DOUBLE_QUOTES[word]
                inside = not inside and index < end if opens is None else opens
        return result

    def plain(self, form: str) -> str:
        """Return a treebank token as raw text has it: ``(`` for ``-LRB-``, and upright quotation marks."""
        if form in ("``", "''"):
            return '"'
        if form == "`":
            return "'"
        if self.cut_words:
            form = written(form)
        if "-" in form:
            form = _ESCAPED_FORM.sub(lambda match: _ESCAPED[match[0]], form)
        if self.ascii_escapes:
            form = form.replace("\\/", "/").replace("\\*", "*")
        return _JOINED.sub(" ", form) if self.joiner == "_" else form

    def _quote(self, word: str, pair: Pair, opens: bool) -> str:
        return word if word in self.typography else pair[0 if opens else 1]

    @cached_property
    def _double(self) -> Pair:
        return self._directed(self.double_quotes, ("“", "”"))

    @cached_property
    def _single(self) -> Pair:
        return self._directed(self.single_quotes, ("‘", "’"))

    def _directed(self, pair: Pair, typographic: Pair) -> Pair:
        """Return a pair of quotation marks: the typographic one, if the treebank has it beside upright marks.

        So a sentence has the same tree, in whichever style its quotation marks are written.
        """
        has_both = all(mark in self.typography for mark in typographic)
        return typographic if pair[0] == pair[1] and has_both else pair

    @cached_property
    def _tables(self) -> tuple[dict[int, str], dict[int, str]]:
        brackets = dict(zip("()[]{}", (*self.round, *self.square, *self.curly), strict=True))
        if self.ascii_escapes:
            brackets["£"] = "#"
        alone, within = (
            str.maketrans({**brackets, **{c: to for c, to in table.items() if c not in self.typography}})
            for table in (_ALONE, _WITHIN)
        )
        return alone, within

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values, pairs as lists.

        ``cut_words`` and ``words_apart`` are left out if they have their defaults.
        """
        values = {
            name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()
        }
        if not self.cut_words:
            del values["cut_words"]
        if self.words_apart:
            del values["words_apart"]
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Conventions:
        """Return the conventions that ``to_dict`` wrote; raises ModelError for an unknown or wrong field."""
        try:
            read: Conventions = checked_value(cls, values)
        except ValueError as error:
            raise ModelError(f"text conventions: {error}", hint="is the model damaged?") from error
        return read

    @classmethod
    def learn(cls, words: Iterable[str]) -> Conventions:
        """Infer the conventions from the leaves of a treebank, in order and without traces.

        Where a treebank has no evidence, its convention is taken to be that of the Penn treebank, with one
        exception: square brackets that do not occur are taken to be unescaped if round brackets are, and
        curly brackets if square brackets are.
        """
        return cls.of_counts(Counter(token_boundaries(words)))

    @classmethod
    def of_counts(cls, counts: Mapping[str | tuple[str, ...], int]) -> Conventions:
        """Infer the conventions from counts of words and split words, the items of `token_boundaries`."""
        return _LeafCounts(counts).conventions()


def token_boundaries(words: Iterable[str]) -> Iterator[str | tuple[str, ...]]:
    """Yield the words of a treebank, and tuples of adjacent words that may be one word in raw text.

    A tuple holds two words joined by a hyphen or slash, such as ``("well", "-", "known")``, or the parts of a
    split word, such as ``("land$", "$ið")``. `Conventions.of_counts` infers the conventions from counts of
    the words and tuples.
    """
    before, last = "", ""
    parts: tuple[str, ...] = ()
    for word in words:
        yield word
        if last in _JOINERS and before[-1:].isalnum() and word[:1].isalnum():
            yield before, last, word
        if is_cut((last, word)):
            parts = (*(parts or (last,)), word)
        elif parts:
            yield parts
            parts = ()
        before, last = last, word
    if parts:
        yield parts


def language_of(counts: Mapping[str, int]) -> str:
    """Return ``en`` or ``neutral``, judged by word counts; ``en`` if there are under 100 words."""
    total, known = sum(counts.values()), sum(counts.get(word, 0) for word in _ENGLISH)
    return "neutral" if total >= 100 and known < 0.03 * total else "en"


class _LeafCounts:
    """Counts of a treebank's words (leaves) and split words, from which its conventions are inferred."""

    def __init__(self, counts: Mapping[str | tuple[str, ...], int]) -> None:
        self.counts = Counter({word: n for word, n in counts.items() if isinstance(word, str)})
        several = {parts: n for parts, n in counts.items() if not isinstance(parts, str)}
        self.cut = {parts: n for parts, n in several.items() if is_cut(parts)}
        self.split = {parts: n for parts, n in several.items() if parts not in self.cut}
        self.total = self.counts.total()

    def conventions(self) -> Conventions:
        """Return the conventions inferred from the counts."""
        language = language_of(self.counts)
        round_ = self._brackets("()", None)
        square = self._brackets("[]", round_ == ("(", ")"))
        double = ('"', '"') if self.counts['"'] > self.counts["``"] else ("``", "''")
        apostrophes_only = self.counts["'"] > 0 and self.counts["`"] == 0
        return Conventions(
            round=round_,
            square=square,
            curly=self._brackets("{}", square == ("[", "]")),
            double_quotes=double,
            single_quotes=("'", "'") if apostrophes_only else ("`", "'"),
            typography="".join(sorted(_TYPOGRAPHIC & set("".join(self.counts)))),
            split_hyphens=self._splits_hyphens(),
            split_slashes=self._prefers_split("/", r"[^\W\d_]\w*(?:\\?/\w+)+"),
            split_fractions=self._prefers_split("/", r"\d+\\?/\d+", digits=True),
            split_units=self._matching(r"[$€£]\d.*|\d.*%") <= self._matching(r"[$€£%]"),
            split_clitics=self._splits_clitics(language),
            ascii_escapes=self._matching(r".+\\/.+") > 0 or self._is_plain_penn(round_),
            joiner="_" if self._matching(r"\w*[^\W\d_]_[^\W\d_].*") > 0.005 * self.total else "",
            language=language,
            cut_words=learn_cuts(self._whole_words(), self.cut),
            words_apart=2 * sum(n for word, n in self.counts.items() if is_continuous(word)) <= self.total,
        )

    def _whole_words(self) -> Counter[str]:
        """Return counts of the words that are not parts of cut words."""
        whole = Counter(self.counts)
        for parts, count in self.cut.items():
            for part in parts:
                whole[part] -= count
        return +whole

    def _matching(self, pattern: str) -> int:
        matches = re.compile(pattern).fullmatch
        return sum(count for word, count in self.counts.items() if matches(word))

    def _brackets(self, characters: str, literal: bool | None) -> Pair:
        """Return the most frequent spelling of a pair of brackets.

        Args:
            characters: opening and closing bracket in raw text.
            literal: result for a treebank without these brackets: the brackets as in raw text if true, else
                their spelling in the Penn treebank.
        """
        styles = _BRACKETS[characters]
        if not any(self.counts[form] for style in styles for form in style):
            return styles[0] if literal else styles[-1]
        return max(reversed(styles), key=lambda style: self.counts[style[0]] + self.counts[style[1]])

    def _prefers_split(self, joiner: str, whole: str, digits: bool = False) -> bool:
        split = sum(
            count
            for (left, middle, right), count in self.split.items()
            if middle == joiner and (left.isdigit() and right.isdigit()) == digits
        )
        return split > self._matching(whole)

    def _splits_hyphens(self) -> bool:
        # Compounds recur, but the words around a dash seldom do: Spanish ``- … -`` are dashes, not hyphens.
        split = [count for (_, middle, _), count in self.split.items() if middle in _HYPHENS]
        whole = [
            count
            for word, count in self.counts.items()
            if _COMPOUND.fullmatch(word) and word.lower().partition("-")[0] not in PREFIXES
        ]
        again_split, again_whole = sum(split) - len(split), sum(whole) - len(whole)
        if again_split == again_whole:
            return sum(split) > sum(whole)
        return again_split > again_whole

    def _splits_clitics(self, language: str) -> bool:
        if language != "en":
            return False
        split = self._matching(r"(?i)(?:n['’]t|['’](?:s|re|ve|ll|m|d))")
        return split >= self._matching(r"(?i)\w+(?:n['’]t|['’](?:s|re|ve|ll|m))")

    def _is_plain_penn(self, round_: Pair) -> bool:
        return round_ == ("-LRB-", "-RRB-") and not any("/" in word for word in self.counts)


_HYPHENS = ("-", "–")
_JOINERS = frozenset((*_HYPHENS, "/"))
_COMPOUND = re.compile(r"[^\W_]+(?:-[^\W_]+)+")
