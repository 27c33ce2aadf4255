"""Patterns in Tregex's language, from text to expressions; written from the published manual.

By recursive descent: a pattern is alternatives between ``:``, alternatives are nodes between ``|``, a node
is a description or a group in parentheses with its relations, and relations are joined by ``&`` and ``|``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from spectralnlp.display import one_line
from spectralnlp_trees.tregex.combinations import All, Any, Not, Perhaps
from spectralnlp_trees.tregex.conditions import Bind, Label, Related, SameAs
from spectralnlp_trees.tregex.labels import LabelTest
from spectralnlp_trees.tregex.pattern_error import PatternError
from spectralnlp_trees.tregex.plan import Expression
from spectralnlp_trees.tregex.relations import INTERVALS

# Groups in a pattern may stand inside one another so many times.
DEEPEST = 50

# Other signs of relations.
_SYNONYMS = {"$..": "$++", "$,,": "$--", "$.": "$+", "$,": "$-"}
_SYNONYMS |= {f"{side}{sign}": f"{side}{n}" for side in "<>" for sign, n in [(",", 1), ("-", -1), ("`", -1)]}
_NUMBERED = re.compile(r"(<<<|<|>)(-?\d+)")
_MOST_DIGITS = 9  # no tree has more words or nodes
_CHAIN = re.compile(r"([<>.,]\+)\s*\(")
_SIGNS = sorted({*INTERVALS, *_SYNONYMS, ">>"} - {":"}, key=len, reverse=True)
_BLANK = re.compile(r"\s*")
_NAME = re.compile(r"[^\W\d]\w*|\d+")
_LITERAL = re.compile(r"(?:[^\W\d_]|[^\x00-\x7f])(?:[\w-]|[^\x00-\x7f])*")
_EXPRESSION = re.compile(r"/((?:\\.|[^/\\\n])*)/(i?(?![\w-]))", re.DOTALL)
_GROUP = re.compile(r"#(\d+)%(\w+)")


@dataclass(frozen=True)
class Pattern:
    """A pattern that has been understood.

    Attributes:
        text: as it was written.
        expression: of a node.
        names: of nodes, in the order in which they are given.
    """

    text: str
    expression: Expression
    names: tuple[str, ...]

    __repr__ = one_line


def read_pattern(text: str) -> Pattern:
    """Understand a pattern.

    Raises:
        PatternError: it is none; with the column.
    """
    parser = _Parser(text)
    expression = parser.pattern()
    if parser.place < len(text):
        raise parser.error(
            "a relation is expected here" if text[parser.place] not in ")]}" else "nothing is open here"
        )
    return Pattern(text, expression, tuple(parser.names))


class _Parser:
    """A place in a pattern, and the names that may be referred to there."""

    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0
        self.names: dict[str, None] = {}  # all, in order
        self.scope: frozenset[str] = frozenset()  # those that this place can refer to
        self.negated, self.depth = False, 0
        self.skip()

    # Nodes.

    def pattern(self) -> Expression:
        """Alternatives, and what else must be in the tree: ``A : B``."""
        parts = [self.alternatives()]
        while self.take(":"):
            parts.append(Related(":", self.alternatives()))
        return joined(All, parts)

    def alternatives(self) -> Expression:
        """Nodes with their relations, between ``|``."""
        return joined(Any, self.branches(self.node, lambda: self.take("|")))

    def node(self) -> Expression:
        """A description or a group, and its relations."""
        if self.at("("):
            with self.group(")"):
                start = self.pattern()
        else:
            start = self.description()
        return joined(All, [start, *self.relations()])

    def description(self) -> Expression:
        """A description of one node: labels, variables, a name, or a reference to a name."""
        begin = self.place
        if self.take("="):
            return SameAs(self.known_name())
        if self.take("~"):
            return joined(All, [SameAs(self.known_name(), by_label=True), *self.new_name()])
        test, n_groups = self.label_test()
        groups = []
        while found := self.match(_GROUP, skip=False):
            group = self.number(found[1], begin)
            if group > n_groups:
                raise self.error(f"the expression has no group {group}", begin)
            groups.append((group, found[2]))
        self.skip()
        return joined(All, [Label(test, tuple(groups)), *self.new_name()])

    def label_test(self) -> tuple[LabelTest | None, int]:
        """The labels of a description, and how many groups its expression has."""
        negated = self.take("!")
        ignore_case = self.text.startswith("i@", self.place)
        self.place += ignore_case
        basic = self.take("@")
        if self.text.startswith("__", self.place):
            self.place += 2
            return LabelTest() if negated else None, 0  # no literals: accepts nothing
        if self.at("/"):
            return self.expression(basic, ignore_case, negated)
        literals = [self.literal()]
        while self.text.startswith("|", self.place) and _LITERAL.match(self.text, self.place + 1):
            self.place += 1
            literals.append(self.literal())
        folded = frozenset(each.casefold() if ignore_case else each for each in literals)
        return LabelTest(folded, basic=basic, ignore_case=ignore_case, negated=negated), 0

    def literal(self) -> str:
        """A label that is written as it is."""
        found = self.match(_LITERAL, skip=False)
        if found is None:
            what = (
                "the pattern ends where a node is expected"
                if self.place == len(self.text)
                else "a node is expected here"
            )
            signs = self.place < len(self.text) and self.text[self.place] not in "()[]{}<>|&:;!?"
            raise self.error(
                what, hint="labels with signs or digits in front are written /^…$/" if signs else None
            )
        return found[0]

    def expression(self, basic: bool, ignore_case: bool, negated: bool) -> tuple[LabelTest, int]:
        """A regular expression between slashes."""
        begin = self.place
        found = self.match(_EXPRESSION, skip=False)
        if found is None:
            raise self.error("the closing / is missing")
        flags = re.IGNORECASE if ignore_case or found[2] else re.NOFLAG
        try:
            compiled = re.compile(found[1].replace("\\/", "/"), flags)
        except (re.error, OverflowError, RecursionError) as error:
            column = begin + 1 + (getattr(error, "pos", None) or 0)
            raise self.error(f"no regular expression: {getattr(error, 'msg', error)}", column) from None
        test = LabelTest(expression=compiled, basic=basic, ignore_case=ignore_case, negated=negated)
        return test, compiled.groups

    # Names.

    def known_name(self) -> str:
        """A name that stands further left."""
        begin = self.place
        name = self.name()
        if name not in self.scope:
            raise self.error(f"no node before this one is called {name}", begin)
        return name

    def new_name(self) -> list[Expression]:
        """``=name``, if it stands here."""
        if self.text.startswith("==", self.place) or not self.take("="):
            return []
        begin = self.place
        name = self.name()
        if self.negated:
            raise self.error("a node that must not be there cannot have a name", begin)
        if name in self.scope:
            raise self.error(
                f"two nodes are called {name}", begin, hint=f"refer to the first with ={name} alone"
            )
        self.names[name] = None
        self.scope |= {name}
        return [Bind(name)]

    def name(self) -> str:
        """A name."""
        found = self.match(_NAME)
        if found is None:
            raise self.error("a name is expected here")
        return found[0]

    # Relations.

    def relations(self) -> list[Expression]:
        """The relations of a node, if there are any."""
        if not self.at_relation(self.place):
            return []
        return [joined(Any, self.branches(self.conjunction, self.take_or_before_relation))]

    def conjunction(self) -> Expression:
        """Relations that must all hold, with ``&`` or nothing between."""
        parts = [self.relation()]
        while self.at_relation(self.place) or self.take("&"):
            parts.append(self.relation())
        return joined(All, parts)

    def relation(self) -> Expression:
        """A relation or a group of them, negated, optional or neither."""
        if self.at("!"):
            self.take("!")
            outer, scope, self.negated = self.negated, self.scope, True
            part = self.positive_relation()
            self.negated, self.scope = outer, scope
            return Not(part)
        if self.take("?"):
            return Perhaps(self.positive_relation())
        return self.positive_relation()

    def positive_relation(self) -> Expression:
        """A relation, or a group of relations in brackets or parentheses."""
        for opening, closing in ("[]", "()"):
            if self.at(opening):
                with self.group(closing):
                    inner = self.relations()
                    if not inner:
                        raise self.error("a relation is expected here")
                return inner[0]
        begin = self.place
        if chain := self.match(_CHAIN, skip=False):
            self.skip()
            return self.chain(chain[1])
        if self.text.startswith("<...", self.place):
            self.place += 4
            self.skip()
            return self.exact_children()
        if found := self.match(_NUMBERED):
            number = self.number(found[2], begin + len(found[1]))
            if number == 0:
                raise self.error("children and words are counted from 1", begin + len(found[1]))
            return Related(found[1], self.partner(), number)
        for sign in _SIGNS:
            if self.take(sign):
                return self.with_partner(_SYNONYMS.get(sign, sign))
        raise self.error("a relation is expected here")

    def number(self, digits: str, place: int) -> int:
        """A number that stands at a place."""
        if len(digits) > _MOST_DIGITS:
            raise self.error(f"a number of more than {_MOST_DIGITS} digits", place)
        return int(digits)

    def with_partner(self, symbol: str) -> Expression:
        """A relation by its sign and number, once it has been read."""
        found = _NUMBERED.fullmatch(symbol)
        if found is None:
            return Related(symbol, self.partner())
        return Related(found[1], self.partner(), int(found[2]))

    def partner(self) -> Expression:
        """The node on the right-hand side: relations behind it belong to the left-hand side."""
        if not self.at("("):
            return self.description()
        with self.group(")"):
            return self.pattern()

    def chain(self, symbol: str) -> Expression:
        """The rest of ``<+(C) B``."""
        links = Label(self.label_test()[0])
        self.skip()
        self.close(")")
        return Related(symbol, self.partner(), links=links)

    def exact_children(self) -> Expression:
        """The rest of ``<... { B ; C }``."""
        children = []
        with self.group("}", "{"):
            children.append(self.alternatives())
            while self.take(";"):
                children.append(self.alternatives())
        size = len(children)
        return All([Related("<...", each, number, size) for number, each in enumerate(children, 1)])

    def at_relation(self, place: int) -> bool:
        """Whether a relation begins at a place."""
        if self.text[place : place + 1] in ("!", "?"):
            place = self.blank_end(place + 1)
        if self.text[place : place + 1] in ("[", "("):
            return True
        return any(self.text.startswith(sign, place) for sign in _SIGNS)

    def take_or_before_relation(self) -> bool:
        """Take ``|`` if a relation follows it; else it parts alternatives of nodes."""
        if self.at("|") and self.at_relation(self.blank_end(self.place + 1)):
            return self.take("|")
        return False

    # Places.

    def branches(self, branch: Callable[[], Expression], more: Callable[[], bool]) -> list[Expression]:
        """Alternatives: each knows the names before it, and what follows knows those of all."""
        before, after = self.scope, self.scope
        parts: list[Expression] = []
        while not parts or more():
            self.scope = before
            parts.append(branch())
            after |= self.scope
        self.scope = after
        return parts

    @contextmanager
    def group(self, closing: str, opening: str = "") -> Iterator[None]:
        """Everything up to the closing bracket; the opening one stands here."""
        if opening and not self.at(opening):
            raise self.error(f"{opening} is expected here")
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.error(f"more than {DEEPEST} groups inside one another")
        self.place += 1
        self.skip()
        yield
        self.close(closing)
        self.depth -= 1

    def close(self, closing: str) -> None:
        """Take a closing bracket."""
        if not self.take(closing):
            ended = self.place == len(self.text)
            raise self.error(
                f"a closing {closing} is missing" if ended else f"{closing} or a relation is expected here"
            )

    def at(self, sign: str) -> bool:
        """Whether a sign stands here."""
        return self.text.startswith(sign, self.place)

    def take(self, sign: str) -> bool:
        """Go past a sign and the blanks behind it, if it stands here."""
        there = self.at(sign)
        if there:
            self.place += len(sign)
            self.skip()
        return there

    def match(self, expected: re.Pattern[str], *, skip: bool = True) -> re.Match[str] | None:
        """Go past what matches here, and the blanks behind it."""
        found = expected.match(self.text, self.place)
        if found is not None:
            self.place = found.end()
            if skip:
                self.skip()
        return found

    def skip(self) -> None:
        """Go past blanks."""
        self.place = self.blank_end(self.place)

    def blank_end(self, place: int) -> int:
        """The end of the blanks at a place."""
        found = _BLANK.match(self.text, place)
        return place if found is None else found.end()

    def error(self, what: str, place: int | None = None, hint: str | None = None) -> PatternError:
        """An error at a place, by default here."""
        return PatternError(what, self.text, 1 + (self.place if place is None else place), hint)


def joined(kind: Callable[[Sequence[Expression]], Expression], parts: Sequence[Expression]) -> Expression:
    """Several expressions as one; one stays as it is."""
    return parts[0] if len(parts) == 1 else kind(parts)
