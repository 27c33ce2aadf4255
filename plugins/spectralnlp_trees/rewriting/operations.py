"""Operations that change a tree at the nodes that a match has named, after the manual of Tsurgeon."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spectralnlp.errors import InputError
from spectralnlp_trees.rewriting.nodes import Node, Site

Operation = Callable[[Site], None]

_UNWRITABLE = re.compile(r"[()\s\0]")
_INDEX = re.compile(r"[-=](\d{1,15})\b")
_IN_REPLACEMENT = re.compile(r"\\(.)|\$(\d)|=\{([^}]*)\}|%\{([^}]*)\}")


@dataclass(frozen=True)
class Planted:
    """A tree in an operation, a copy of which is put into the rewritten tree.

    Attributes:
        root: root of the tree.
        foot: the node marked ``@``; None if there is none.
        named: nodes of the tree by their names.
    """

    root: Node
    foot: Node | None
    named: dict[str, Node]

    def copied(self, site: Site) -> tuple[Node, Node]:
        """Copy the tree, and bind its names; return the copies of the root and of the foot (or the root)."""
        copies = self.root.copied()
        site.named.update({name: copies[node] for name, node in self.named.items()})
        return copies[self.root], copies[self.foot or self.root]


@dataclass(frozen=True)
class Location:
    """A place in a tree: before (``$+``) or after (``$-``) a node, or the n-th child of a node (``>n``)."""

    sign: str
    number: int
    name: str

    def put(self, site: Site, node: Node) -> None:
        """Put a node, which is not in the tree, at this place."""
        target = site.node(self.name)
        if self.sign == ">":
            parent, size = target, len(target.children)
            place = self.number - 1 if self.number > 0 else size + self.number + 1
            if target.is_word or not 0 <= place <= size:
                raise InputError(f"{target.label} has no place >{self.number} for a child")
        else:
            if target.parent is None:
                raise InputError(f"{self.name} is the root of the tree, which has no sisters")
            parent = target.parent
            place = parent.children.index(target) + (self.sign == "$-")
        parent.children.insert(place, node)
        node.parent = parent


def delete(names: Sequence[str]) -> Operation:
    """Cut out nodes with all that is below them."""

    def run(site: Site) -> None:
        for name in names:
            site.replace(site.node(name), [])

    return run


def prune(names: Sequence[str]) -> Operation:
    """Cut out nodes, and the nodes above them that have no other children."""

    def run(site: Site) -> None:
        for name in names:
            _prune(site, site.node(name))

    return run


def _prune(site: Site, node: Node) -> None:
    while node.parent is not None and len(node.parent.children) == 1:
        node = node.parent
    site.replace(node, [])


def excise(top: str, bottom: str) -> Operation:
    """Cut out the nodes from one down to another; the children of the lower take the place of the upper."""

    def run(site: Site) -> None:
        upper, lower = site.node(top), site.node(bottom)
        if upper not in lower.above():
            raise InputError(f"{top} is not above {bottom}, so that nothing between them can be excised")
        site.replace(upper, lower.children)

    return run


def relabel(name: str, label: str) -> Operation:
    """Give a node another label, or a word another form."""
    return lambda site: _relabel(site.node(name), label)


def _relabel(node: Node, label: str) -> None:
    if not label or _UNWRITABLE.search(label):
        hint = "write -LRB- and -RRB- for ( and )"
        raise InputError(f"{label!r} cannot stand in brackets as a label or word", hint=hint)
    node.label = label


def relabel_by(name: str, expression: re.Pattern[str], replacement: str) -> Operation:
    """Replace the matches of an expression in the label of a node.

    In the replacement, ``$1`` is a group, ``={name}`` the label of a node and ``%{name}`` a variable.
    """

    def run(site: Site) -> None:
        def filled(found: re.Match[str]) -> str:
            return _IN_REPLACEMENT.sub(lambda part: _part(site, found, part), replacement)

        node = site.node(name)
        _relabel(node, expression.sub(filled, node.label))

    return run


def _part(site: Site, found: re.Match[str], part: re.Match[str]) -> str:
    escaped, group, node, variable = part.groups()
    if escaped is not None:
        return escaped
    if group is not None:
        return found[int(group)] or ""
    if node is not None:
        return site.bound(node).label
    if variable not in site.variables:
        raise InputError(f"the match binds no variable {variable}")
    return site.variables[variable]


def insert(planted: Planted, location: Location) -> Operation:
    """Put a tree at a place."""
    return lambda site: location.put(site, planted.copied(site)[0])


def insert_copy(name: str, location: Location) -> Operation:
    """Put a copy of a node, with what is below it, at a place."""
    return lambda site: location.put(site, _copy(site, name))


def _copy(site: Site, name: str) -> Node:
    return next(iter(site.bound(name).copied().values()))


def move(name: str, location: Location, pruned: bool = False) -> Operation:
    """Move a node to another place; with ``pruned``, cut out the nodes above that have no children then."""

    def run(site: Site) -> None:
        node, target = site.node(name), site.node(location.name)
        if node in target.above():
            raise InputError(f"{name} would be below itself or beside itself")
        parent = node.parent
        site.replace(node, [])
        location.put(site, node)
        if pruned and parent is not None and not parent.children:
            _prune(site, parent)

    return run


def replace(name: str, planted: Sequence[Planted]) -> Operation:
    """Put trees in the place of a node."""
    return lambda site: site.replace(site.node(name), [each.copied(site)[0] for each in planted])


def replace_by_copy(name: str, other: str) -> Operation:
    """Put a copy of another node in the place of a node."""
    return lambda site: site.replace(site.node(name), [_copy(site, other)])


def create_subtree(planted: Planted, first: str, last: str) -> Operation:
    """Put sisters, from one to another, below the foot of a tree, which takes their place."""

    def run(site: Site) -> None:
        one, two = site.node(first), site.node(last)
        root, foot = planted.copied(site)
        if one.parent is not two.parent:
            raise InputError(f"{first} and {last} are not children of one node")
        sisters = [one]
        if one.parent is not None:
            low, high = sorted((one.parent.children.index(one), one.parent.children.index(two)))
            sisters = one.parent.children[low : high + 1]
        for other in sisters[1:]:
            site.replace(other, [])
        site.replace(sisters[0], [root])
        for each in sisters:
            foot.add(each)

    return run


def adjoin(planted: Planted, name: str) -> Operation:
    """Put a tree in the place of a node, whose children become those of the tree's foot."""

    def run(site: Site) -> None:
        node = site.node(name)
        root, foot = planted.copied(site)
        site.replace(node, [root])
        _give_children(node.children, foot)

    return run


def adjoin_to_head(planted: Planted, name: str) -> Operation:
    """Put what is below the root of a tree under a node, whose children become those of the tree's foot."""

    def run(site: Site) -> None:
        node = site.node(name)
        root, foot = planted.copied(site)
        children, node.children = node.children, []
        _give_children(root.children, node)
        _give_children(children, node if foot is root else foot)

    return run


def adjoin_to_foot(planted: Planted, name: str) -> Operation:
    """Put a tree in the place of a node, and the node in the place of the tree's foot."""

    def run(site: Site) -> None:
        node = site.node(name)
        root, foot = planted.copied(site)
        if foot is root:
            raise InputError("the foot of a tree for adjoinF is below its root")
        site.replace(node, [root])
        site.replace(foot, [node])

    return run


def _give_children(children: Sequence[Node], parent: Node) -> None:
    for each in children:
        parent.add(each)


def coindex(names: Sequence[str]) -> Operation:
    """Append an index that the tree does not have yet to the labels of nodes: NP-1."""

    def run(site: Site) -> None:
        nodes = [site.node(name) for name in names]
        # Traces have indices, too; other words do not, even if they look so (1999-2000).
        labels = [
            each.label
            for each in site.root.nodes()
            if not each.is_word or (each.parent is not None and each.parent.label.startswith("-NONE-"))
        ]
        index = 1 + max((int(number) for each in labels for number in _INDEX.findall(each)), default=0)
        for node in nodes:
            node.label += f"-{index}"

    return run


def if_exists(name: str, operation: Operation) -> Operation:
    """Run an operation only if the match binds a node to a name."""
    return lambda site: operation(site) if name in site.named else None
