"""Support for training on several treebanks: their weights, and warnings about differing labels and rules."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.runtime import Inputs, Location, expand_inputs, is_address
from spectralnlp.tasks.token_boundaries import MANY_UNKNOWN, unknown_share
from spectralnlp.trees import Tree
from spectralnlp.trees.renaming import Renaming

_NAMED = 8  # labels or tags listed in a line of the report
_DECIDING = (
    "tokens are written as in the first (as in all, with --keep-moments), sentence ends are learned from all"
)
_MANY_LABELS = 0.3  # warn above this share of phrases with labels unknown to the first treebank


@dataclass(frozen=True)
class Source:
    """One of several treebanks to train on, with its files and weight.

    A user may name a treebank by one input: a folder, an address or a glob pattern. Single files among the
    inputs form one treebank for each folder that contains them.

    Attributes:
        name: the input, or the folder that contains the single files.
        paths: the files.
        weight: how many times each of its trees counts.
    """

    name: str
    paths: Sequence[Location]
    weight: int = 1


def sources_of(inputs: Inputs, weights: Mapping[str, int]) -> list[Source]:
    """Group input files into treebanks, which may have different weights.

    Args:
        inputs: files, folders or globs.
        weights: mapping from the name of a treebank to the number of times that each of its trees counts; see
            `Source` for names of treebanks. Trees of other treebanks count once.

    Raises:
        InputError: an input is missing or holds no files.
        ConfigError: a weight names no treebank of the inputs, or is not a positive integer.
    """
    checked = {_name_of(item): _checked(item, weight) for item, weight in weights.items()}
    treebank_of: dict[Location, str] = {}  # the first treebank that each file belongs to
    for item in [inputs] if isinstance(inputs, str | Path) else inputs:
        name = _name_of(item)
        if name not in checked and not is_address(item) and Path(item).is_file():
            name = _name_of(Path(item).parent)
        for path in expand_inputs(item):
            treebank_of.setdefault(path, name)
    paths: dict[str, list[Location]] = defaultdict(list)
    for path, name in treebank_of.items():
        paths[name].append(path)
    for name in checked:
        if name not in paths:
            hint = f"there are {', '.join(list(paths)[:_NAMED])}"
            raise ConfigError(f"a weight of no treebank: {name}", hint=hint)
    return [Source(name, files, checked.get(name, 1)) for name, files in paths.items()]


def _name_of(item: str | Path) -> str:
    return str(item) if is_address(item) else Path(item).as_posix()


def _checked(name: str, weight: object) -> int:
    if type(weight) is not int or weight < 1:
        what = f"the weight of {name} must be a whole number from 1, not {weight}"
        raise ConfigError(what, hint="trees count once, twice …, so that forgetting them is exact")
    return weight


@dataclass(frozen=True)
class Contents:
    """Counts of trees, labels, tags, rules and words in a treebank, after renaming.

    Attributes:
        source: the treebank.
        n_trees: the number of trees.
        labels, tags, rules, words: number of occurrences of each phrase label, tag, rule (``NP → DT NN``)
            and word.
        renamed: number of nodes that each row of the table of renamings matches, by line number.
    """

    source: Source
    n_trees: int
    labels: Counter[str]
    tags: Counter[str]
    rules: Counter[str]
    words: Counter[str]
    renamed: Counter[int]

    @classmethod
    def of(
        cls, source: Source, read: Callable[[Location], Iterator[Tree]], renaming: Renaming | None
    ) -> Contents:
        """Count the trees, labels, tags, rules and words of a treebank.

        In a malformed file, only the trees before the first error are counted.

        Args:
            source: the treebank.
            read: function that yields the trees of a file, before renaming.
            renaming: the table of renamings; None to keep labels and tags.
        """
        counts = cls(source, 0, Counter(), Counter(), Counter(), Counter(), Counter())
        n_trees = 0
        for path in source.paths:
            with suppress(InputError):  # reported when the trees are read for training
                for tree in read(path):
                    n_trees += 1
                    if renaming is not None:
                        counts.renamed.update(renaming.uses(tree))
                        tree = renaming.rename(tree)
                    counts.add(tree)
        return cls(source, n_trees, counts.labels, counts.tags, counts.rules, counts.words, counts.renamed)

    def add(self, tree: Tree) -> None:
        """Add the labels, tags, rules and words of a tree to the counts."""
        for node in tree.nodes():
            if node.word is None:
                self.labels[node.label] += 1
                self.rules[f"{node.label} → {' '.join(child.label for child in node.children)}"] += 1
            else:
                self.tags[node.label] += 1
                self.words[node.word] += 1


def report_differences(contents: Sequence[Contents]) -> list[str]:
    """Return messages about labels, tags and rules that only one of several treebanks has."""
    sizes = ", ".join(
        f"{each.source.name} {each.n_trees:,} trees" + (f" × {each.source.weight}" * (each.source.weight > 1))
        for each in contents
    )
    lines = [f"{len(contents)} treebanks: {sizes}; {_DECIDING}"]
    for number, each in enumerate(contents):
        others = [other for other in contents if other is not each]
        labels, tags, rules = (
            _only(getattr(each, kind), [getattr(other, kind) for other in others])
            for kind in ("labels", "tags", "rules")
        )
        n = each.rules.total()
        share = f"{len(rules):,} rules, {100 * rules.total() / max(n, 1):.1f} % of its nodes"
        lines.append(f"only in {each.source.name}: labels {_named(labels)}; tags {_named(tags)}; {share}")
        if number:
            lines += _warn(each, contents[0])
    return lines


def report_renaming(contents: Sequence[Contents], renaming: Renaming) -> list[str]:
    """Return a message about how many nodes of treebanks a table of renamings matches.

    Raises:
        InputError: the table renames nothing.
    """
    renamed = sum((each.renamed for each in contents), Counter[int]())
    if not renamed:
        what = f"the table of renamings (`map`) renames nothing: no tree has {renaming.rows[0].old}"
        raise InputError(
            f"{what} or another of its {len(renaming.rows)} names" if len(renaming.rows) > 1 else what,
            hint="leave it out, or write the labels of these trees into it",
        )
    unused = [row for row in renaming.rows if row.line not in renamed]
    rest = f"; nothing by line {', '.join(str(row.line) for row in unused)}" if unused else ""
    n_used = len(renaming.rows) - len(unused)
    return [f"{renamed.total():,} nodes renamed by {n_used} of {len(renaming.rows)} rows{rest}"]


def _only(ours: Counter[str], theirs: Sequence[Counter[str]]) -> Counter[str]:
    return Counter({name: n for name, n in ours.items() if not any(name in each for each in theirs)})


def _named(counts: Counter[str]) -> str:
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    names = ", ".join(f"{name} ({n:,})" for name, n in ranked[:_NAMED])
    return (names or "none") + (f" and {len(ranked) - _NAMED} more" if len(ranked) > _NAMED else "")


def _warn(more: Contents, first: Contents) -> list[str]:
    """Return warnings if the language or the labels of a treebank seem to differ from those of the first.

    Args:
        more: contents of the treebank.
        first: contents of the first treebank.
    """
    name, lines = more.source.name, []
    words = unknown_share(more.words, first.words)
    if words > MANY_UNKNOWN:
        lines.append(
            f"{100 * words:.0f} % of the words of {name} are unknown to {first.source.name}: "
            "if it is in another language, train a separate model"
        )
    labels = unknown_share(more.labels, first.labels)
    if labels > _MANY_LABELS:
        lines.append(
            f"{100 * labels:.0f} % of the phrases of {name} have labels that {first.source.name} lacks: "
            "rename labels that mean the same with a table, --map"
        )
    return lines
