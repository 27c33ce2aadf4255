"""Lu's structures (2010) counted by walking through trees, without patterns."""

from __future__ import annotations

from collections.abc import Iterator

from spectralnlp.trees import Tree, english_head

CLAUSES, UNITS = {"S", "SINV", "SQ"}, {"S", "SBARQ", "SINV", "SQ"}
FINITE = {"MD", "VBP", "VBZ", "VBD"}


class Node:
    """A node that knows its parent; a word is a node, too."""

    def __init__(self, tree: Tree | str, parent: Node | None = None) -> None:
        self.label = tree if isinstance(tree, str) else tree.label
        self.parent = parent
        below = [] if isinstance(tree, str) else [tree.word] if tree.word is not None else tree.children
        self.children = [Node(each, self) for each in below]

    def below(self) -> Iterator[Node]:
        for child in self.children:
            yield child
            yield from child.below()

    def above(self) -> Iterator[Node]:
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    @property
    def head(self) -> Node:
        return self.children[english_head(self.label, [each.label for each in self.children])]

    def sisters(self) -> list[Node]:
        return self.parent.children if self.parent is not None else [self]

    @property
    def place(self) -> int:
        return next(i for i, each in enumerate(self.sisters()) if each is self)

    def next(self) -> Node | None:
        after = self.sisters()[self.place + 1 :]
        return after[0] if after else None

    def has_parent(self, *labels: str) -> bool:
        return self.parent is not None and self.parent.label in labels


def headed(node: Node, labels: set[str]) -> bool:
    return bool(node.children) and node.head.label in labels


def is_clause(node: Node) -> bool:
    if node.label not in CLAUSES or not node.children:
        return False
    first = node.children[0]
    if node.has_parent("ROOT") and first.label == "VP" and headed(first, {"VB"}):
        return True
    if headed(node, FINITE):
        return True
    for child in node.children:
        if child.label == "VP":
            finite = [each for each in child.children if each.label == "VP" and headed(each, FINITE)]
            joined = any(each.label == "CC" for each in child.children)
            if headed(child, FINITE) or (joined and finite):
                return True
    return False


def is_unit(node: Node) -> bool:
    if node.label not in UNITS:
        return False
    if node.has_parent("ROOT"):
        return True
    before = node.sisters()[: node.place]
    return any(each.label in UNITS for each in before) and not any(
        each.label in ("SBAR", "VP") for each in node.above()
    )


def is_dependent(node: Node) -> bool:
    return node.label == "SBAR" and any(map(is_clause, node.children))


def is_complex_nominal(node: Node) -> bool:
    after = node.next()
    if node.label == "NP" and not node.has_parent("NP"):
        inner = list(node.below())
        if any(each.label in ("JJ", "POS", "PP", "S", "VBG") for each in inner):
            return True
        for each in inner:
            later = each.sisters()[each.place + 1 :]
            follows = each.next()
            joined = follows is not None and follows.label == "CC"
            if each.label == "NP" and not joined and any(other.label == "NP" for other in later):
                return True
    if node.label == "SBAR" and ((after is not None and after.label == "VP") or node.has_parent("VP")):
        complement = headed(node, {"IN"}) and node.head.children[0].label in ("That", "that", "For", "for")
        if headed(node, {"WHNP"}) or complement or node.children[0].label == "S":
            return True
    if node.label == "S" and after is not None and after.label == "VP":
        return any(each.label == "VP" and headed(each, {"VBG", "TO"}) for each in node.children)
    return False


def plain_counts(tree: Tree) -> dict[str, int]:
    """The structures of one tree under ``ROOT``."""
    root = Node(tree)
    nodes = [root, *root.below()]
    units = [each for each in nodes if is_unit(each)]
    fragments = [each for each in nodes if each.label == "FRAG" and each.has_parent("ROOT")]
    tags = [each.label for each in nodes if len(each.children) == 1 and not each.children[0].children]
    return {
        "W": sum(tag.rstrip("$").isalpha() and tag.isupper() for tag in tags),
        "S": 1,
        "VP": sum(each.label == "VP" and each.has_parent(*CLAUSES) for each in nodes)
        + sum(
            each.label in FINITE
            and each.has_parent("SQ")
            and not any(sister.label == "VP" for sister in each.sisters())
            for each in nodes
        ),
        "C": sum(map(is_clause, nodes)) + sum(not any(map(is_clause, each.below())) for each in fragments),
        "T": len(units) + sum(not any(map(is_unit, each.below())) for each in fragments),
        "DC": sum(map(is_dependent, nodes)),
        "CT": sum(any(map(is_dependent, each.below())) for each in units),
        "CP": sum(
            each.label in ("ADJP", "ADVP", "NP", "VP") and any(child.label == "CC" for child in each.children)
            for each in nodes
        ),
        "CN": sum(map(is_complex_nominal, nodes)),
    }
