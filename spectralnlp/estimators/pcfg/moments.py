"""The moments of a PCFG: how often each rule, word, root and unary chain occurred."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from spectralnlp.runtime import Counts, Key
from spectralnlp.trees import Binariser, Tree, unary_chains

BINARY, UNARY, ROOT, WORD, CHAIN = "binary", "unary", "root", "word", "chain"
EventCounts = Mapping[tuple[str, ...], int]


@dataclass(frozen=True, kw_only=True)
class RuleEvents:
    """Counts of each kind of event, in the order of their keys.

    Attributes:
        binary: of (a, b, c).
        unary: of (a, b).
        root: of (a,).
        word: of (tag, word, "1" if it begins its sentence else "0").
        chain: of (top, …, bottom).
    """

    binary: EventCounts
    unary: EventCounts
    root: EventCounts
    word: EventCounts
    chain: EventCounts

    def word_counts(self) -> dict[str, int]:
        """How often each word occurs."""
        counts: dict[str, int] = defaultdict(int)
        for (_, word, _), count in self.word.items():
            counts[word] += count
        return counts

    def labels(self) -> Iterator[str]:
        """The labels of all events, some of them many times."""
        for counts in (self.binary, self.unary, self.root):
            for symbols in counts:
                yield from symbols
        for tag, _, _ in self.word:
            yield tag


class RuleCounts(Counts[Tree]):
    """Integer counts of the events of a treebank; exact under merging and subtraction.

    Keys are ``(binary, a, b, c)``, ``(unary, a, b)``, ``(root, a)``, ``(word, tag, word, "1" if
    sentence-initial else "0")`` and ``(chain, top, …, bottom)`` over the symbols of the binarised tree.

    Args:
        binariser: how trees are binarised, as ``Binariser.to_dict`` gives it.
    """

    def __init__(self, binariser: Mapping[str, object]) -> None:
        super().__init__()
        self.binariser = Binariser.from_dict(binariser)

    def parameters(self) -> dict[str, object]:
        """The binarisation: counts of different ones do not add up."""
        return {"binariser": self.binariser.to_dict()}

    def events(self, example: Tree) -> Iterator[Key]:
        """The events of one cleaned tree."""
        tree = self.binariser.binarise(example)
        yield ROOT, tree.label
        is_first = True
        for node in tree.postorder():
            if node.word is not None:
                yield WORD, node.label, node.word, "1" if is_first else "0"
                is_first = False
            elif len(node.children) == 2:
                yield BINARY, node.label, node.children[0].label, node.children[1].label
            else:
                yield UNARY, node.label, node.children[0].label
        if self.binariser.unaries == "compress":
            for chain in unary_chains(example):
                yield CHAIN, *chain

    def events_by_kind(self) -> RuleEvents:
        """The counts of each kind of event, keys without the kind."""
        kinds: dict[str, dict[tuple[str, ...], int]] = {
            kind: {} for kind in (BINARY, UNARY, ROOT, WORD, CHAIN)
        }
        for key, count in self.items():
            kinds[key[0]][tuple(key[1:])] = count
        return RuleEvents(**kinds)
