"""Measure how many planted annotation errors ``spectralnlp audit`` finds, and the time that it takes.

Errors are planted in a treebank's training part, one per sentence and equally many of each kind: a bracket is
removed, an edge of a bracket is moved by one word, or a label or tag is replaced. The new label is drawn from
the labels under the same parent, the new tag from the tags of the word or of words with the same last two
letters, both by frequency. An error counts as found if a row of the audit is about the damaged node or
proposes the original bracket.

    python -m benchmarks.audit
    python -m benchmarks.audit --treebank gum --seeds 1
"""

from __future__ import annotations

from benchmarks import experiment, report  # first: it sets the number of threads  # isort: skip

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import process_time

from spectralnlp_trees import Bracket, Doubt, audit
from spectralnlp_trees.auditing.doubts import Kind

import spectralnlp
from spectralnlp.runtime import expand_inputs
from spectralnlp.trees import Tree, cleaned, read_trees

KINDS = ("removed", "moved", "label", "tag")
ROWS = (300, 600, 1000)


@dataclass(frozen=True)
class Error:
    """Planted annotation error.

    Attributes:
        kind: one of `KINDS`.
        before, after: original and planted bracket or tag; after a removal there is no planted bracket.
    """

    kind: str
    before: Bracket
    after: Bracket | None

    def is_found(self, doubt: Doubt) -> bool:
        """Return whether a doubt about the same sentence is about this error."""
        node, proposed = doubt.change.node, doubt.change.proposed
        if self.kind == "removed":
            return proposed == self.before
        is_tag = doubt.change.kind == Kind.TAG
        return is_tag == (self.kind == "tag") and (
            node == self.after or (not is_tag and proposed == self.before)
        )


class Planter:
    """Planter of plausible annotation errors in a treebank.

    Args:
        trees: trees of the treebank.
        seed: seed of the random choices.
    """

    def __init__(self, trees: Sequence[Tree], seed: int) -> None:
        self.trees, self.random = trees, random.Random(seed)
        self.labels: dict[str, Counter[str]] = defaultdict(Counter)
        self.tags: dict[str, Counter[str]] = defaultdict(Counter)
        for node in (node for tree in trees for node in tree.nodes()):
            if node.word is not None:
                self.tags[node.word][node.label] += 1
                self.tags[f"-{node.word[-2:].lower()}"][node.label] += 1
            for child in node.children:
                if not child.is_preterminal:
                    self.labels[node.label][child.label] += 1

    def plant(self, n_errors: int) -> tuple[list[Tree], dict[int, Error]]:
        """Return the trees with planted errors, and the errors by index of the tree."""
        damaged, errors = list(self.trees), dict[int, Error]()
        for number in self.random.sample(range(len(damaged)), len(damaged)):
            if len(errors) == n_errors:
                break
            kind = KINDS[len(errors) % len(KINDS)]
            options = list(self._options(damaged[number], kind))
            if options:
                damaged[number], errors[number] = self.random.choice(options)
        return damaged, errors

    def _options(self, tree: Tree, kind: str) -> Iterator[tuple[Tree, Error]]:
        """Yield every damaged version of a tree by an error of this kind, with the error."""
        todo: list[tuple[Tree, tuple[int, ...], int]] = [(tree, (), 0)]
        while todo:
            node, path, start = todo.pop()
            for place, child in enumerate(node.children):
                todo.append((child, (*path, place), start))
                end = start + len(child.words())
                before = Bracket(child.label, start, end)
                for below, after in self._damaged(node, place, before, kind):
                    yield _replaced(tree, path, Tree(node.label, below)), Error(kind, before, after)
                start = end

    def _damaged(
        self, parent: Tree, place: int, before: Bracket, kind: str
    ) -> Iterator[tuple[list[Tree], Bracket | None]]:
        """Yield the children of a node after damage to one of them, with the planted bracket or tag.

        Args:
            parent: the node.
            place: index of the child to damage.
            before: bracket or tag of the child.
            kind: kind of the error.
        """
        left, node, right = parent.children[:place], parent.children[place], parent.children[place + 1 :]
        if node.word is not None:
            name = kind == "tag" and (
                self._drawn(self.tags[node.word], node.label)
                or self._drawn(self.tags[f"-{node.word[-2:].lower()}"], node.label)
            )
            if name:
                yield [*left, Tree(name, word=node.word), *right], before._replace(label=name)
        elif kind == "removed" and len(node.children) > 1 and len(parent.children) > 1:
            yield [*left, *node.children, *right], None
        elif kind == "label":
            name = self._drawn(self.labels[parent.label], node.label)
            if name:
                yield [*left, Tree(name, node.children), *right], before._replace(label=name)
        elif kind == "moved":
            yield from self._moved(left, node, right, before)

    def _moved(
        self, left: Sequence[Tree], node: Tree, right: Sequence[Tree], before: Bracket
    ) -> Iterator[tuple[list[Tree], Bracket]]:
        """Yield the children of a parent after an edge of one child moved by a word, with the new bracket.

        Args:
            left, right: siblings on either side of the node.
            node: the child whose edge is moved.
            before: its bracket.
        """
        label, start, end = before
        own, may_grow = node.children, len(left) + len(right) > 1
        if may_grow and right and len(right[0].words()) == 1:
            yield [*left, Tree(label, [*own, right[0]]), *right[1:]], Bracket(label, start, end + 1)
        if may_grow and left and len(left[-1].words()) == 1:
            yield [*left[:-1], Tree(label, [left[-1], *own]), *right], Bracket(label, start - 1, end)
        if len(own) > 2 and len(own[-1].words()) == 1:
            yield [*left, Tree(label, own[:-1]), own[-1], *right], Bracket(label, start, end - 1)
        if len(own) > 2 and len(own[0].words()) == 1:
            yield [*left, own[0], Tree(label, own[1:]), *right], Bracket(label, start + 1, end)

    def _drawn(self, counts: Counter[str], but: str) -> str | None:
        names = sorted(name for name in counts if name != but)
        return self.random.choices(names, [counts[name] for name in names])[0] if names else None


def _replaced(tree: Tree, path: Sequence[int], new: Tree) -> Tree:
    """Return a tree in which one node is replaced by another.

    Args:
        tree: the tree.
        path: indices of children that lead from the root to the node.
        new: the new node.
    """
    if not path:
        return new
    children = list(tree.children)
    children[path[0]] = _replaced(children[path[0]], path[1:], new)
    return Tree(tree.label, children)


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its tables."""
    options = experiment.argument_parser(__doc__)
    options.add_argument("--errors", type=int, default=300, metavar="N", help="planted; default 300")
    options.add_argument("--seeds", type=int, default=3, metavar="N", help="plantings; default 3")
    options.add_argument("--train", action="store_true", help="train lpcfg once as well, for its time")
    arguments = options.parse_args()
    experiment.print_heading("audit")
    files = expand_inputs([experiment.folder_of(arguments) / "train"])
    read = [(number, tree) for number, file in enumerate(files) for tree in cleaned(read_trees(file))]
    documents, trees = [number for number, _ in read], [tree for _, tree in read]
    rows, seconds = [], []
    for seed in range(arguments.seeds):
        damaged, errors = Planter(trees, seed).plant(arguments.errors)
        started = process_time()
        doubts = audit(damaged, documents, limit=max(ROWS))
        seconds.append(process_time() - started)
        found = {n: _found(doubts[:n], errors) for n in ROWS}
        by_kind = Counter(errors[number].kind for number in found[600])
        rows.append([seed, *(len(found[n]) for n in ROWS), *(by_kind[kind] for kind in KINDS)])
    header = ("seed", *(f"in {n}" for n in ROWS), *(f"{kind} (600)" for kind in KINDS))
    print(report.table(header, rows), "\n")
    print(f"{len(trees):,} trees, {arguments.errors} errors. Audit: {seconds[-1]:.0f} CPU seconds.")
    if arguments.train:
        started = process_time()
        spectralnlp.train("lpcfg", trees)
        print(f"Training of lpcfg: {process_time() - started:.0f} CPU seconds.")


def _found(doubts: Sequence[Doubt], errors: dict[int, Error]) -> set[int]:
    """Return the indices of the trees in which the audit found the planted error.

    Args:
        doubts: rows of the audit.
        errors: planted error of each damaged tree, by index of the tree.
    """
    return {each.tree for each in doubts if each.tree in errors and errors[each.tree].is_found(each)}


if __name__ == "__main__":
    main()
