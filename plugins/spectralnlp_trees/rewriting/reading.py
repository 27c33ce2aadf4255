"""Read operations on trees from text, in the syntax of Tsurgeon."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from spectralnlp.errors import ConfigError, shortened
from spectralnlp_trees.rewriting import operations as make
from spectralnlp_trees.rewriting.nodes import Node
from spectralnlp_trees.rewriting.operations import Location, Operation, Planted
from spectralnlp_trees.tregex.labels import compile_expression

_BLANK = re.compile(r"\s*")
_WORD = re.compile(r"[^\s()\[\]]+")
_LOCATION = re.compile(r"(\$[+-]|>)(-?\d{1,9}(?!\d))?\s*([^\s()\[\]]+)")
_QUOTED = re.compile(r"\|((?:\\.|[^|\\])*)\|")
_SLASHES = re.compile(r"/((?:\\.|[^/\\])*)/(?:((?:\\.|[^/\\])*)/)?")
_OPENED = re.compile(r"\(\s*([^\s()]*)\s*")
_LEAF = re.compile(r"([^\s()]+)\s*")
_LABEL = re.compile(r"((?:\\.|[^\\=@])+)(@?)(?:=([^\s=@\\]+))?(@?)")
_ESCAPED = re.compile(r"\\(.)")
_GROUP = re.compile(r"\\.|\$(\d)")
_NAME = re.compile(r"\\.|=\{([^}]*)\}")


def read_operations(texts: str | Iterable[str], names: Iterable[str]) -> list[Operation]:
    """Parse operations such as ``relabel np NP-X``.

    Args:
        texts: the operations, one in each text, or several in brackets: ``[delete a] [delete b]``.
        names: the names of nodes in the pattern.

    Raises:
        ConfigError: an operation is invalid, is not Unicode, or names a node that neither the pattern nor an
            earlier operation names.
    """
    known = set(names)
    texts = [texts] if isinstance(texts, str) else list(texts)
    for text in texts:
        if any("\ud800" <= c <= "\udfff" for c in text):  # bytes that are not UTF-8
            raise ConfigError(f"operation {shortened(text, 80)!a} is not valid Unicode", hint="give UTF-8")
    found = [operation for text in texts for operation in _Parser(text, known).operations()]
    if not found:
        raise ConfigError("no operation is given", hint="such as: relabel np NP-X")
    return found


class _Parser:
    """Recursive-descent parser of the operations in one text; ``known`` are the names that may be used."""

    def __init__(self, text: str, known: set[str]) -> None:
        self.text, self.known, self.place = text, known, 0
        self.match(_BLANK)

    def operations(self) -> list[Operation]:
        """Parse one operation, or several in brackets."""
        found = []
        if not self.take("["):
            found.append(self.operation())
        else:
            self.place = self.text.index("[")
            while self.take("["):
                found.append(self.operation())
                if not self.take("]"):
                    raise self.error("] is expected")
        if self.place < len(self.text):
            raise self.error("the operation ends before this")
        return found

    def operation(self) -> Operation:
        """Parse one operation, which ``if exists NAME`` may precede."""
        word = self.match(_WORD)
        kind = "" if word is None else word[0]
        if kind == "if":
            exists = self.match(_WORD)
            if exists is None or exists[0] != "exists":
                raise self.error("exists is expected after if")
            name = self.name()
            return make.if_exists(name, self.operation())
        if kind not in _KINDS:
            self.place = 0 if word is None else word.start()
            raise self.error("no such operation", hint=f"choose from {', '.join(_KINDS)}")
        return _KINDS[kind](self)

    def name(self) -> str:
        """Parse the name of a node."""
        word = self.match(_WORD)
        if word is None:
            raise self.error("the name of a node is expected")
        if word[0] not in self.known:
            self.place = word.start()
            hint = f"name it in the pattern: NP={word[0]}"
            raise self.error(f"no node is called {word[0]}", hint=hint)
        return word[0]

    def more_names(self) -> list[str]:
        """Parse one name or several."""
        names = [self.name()]
        while _WORD.match(self.text, self.place):
            names.append(self.name())
        return names

    def location(self) -> Location:
        """Parse a place such as ``$+ np``, ``$- np``, ``>2 np`` or ``>-1 np``."""
        begin = self.place
        found = self.match(_LOCATION)
        if found is None or (found[1] == ">") != (found[2] is not None) or found[2] in ("0", "-0"):
            self.place = begin
            raise self.error("a place is expected", hint="such as $+ np, $- np, >1 np or >-1 np")
        if found[3] not in self.known:
            self.place = found.start(3)
            raise self.error(f"no node is called {found[3]}", hint=f"name it in the pattern: NP={found[3]}")
        return Location(found[1], int(found[2] or 0), found[3])

    def relabel(self) -> Operation:
        """Parse ``NAME LABEL``, ``NAME |label|``, ``NAME /label/`` or ``NAME /expression/replacement/``."""
        name = self.name()
        if quoted := self.match(_QUOTED):
            return make.relabel(name, _ESCAPED.sub(r"\1", quoted[1]))
        begin = self.place
        if slashes := self.match(_SLASHES):
            if slashes[2] is None:
                return make.relabel(name, _ESCAPED.sub(r"\1", slashes[1]))
            try:
                expression = compile_expression(slashes[1].replace("\\/", "/"))
            except re.error as error:
                self.place = begin
                raise self.error(f"invalid regular expression: {error}") from None
            for group in _GROUP.findall(slashes[2]):
                if group and int(group) > expression.groups:
                    raise self.error(f"the expression has no group {group}")
            for other in _NAME.findall(slashes[2]):
                if other and other not in self.known:
                    raise self.error(f"no node is called {other}")
            return make.relabel_by(name, expression, slashes[2])
        label = self.match(_WORD)
        if label is None or label[0].startswith(("/", "|")):
            self.place = begin
            raise self.error("a label is expected", hint="such as NP-X, /label/ or /expression/replacement/")
        return make.relabel(name, label[0])

    def insert(self) -> Operation:
        """Parse ``TREE PLACE`` or ``NAME PLACE``."""
        if self.at("("):
            return make.insert(self.tree(), self.location())
        return make.insert_copy(self.name(), self.location())

    def replace(self) -> Operation:
        """Parse ``NAME TREE…`` or ``NAME NAME``."""
        name = self.name()
        if not self.at("("):
            return make.replace_by_copy(name, self.name())
        trees = []
        while self.at("("):
            trees.append(self.tree())
        return make.replace(name, trees)

    def create_subtree(self) -> Operation:
        """Parse ``LABEL NAME [NAME]`` or ``TREE NAME [NAME]``."""
        if self.at("("):
            planted = self.tree(foot=True)
        else:
            label = self.match(_WORD)
            if label is None:
                raise self.error("a label or a tree is expected")
            node = Node(label[0])
            planted = Planted(node, node, {})
        names = self.more_names()
        if len(names) > 2:
            raise self.error("createSubtree takes one node or two")
        return make.create_subtree(planted, names[0], names[-1])

    def adjoin(self, operation: Callable[[Planted, str], Operation]) -> Operation:
        """Parse ``TREE NAME``; one leaf of the tree is its foot, marked by ``@``."""
        if not self.at("("):
            raise self.error("a tree is expected", hint="such as (NP (NP@) (PP (IN of)))")
        return operation(self.tree(foot=True), self.name())

    def tree(self, foot: bool = False) -> Planted:
        """Parse a tree in brackets, whose nodes may be named (``NP=name``).

        Args:
            foot: whether one leaf of the tree must be marked ``@``, rather than none.
        """
        begin, feet, named = self.place, list[Node](), dict[str, Node]()
        root, above = Node(""), list[Node]()
        while True:
            if opened := self.match(_OPENED):
                node = self.planted(opened[1], feet, named)
                (above[-1] if above else root).add(node)
                above.append(node)
            elif above and self.take(")"):
                node = above.pop()
                if not node.children and node not in feet:
                    raise self.error(f"{node.label} has no word")
                if not above:
                    break
            elif above and (leaf := self.match(_LEAF)):
                node = self.planted(leaf[1], feet, named)
                node.is_word = node not in feet
                above[-1].add(node)
            else:
                raise self.error("a closing ) is missing")
        if len(feet) != foot or any(each.children for each in feet):
            self.place = begin
            raise self.error("one leaf must be marked @" if foot else "no leaf may be marked @ here")
        self.known.update(named)
        top = root.children[0]
        top.parent = None
        return Planted(top, feet[0] if feet else None, named)

    def planted(self, text: str, feet: list[Node], named: dict[str, Node]) -> Node:
        r"""Return the node for a label such as ``NP``, ``NP=name`` or ``NP@``; ``\=`` is a sign."""
        found = _LABEL.fullmatch(text)
        if found is None:
            raise self.error(f"{text!r} is no label", hint=r"write = and @ in labels and words as \= and \@")
        node = Node(_ESCAPED.sub(r"\1", found[1]))
        if found[2] or found[4]:
            feet.append(node)
        if found[3] is not None:
            if found[3] in self.known or found[3] in named:
                raise self.error(f"two nodes are called {found[3]}")
            named[found[3]] = node
        return node

    def at(self, sign: str) -> bool:
        """Return whether a sign is at the current position."""
        return self.text.startswith(sign, self.place)

    def take(self, sign: str) -> bool:
        """Consume a sign and blanks after it if it is at the current position; return whether it is."""
        there = self.at(sign)
        if there:
            self.place += len(sign)
            self.match(_BLANK)
        return there

    def match(self, expected: re.Pattern[str]) -> re.Match[str] | None:
        """Match an expression at the current position; return the match and move past it and blanks."""
        found = expected.match(self.text, self.place)
        if found is not None:
            blank = _BLANK.match(self.text, found.end())
            self.place = found.end() if blank is None else blank.end()
        return found

    def error(self, what: str, hint: str | None = None) -> ConfigError:
        """Return an error for the current position."""
        where = f"operation {shortened(self.text, 80)!r}, column {self.place + 1}"
        return ConfigError(f"{where}: {what}", hint=hint)


def _excise(parser: _Parser) -> Operation:
    return make.excise(parser.name(), parser.name())


def _moved(pruned: bool) -> Callable[[_Parser], Operation]:
    return lambda parser: make.move(parser.name(), parser.location(), pruned)


def _all(operation: Callable[[Sequence[str]], Operation]) -> Callable[[_Parser], Operation]:
    return lambda parser: operation(parser.more_names())


_KINDS: dict[str, Callable[[_Parser], Operation]] = {
    "relabel": _Parser.relabel,
    "delete": _all(make.delete),
    "prune": _all(make.prune),
    "excise": _excise,
    "insert": _Parser.insert,
    "move": _moved(pruned=False),
    "moveprune": _moved(pruned=True),
    "replace": _Parser.replace,
    "createSubtree": _Parser.create_subtree,
    "adjoin": lambda parser: parser.adjoin(make.adjoin),
    "adjoinH": lambda parser: parser.adjoin(make.adjoin_to_head),
    "adjoinF": lambda parser: parser.adjoin(make.adjoin_to_foot),
    "coindex": _all(make.coindex),
}
