"""Parse search patterns in Tregex's language by recursive descent, following the published manual.

A pattern has one or more alternative nodes separated by ``|``. A node is a description, or a group in
parentheses, followed by its relations, which are joined by ``&`` (all must hold) and ``|`` (one must hold).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from spectralnlp.display import one_line
from spectralnlp_trees.tregex.combinations import All, Any, Not, OptionalCondition
from spectralnlp_trees.tregex.conditions import Bind, Label, Related, SameAs
from spectralnlp_trees.tregex.labels import LabelTest, compile_expression
from spectralnlp_trees.tregex.pattern_error import PatternError
from spectralnlp_trees.tregex.plan import Expression
from spectralnlp_trees.tregex.relations import INTERVALS

# Maximum nesting depth of groups.
DEEPEST = 50

# Alternative symbols of relations.
_SYNONYMS = {"$..": "$++", "$,,": "$--", "$.": "$+", "$,": "$-"}
_SYNONYMS |= {f"{side}{sign}": f"{side}{n}" for side in "<>" for sign, n in [(",", 1), ("-", -1), ("`", -1)]}
_SYNONYMS |= {"<<`": "<<-", ">>`": ">>-"}
_MAX_DIGITS = 9  # no tree has more words or nodes
_CHAIN = re.compile(r"[<>.,]\+")
_SIGNS = sorted({*INTERVALS, *_SYNONYMS, ">>"}, key=len, reverse=True)
_BLANK = re.compile(r"\s*")
# A label or name may contain any character but these; a label does not begin with a digit or an underscore,
# except in a list after another, and is not a negative number, which would belong to the relation before it.
_NAME = re.compile(r"[^\s()\[\]{}<>/|@!?#%&=~.,$:;]+")
_NUMBER = rf"-\d+(?!{_NAME.pattern})"
_LITERAL = re.compile(rf"(?!{_NUMBER}|[\d_]){_NAME.pattern}")
_LISTED = re.compile(rf"\|(?!_)({_NAME.pattern})")
_NUMBERED = re.compile(rf"(<<<|<|>)(\s*\d+|-\s*\d+|\s+{_NUMBER})")
_ROOT = re.compile(r"(!?)\s*@?\s*_ROOT_")
_LINK = re.compile(r"(@?)\s*~")
_EXPRESSION = re.compile(r"/((?:\\.|[^/\\\n])*)/(i?(?![\w-]))", re.DOTALL)
_GROUP = re.compile(rf"\s*#\s*(\d+)\s*%\s*({_NAME.pattern})")


@dataclass(frozen=True)
class Pattern:
    """A parsed search pattern.

    Attributes:
        text: the pattern as written.
        expression: the pattern as a condition on a node.
        names: names that the pattern gives to nodes, in the order of their first occurrence.
    """

    text: str
    expression: Expression
    names: tuple[str, ...]

    __repr__ = one_line


def read_pattern(text: str) -> Pattern:
    """Parse a search pattern in Tregex's language.

    Raises:
        PatternError: the pattern is invalid; the message names the column.
    """
    parser = _Parser(text)
    expression = parser.alternatives()
    if parser.place < len(text):
        raise parser.error(
            "a relation is expected here" if text[parser.place] not in ")]}" else "no bracket is open here"
        )
    return Pattern(text, expression, tuple(parser.names))


class _Parser:
    """Recursive-descent parser of one pattern.

    A method parses one construct at the current position, and returns the condition that it stands for. The
    state is a position in the text, and the names that may be referred to at that position.
    """

    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0
        self.names: dict[str, None] = {}  # all names, in order
        self.scope: frozenset[str] = frozenset()  # names that may be referred to at this position
        self.negated, self.depth = False, 0
        self.skip()

    # Nodes.

    def alternatives(self) -> Expression:
        """Parse alternative nodes with their relations, separated by ``|``."""
        return joined(Any, self.branches(self.node, lambda: self.take("|")))

    def node(self) -> Expression:
        """Parse a node's description, or a group in parentheses, and the relations after it."""
        if self.at("("):
            with self.group(")"):
                start = self.alternatives()
        else:
            start = self.description()
        return joined(All, [start, *self.relations()])

    def description(self) -> Expression:
        """Parse the description of one node: labels, variables, a name, or a reference to a named node."""
        if self.take("="):
            return SameAs(self.known_name())
        if link := self.match(_LINK):
            by = "category" if link[1] else "label"
            return joined(All, [SameAs(self.known_name(), by), *self.new_name()])
        begin = self.place
        root = self.match(_ROOT, skip=False)
        test = None if root else self.label_test()
        groups = self.groups(test, begin)
        parts: list[Expression] = [Label(test or LabelTest(negated=True) if groups else test, groups)]
        if root is not None:
            has_parent = Related(">", Label(None))
            parts.append(has_parent if root[1] else Not(has_parent))
        self.skip()
        return joined(All, [*parts, *self.new_name()])

    def groups(self, test: LabelTest | None, begin: int) -> tuple[tuple[int, str], ...]:
        """Parse the variables of a node's description, such as ``#1%index``, as pairs (group, variable).

        Args:
            test: the test of labels before the variables; None for a wildcard.
            begin: position of the description in the pattern, for errors.
        """
        groups = []
        while matched := self.match(_GROUP, skip=False):
            group = self.number(matched[1], begin)
            if test is not None and test.expression is not None and group > test.expression.groups:
                raise self.error(f"the expression has no group {group}", begin)
            groups.append((group, matched[2]))
        if groups and test is not None and test.negated:
            hint = "negate the relation before it, such as !<"
            raise self.error("a negated description has no text for a variable", begin, hint=hint)
        return tuple(groups)

    def label_test(self) -> LabelTest | None:
        """Parse the labels of a node's description as a test of labels; None for a wildcard."""
        negated = self.take("!")
        ignore_case = self.text.startswith("i@", self.place)
        self.place += ignore_case
        basic = self.take("@")
        if self.text.startswith("__", self.place):
            self.place += 2
            return LabelTest() if negated else None  # a test without literals accepts no label
        if self.at("/"):
            return self.expression(basic, ignore_case, negated)
        literals = [self.literal()]
        while listed := self.match(_LISTED, skip=False):
            literals.append(listed[1])
        folded = frozenset(each.casefold() if ignore_case else each for each in literals)
        return LabelTest(folded, basic=basic, ignore_case=ignore_case, negated=negated)

    def literal(self) -> str:
        """Parse a label that is written literally, such as ``NP``."""
        matched = self.match(_LITERAL, skip=False)
        if matched is None:
            what = (
                "the pattern ends where a node is expected"
                if self.place == len(self.text)
                else "a node is expected here"
            )
            sign = self.text[self.place : self.place + 1] or self.text.rstrip()[-1:]  # the end of PRP$
            hint = f"write labels with {sign!r} between slashes: /^…$/"
            raise self.error(what, hint=hint if sign.strip("()[]{}<>|&!?=~") else None)
        return matched[0]

    def expression(self, basic: bool, ignore_case: bool, negated: bool) -> LabelTest:
        """Parse a regular expression between slashes as a test of labels.

        Args:
            basic: whether the expression is matched with basic categories only (``NP`` of ``NP-SBJ``).
            ignore_case: whether the expression ignores case.
            negated: whether labels that do not match are accepted.
        """
        begin = self.place
        matched = self.match(_EXPRESSION, skip=False)
        if matched is None:
            raise self.error("the closing / is missing")
        flags = re.IGNORECASE if ignore_case or matched[2] else re.NOFLAG
        try:
            compiled = compile_expression(matched[1].replace("\\/", "/"), flags)
        except re.error as error:
            column = begin + 1 + (error.pos or 0)
            raise self.error(f"invalid regular expression: {error.msg}", column) from None
        return LabelTest(expression=compiled, basic=basic, ignore_case=ignore_case, negated=negated)

    # Names.

    def known_name(self) -> str:
        """Parse a reference to a name that was defined further left."""
        begin = self.place
        name = self.name()
        if name not in self.scope:
            raise self.error(f"no node before this one is called {name}", begin)
        return name

    def new_name(self) -> list[Expression]:
        """Parse ``=name`` if it is at the current position; return its condition in a list, otherwise []."""
        if self.text.startswith("==", self.place) or not self.take("="):
            return []
        begin = self.place
        name = self.name()
        if self.negated:
            raise self.error("a node inside a negation cannot have a name", begin)
        if name in self.scope:
            raise self.error(
                f"two nodes are called {name}", begin, hint=f"refer to the first with ={name} alone"
            )
        self.names[name] = None
        self.scope |= {name}
        return [Bind(name)]

    def name(self) -> str:
        """Parse a name of a node, which has no brackets, blanks or signs of relations."""
        matched = self.match(_NAME)
        if matched is None:
            raise self.error("a name is expected here")
        return matched[0]

    # Relations.

    def relations(self) -> list[Expression]:
        """Parse the relations of a node, if it has any; return their condition in a list, otherwise []."""
        if not self.at_relation(self.place):
            return []
        return [joined(Any, self.branches(self.conjunction, self.take_or_before_relation))]

    def conjunction(self) -> Expression:
        """Parse relations that must all hold, separated by ``&`` or nothing."""
        parts = [self.relation()]
        while self.at_relation(self.place) or self.take("&"):
            parts.append(self.relation())
        return joined(All, parts)

    def relation(self) -> Expression:
        """Parse a relation or a group of relations, which may be negated (``!``) or optional (``?``)."""
        if self.at("!"):
            self.take("!")
            outer, scope, self.negated = self.negated, self.scope, True
            part = self.positive_relation()
            self.negated, self.scope = outer, scope
            return Not(part)
        if self.take("?"):
            return OptionalCondition(self.positive_relation())
        return self.positive_relation()

    def positive_relation(self) -> Expression:
        """Parse a relation, or a group of relations in brackets or parentheses."""
        for opening, closing in ("[]", "()"):
            if self.at(opening):
                with self.group(closing):
                    inner = self.relations()
                    if not inner:
                        raise self.error("a relation is expected here")
                return inner[0]
        begin = self.place
        if chain := self.match(_CHAIN):
            return self.chain(chain[0])
        if self.text.startswith("<...", self.place):
            self.place += 4
            self.skip()
            return self.exact_children()
        if matched := self.match(_NUMBERED):
            number = self.number("".join(matched[2].split()), begin + len(matched[1]))
            if number == 0:
                raise self.error("children and words are counted from 1", begin + len(matched[1]))
            return Related(matched[1], self.partner(), number)
        for sign in _SIGNS:
            if self.take(sign):
                return self.with_partner(_SYNONYMS.get(sign, sign))
        raise self.error("a relation is expected here")

    def number(self, digits: str, place: int) -> int:
        """Convert digits of a relation such as ``<2`` to a number, or raise an error at their position."""
        if len(digits) > _MAX_DIGITS:
            raise self.error(f"a number of more than {_MAX_DIGITS} digits", place)
        return int(digits)

    def with_partner(self, symbol: str) -> Expression:
        """Parse the node after a relation symbol such as ``<2``, and return the condition of the relation."""
        matched = _NUMBERED.fullmatch(symbol)
        if matched is None:
            return Related(symbol, self.partner())
        return Related(matched[1], self.partner(), int(matched[2]))

    def partner(self) -> Expression:
        """Parse the node on the right of a relation; relations after it belong to the node on the left."""
        if not self.at("("):
            return self.description()
        with self.group(")"):
            return self.alternatives()

    def chain(self, symbol: str) -> Expression:
        """Parse the rest of a chain such as ``<+(C) B``, ``<+[C] B`` or ``<+/C/ B`` after its symbol."""
        closing = ")" if self.take("(") else "]" if self.take("[") else ""
        if not closing and not self.text.startswith(("/", "!"), self.place):
            raise self.error(f"( and a description are expected after {symbol}")
        links = Label(self.label_test())
        self.skip()
        if closing:
            self.close(closing)
        return Related(symbol, self.partner(), links=links)

    def exact_children(self) -> Expression:
        """Parse the rest of ``<... { B ; C }``, a list of all children, after the symbol."""
        children = []
        with self.group("}", "{"):
            if self.at("}"):
                return Not(Related("<", Label(None)))
            children.append(self.alternatives())
            while self.take(";"):
                children.append(self.alternatives())
        size = len(children)
        return All([Related("<...", each, number, size) for number, each in enumerate(children, 1)])

    def at_relation(self, place: int) -> bool:
        """Return whether a relation begins at a position of the pattern."""
        if self.text[place : place + 1] in ("!", "?"):
            place = self.blank_end(place + 1)
        if self.text[place : place + 1] in ("[", "("):
            return True
        return any(self.text.startswith(sign, place) for sign in _SIGNS)

    def take_or_before_relation(self) -> bool:
        """Consume ``|`` if a relation follows, and return whether it was consumed.

        If no relation follows, the ``|`` separates alternative nodes and is left in place.
        """
        if self.at("|") and self.at_relation(self.blank_end(self.place + 1)):
            return self.take("|")
        return False

    # Places.

    def branches(self, branch: Callable[[], Expression], more: Callable[[], bool]) -> list[Expression]:
        """Parse alternatives separated by ``|``; return the condition of each.

        A name that one alternative defines can be used only within it and after the last alternative.

        Args:
            branch: function that parses one alternative.
            more: function that consumes a separator and returns whether there was one.
        """
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
        """Return a context manager that consumes an opening bracket on entry and the closing one on exit.

        Args:
            closing: the closing bracket.
            opening: the opening bracket to check for; empty if the caller has checked it.
        """
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
        """Consume a closing bracket, or raise an error."""
        if not self.take(closing):
            ended = self.place == len(self.text)
            raise self.error(
                f"a closing {closing} is missing" if ended else f"{closing} or a relation is expected here"
            )

    def at(self, sign: str) -> bool:
        """Return whether the text at the current position begins with ``sign``."""
        return self.text.startswith(sign, self.place)

    def take(self, sign: str) -> bool:
        """Consume ``sign`` and whitespace after it if it is at the current position; return whether it is."""
        there = self.at(sign)
        if there:
            self.place += len(sign)
            self.skip()
        return there

    def match(self, expected: re.Pattern[str], *, skip: bool = True) -> re.Match[str] | None:
        """Match a regular expression at the current position; return the match and move past it, or None.

        Args:
            expected: the regular expression.
            skip: whether to consume whitespace after the match too.
        """
        matched = expected.match(self.text, self.place)
        if matched is not None:
            self.place = matched.end()
            if skip:
                self.skip()
        return matched

    def skip(self) -> None:
        """Move the current position past whitespace."""
        self.place = self.blank_end(self.place)

    def blank_end(self, place: int) -> int:
        """Return the position of the first character at or after ``place`` that is not whitespace."""
        matched = _BLANK.match(self.text, place)
        return place if matched is None else matched.end()

    def error(self, what: str, place: int | None = None, hint: str | None = None) -> PatternError:
        """Return an error for a position of the pattern, by default the current position.

        Args:
            what: what is wrong.
            place: the position.
            hint: advice for the message.
        """
        return PatternError(what, self.text, 1 + (self.place if place is None else place), hint)


def joined(kind: Callable[[Sequence[Expression]], Expression], parts: Sequence[Expression]) -> Expression:
    """Combine conditions on a node into one; a single condition is returned unchanged.

    Args:
        kind: class of the combination: `All` or `Any`.
        parts: the conditions, at least one.
    """
    return parts[0] if len(parts) == 1 else kind(parts)
