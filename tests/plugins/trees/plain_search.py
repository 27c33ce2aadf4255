"""A plain walk over trees that is slow and obviously right: each node tried, each pair of nodes looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import singledispatch

from spectralnlp_trees.tregex import combinations, conditions, plan
from spectralnlp_trees.tregex.labels import LabelTest, basic_category
from spectralnlp_trees.tregex.pattern import read_pattern

from spectralnlp.trees import Tree, english_head


class Node:
    """A node that knows its parent, and its tokens."""

    def __init__(self, label: str, parent: Node | None, everything: list[Node], left: int) -> None:
        self.label, self.parent, self.everything = label, parent, everything
        self.left = self.right = left
        self.children: list[Node] = []
        everything.append(self)

    @property
    def ancestors(self) -> list[Node]:
        return [] if self.parent is None else [self.parent, *self.parent.ancestors]

    @property
    def sisters(self) -> list[Node]:
        return [] if self.parent is None else self.parent.children

    @property
    def words(self) -> list[Node]:
        return [each for each in self.everything if not each.children and self in each.ancestors]

    @property
    def head(self) -> Node | None:
        labels = [basic_category(each.label) for each in self.children]
        return self.children[english_head(basic_category(self.label), labels)] if labels else None

    @property
    def only_child(self) -> Node | None:
        return self.children[0] if len(self.children) == 1 else None

    @property
    def first_child(self) -> Node | None:
        return self.children[0] if self.children else None

    @property
    def last_child(self) -> Node | None:
        return self.children[-1] if self.children else None


def nodes_of(tree: Tree) -> list[Node]:
    """All nodes of a tree, words among them, parents first."""
    everything: list[Node] = []

    def build(tree: Tree, parent: Node | None, left: int) -> Node:
        node = Node(tree.label, parent, everything, left)
        if tree.word is not None:
            word = Node(tree.word, node, everything, left)
            word.right = node.right = left + 1
            node.children = [word]
        for child in tree.children:
            node.children.append(build(child, node, node.right))
            node.right = node.children[-1].right
        return node

    build(tree, None, 0)
    return everything


def along(step: str, node: Node) -> list[Node]:
    """The nodes that one comes to by a step, again and again."""
    found = []
    following = getattr(node, step)
    while following is not None:
        found.append(following)
        following = getattr(following, step)
    return found


def at(items: list[Node], number: int) -> list[Node]:
    """The item of a number, from 1 or, backwards, from -1."""
    place = number - 1 if number > 0 else len(items) + number
    return [items[place]] if 0 <= place < len(items) else []


def follows(b: Node, a: Node) -> bool:
    """A sister to the right of a, or of an ancestor of a, is b or an ancestor of b."""
    for left in [a, *a.ancestors]:
        for right in [b, *b.ancestors]:
            if left.sisters is not None and left in right.sisters and left is not right:
                return left.sisters.index(left) < left.sisters.index(right)
    return False


def follows_at_once(b: Node, a: Node) -> bool:
    """No node is between."""
    return follows(b, a) and not any(follows(b, c) and follows(c, a) for c in a.everything)


def place(node: Node) -> int:
    return next(number for number, each in enumerate(node.sisters) if each is node)


RELATIONS: dict[str, Callable[[Node, Node], bool]] = {
    "<<": lambda a, b: a in b.ancestors,
    ">>": lambda a, b: b in a.ancestors,
    "<:": lambda a, b: a.only_child is b,
    ">:": lambda a, b: b.only_child is a,
    "<<:": lambda a, b: b in along("only_child", a),
    ">>:": lambda a, b: a in along("only_child", b),
    "<<,": lambda a, b: b in along("first_child", a),
    ">>,": lambda a, b: a in along("first_child", b),
    "<<-": lambda a, b: b in along("last_child", a),
    ">>-": lambda a, b: a in along("last_child", b),
    "..": lambda a, b: follows(b, a),
    ",,": lambda a, b: follows(a, b),
    ".": lambda a, b: follows_at_once(b, a),
    ",": lambda a, b: follows_at_once(a, b),
    "$": lambda a, b: b in a.sisters and a is not b,
    "$++": lambda a, b: b in a.sisters and place(a) < place(b),
    "$--": lambda a, b: b in a.sisters and place(a) > place(b),
    "$+": lambda a, b: b in a.sisters and place(a) + 1 == place(b),
    "$-": lambda a, b: b in a.sisters and place(a) - 1 == place(b),
    "<#": lambda a, b: a.head is b,
    ">#": lambda a, b: b.head is a,
    "<<#": lambda a, b: b in along("head", a),
    ">>#": lambda a, b: a in along("head", b),
    "==": lambda a, b: a is b,
    "<=": lambda a, b: a is b or b in a.children,
    ":": lambda a, b: True,
}


def partners(related: conditions.Related, a: Node) -> list[Node]:
    """The nodes that stand in a relation to a node."""
    number, symbol = related.number, related.symbol
    if symbol == "<":
        return at(a.children, number) if number else a.children
    if symbol == ">":
        parents = [] if a.parent is None else [a.parent]
        return [b for b in parents if at(b.children, number) == [a]] if number else parents
    if symbol == "<...":
        return at(a.children, number) if len(a.children) == related.size else []
    if symbol == "<<<":
        return at(a.words, number) if number else a.words
    if symbol.endswith("+") and not symbol.startswith("$"):
        return chained(symbol[0], related.links, a)
    return [b for b in a.everything if RELATIONS[symbol](a, b)]


def chained(symbol: str, links: conditions.Label | None, a: Node) -> list[Node]:
    """The nodes that a chain of links leads to."""
    assert links is not None
    one_step = {"<": lambda x, y: y in x.children, ">": lambda x, y: x in y.children}
    step = one_step.get(symbol) or RELATIONS[symbol]
    reached, going = [], [a]
    while going:
        x = going.pop()
        for y in a.everything:
            if step(x, y) and y not in reached:
                reached.append(y)
                if fits(links.test, y):
                    going.append(y)
    return reached


def fits(test: LabelTest | None, node: Node) -> bool:
    return test is None or test.accepts(node.label)


Bindings = dict[str, object]


@singledispatch
def ways(expression: plan.Expression, node: Node, bound: Bindings) -> Iterator[Bindings]:
    """What names stand for, in each way in which an expression matches at a node."""
    raise NotImplementedError(expression)


@ways.register
def _(expression: conditions.Label, node: Node, bound: Bindings) -> Iterator[Bindings]:
    if not fits(expression.test, node):
        return
    texts = (
        []
        if expression.test is None
        else expression.test.groups(node.label, [g for g, _ in expression.groups])
    )
    for (_, variable), text in zip(expression.groups, texts, strict=False):
        if bound.get(f"%{variable}", text) != text:
            return
        bound = {**bound, f"%{variable}": text}
    yield bound


@ways.register
def _(expression: conditions.Bind, node: Node, bound: Bindings) -> Iterator[Bindings]:
    yield {**bound, expression.name: node}


@ways.register
def _(expression: conditions.SameAs, node: Node, bound: Bindings) -> Iterator[Bindings]:
    named = bound.get(expression.name)
    same = {"node": lambda x: x, "label": lambda x: x.label, "category": lambda x: basic_category(x.label)}
    look = same[expression.by]
    if isinstance(named, Node) and look(named) == look(node):
        yield bound


@ways.register
def _(expression: conditions.Related, node: Node, bound: Bindings) -> Iterator[Bindings]:
    for partner in partners(expression, node):
        yield from ways(expression.partner, partner, bound)


@ways.register
def _(expression: combinations.All, node: Node, bound: Bindings) -> Iterator[Bindings]:
    found = [bound]
    for part in expression.parts:
        found = [after for before in found for after in ways(part, node, before)]
    yield from found


@ways.register
def _(expression: combinations.Any, node: Node, bound: Bindings) -> Iterator[Bindings]:
    for part in expression.parts:
        yield from ways(part, node, bound)


@ways.register
def _(expression: combinations.Not, node: Node, bound: Bindings) -> Iterator[Bindings]:
    if not list(ways(expression.part, node, bound)):
        yield bound


@ways.register
def _(expression: combinations.OptionalCondition, node: Node, bound: Bindings) -> Iterator[Bindings]:
    yield from list(ways(expression.part, node, bound)) or [bound]


def plain_search(trees: list[Tree], pattern: str) -> list[tuple[object, ...]]:
    """Each match as the numbers of its tree and its node, and those of named nodes."""
    expression = read_pattern(pattern).expression
    found: list[tuple[object, ...]] = []
    for tree, root in enumerate(trees):
        everything = nodes_of(root)
        numbers = {id(node): number for number, node in enumerate(everything, 1)}
        for node in everything:
            for bound in ways(expression, node, {}):
                values = {
                    name: value if isinstance(value, str) else numbers[id(value)]
                    for name, value in bound.items()
                }
                found.append((tree, numbers[id(node)], tuple(sorted(values.items()))))
    return found
