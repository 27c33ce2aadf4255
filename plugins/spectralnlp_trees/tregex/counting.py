"""Count matches of patterns by properties of their nodes: frequency lists and cross tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spectralnlp.errors import ConfigError
from spectralnlp.trees import Tree
from spectralnlp.trees.parse import Parse
from spectralnlp.trees.tree import category
from spectralnlp_trees.tregex.columns import TreeColumns
from spectralnlp_trees.tregex.matches import (
    Match,
    MatchedNode,
    TreeIndex,
    matching_nodes,
    overt_words,
    search,
)
from spectralnlp_trees.tregex.pattern import read_pattern

# Column of a frequency list, and the sum of a row of a cross table.
MATCHES, TOTAL = "matches", "total"
WORDS, TREES = "words", "trees"  # what rates can be relative to, besides a pattern

_INDEX = re.compile(r"[-=][0-9]+")

Property = Callable[[TreeColumns, int, MatchedNode, str], str | int]


def _head(index: TreeColumns, node: int, matched: MatchedNode, head_rules: str) -> str:
    return index.vocabulary[index.label[_head_word(index, node, head_rules)]]


def _tag(index: TreeColumns, node: int, matched: MatchedNode, head_rules: str) -> str:
    return index.vocabulary[index.label[index.parent[_head_word(index, node, head_rules)]]]


def _head_word(index: TreeColumns, node: int, head_rules: str) -> int:
    heads = index.head_children(head_rules)
    while heads[node] >= 0:
        node = int(heads[node])
    return node


def _function(index: TreeColumns, node: int, matched: MatchedNode, head_rules: str) -> str:
    return _INDEX.sub("", matched.label[len(category(matched.label)) :]).lstrip("-")


PROPERTIES: Mapping[str, Property] = {
    "label": lambda index, node, matched, head_rules: matched.label,
    "category": lambda index, node, matched, head_rules: category(matched.label),
    "function": _function,
    "head": _head,
    "tag": _tag,
    "words": lambda index, node, matched, head_rules: matched.text,
    "length": lambda index, node, matched, head_rules: matched.end - matched.start,
}


@dataclass(frozen=True)
class Key:
    """What matches are grouped by: a property of a node, or the file of the tree.

    Attributes:
        name: name of the node in the pattern; empty for the matched node.
        property: one of `PROPERTIES`, or ``file``.
    """

    name: str
    property: str

    @classmethod
    def read(cls, text: str, patterns: Sequence[str]) -> Key:
        """Read a key: ``label``, ``object.head`` or ``file``.

        Args:
            text: the key.
            patterns: the patterns, in which the node must be named.

        Raises:
            ConfigError: there is no such property, or a pattern names no such node.
        """
        name, _, kind = text.rpartition(".")
        if kind not in PROPERTIES and text != "file":
            known = f"{', '.join(PROPERTIES)} or file"
            raise ConfigError(f"matches cannot be grouped by {text!r}", hint=f"take {known}, or NODE.head")
        for pattern in patterns:
            if name and name not in read_pattern(pattern).names:
                raise ConfigError(f"no node of {pattern!r} is named {name!r}", hint=f"write NP={name}")
        return cls(name, kind)

    def value(self, index: TreeColumns, match: Match, file: str, head_rules: str) -> str | int:
        """Return the value of a match: a text or a number; an empty text if the node is absent."""
        if self.property == "file":
            return file
        matched = match.named.get(self.name) if self.name else match.node
        if matched is None:
            return ""
        node = int(index.tree_start[match.tree]) + matched.number - 1
        return PROPERTIES[self.property](index, node, matched, head_rules)


@dataclass
class Tally:
    """Counts of matches in trees that are added in batches.

    Attributes:
        patterns: the patterns; if there are several, each is a column.
        keys: one key, whose values are the rows, or two of a single pattern, rows and columns.
        per: what rates are relative to: ``words``, ``trees``, or a pattern, whose matching nodes count;
            empty for no rates.
        once: whether to count each node once, not once for each way to match.
        head_rules: head rules of the patterns and of the properties ``head`` and ``tag``.
        counts: number of matches by row and column.
        base: number of words, trees or matches of ``per``, by file.

    Raises:
        ConfigError: there are two keys and several patterns, or more than two keys.
    """

    patterns: Sequence[str]
    keys: Sequence[Key]
    per: str = ""
    once: bool = False
    head_rules: str = "english"
    counts: Counter[tuple[str | int, str | int]] = field(default_factory=Counter)
    base: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        if not 1 <= len(self.keys) <= 2 or (len(self.keys) == 2 and len(self.patterns) > 1):
            what = f"{len(self.keys)} groupings of {len(self.patterns)} patterns"
            raise ConfigError(f"{what} make no table", hint="give two groupings, or one and more patterns")
        if self.per not in ("", WORDS, TREES):
            read_pattern(self.per)

    def add(self, trees: TreeIndex | Iterable[Tree | Parse], files: Sequence[str]) -> None:
        """Count the matches in trees.

        Args:
            trees: the trees.
            files: name of the file of each tree.
        """
        index = TreeIndex.of(trees)
        for pattern in self.patterns:
            for match in search(index, pattern, once=self.once, head_rules=self.head_rules):
                file = files[match.tree]
                values = [key.value(index, match, file, self.head_rules) for key in self.keys]
                column = pattern if len(self.patterns) > 1 else MATCHES
                self.counts[values[0], values[1] if len(values) == 2 else column] += 1
        self._add_base(index, files)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the table, the most frequent first; a row maps column names to cells.

        A row of one column has its share of all matches in percent; a row of several has its sum, ``total``.
        ``per`` adds the rate per 1,000 words, trees or matches. A column whose name is taken gets the suffix
        ``=``.
        """
        by_row, by_column = Counter[str | int](), Counter[str | int]()
        for (row, column), count in self.counts.items():
            by_row[row] += count
            by_column[column] += count
        one = len(self.keys) == len(self.patterns) == 1
        first = ".".join(filter(None, (self.keys[0].name, self.keys[0].property)))
        found = list(self.patterns) if len(self.patterns) > 1 else _most_frequent(by_column)
        columns = {each: f"{each}=" if each in (first, TOTAL) else str(each) for each in found}
        table = []
        for row in _most_frequent(by_row):
            cells: dict[str, Any] = {first: row}
            cells |= {name: self.counts[row, column] for column, name in columns.items()}
            cells |= {"%": round(100 * by_row[row] / by_row.total(), 1)} if one else {TOTAL: by_row[row]}
            if self.per:
                cells[f"per 1,000 {self.per}"] = self._rate(row, by_row[row])
            table.append(cells)
        return table

    def _rate(self, row: str | int, count: int) -> float | None:
        of_file = self.keys[0].property == "file"
        base = self.base[str(row)] if of_file else self.base.total()
        return round(1000 * count / base, 2) if base else None

    def _add_base(self, index: TreeIndex, files: Sequence[str]) -> None:
        if self.per == WORDS:
            for tree, file in zip(index.trees, files, strict=True):
                self.base[file] += len(overt_words(tree.preterminals()))
        elif self.per == TREES:
            self.base.update(files)
        elif self.per:
            nodes = matching_nodes(index, self.per, head_rules=self.head_rules)
            self.base.update(files[tree] for tree in index.tree[nodes].tolist())


def count_by(
    trees: TreeIndex | Iterable[Tree | Parse],
    pattern: str,
    *keys: str,
    per: str = "",
    once: bool = False,
    head_rules: str = "english",
) -> list[dict[str, Any]]:
    """Count the matches of a pattern by one or two properties of their nodes.

    Args:
        trees: trees or parses.
        pattern: a pattern such as ``VP < NP=object``.
        keys: what to group by: ``label``, ``category`` (the label without function and index), ``function``,
            ``head`` (the head word), ``tag`` (of the head word), ``words``, or ``length`` (in words) of the
            matched node, or of a named one: ``object.head``. Of two, the second gives the columns.
        per: ``words``, ``trees`` or a pattern: adds rates per 1,000 of these.
        once: whether to count each node once, not once for each way in which the pattern matches there.
        head_rules: head rules for ``<#``, ``head`` and ``tag``: ``english`` or ``neutral``.

    Returns:
        The rows, the most frequent first; each maps column names to cells.

    Raises:
        PatternError: a pattern is invalid.
        ConfigError: there is no such property or no such node, or not one or two keys.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp_trees import count_by
        >>> trees = spectralnlp.read_treebank("corpora/treebank/dev.mrg")
        >>> count_by(trees, "VP < NP=object", "object.tag", per="VP")[0]
        {'object.tag': 'NN', 'matches': 14, '%': 77.8, 'per 1,000 VP': 297.87}
    """
    index = TreeIndex.of(trees)
    tally = Tally([pattern], [Key.read(key, [pattern]) for key in keys], per, once, head_rules)
    tally.add(index, [""] * len(index.trees))
    return tally.rows()


def _most_frequent(counts: Counter[str | int]) -> list[str | int]:
    """Return values by falling count; equal counts in the order of numbers, then of texts."""
    return sorted(counts, key=lambda value: (-counts[value], isinstance(value, str), value))
