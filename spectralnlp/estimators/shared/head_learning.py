"""Head rules learned from a treebank: the heads that make the head-outward grammar likeliest.

D. Chiang and D. Bikel (2002), Recovering latent information in treebanks, learn heads by EM. Here each phrase
label has a short list of the children that it wants for its head (`PhraseHeads`), which grows and changes as
long as the leave-one-out likelihood of the label's binary rules gains more than an entry must earn. A label
that is rare or that gains nothing keeps the neutral guess.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from spectralnlp.estimators.shared.head_kernels import choose, log_likelihood
from spectralnlp.parameters import Floats, Ints
from spectralnlp.trees import Binariser, PhraseHeads, neutral_head
from spectralnlp.trees.heads import Side, summarise_heads
from spectralnlp.trees.rebinarise import Phrases, Production, rebinarise
from spectralnlp.trees.treelog import TreeTable

# Natural logarithms by which an entry of the list must raise the likelihood.
LEAST_GAIN = 20.0
# Children of the longest phrases that are learned from, commonest labels tried, and entries of a list.
_MOST_CHILDREN, _MOST_LABELS, _MOST_ENTRIES = 12, 40, 30

_SIDES: tuple[Side, Side] = ("left", "right")
_LEAST_STEP = 1e-6
Entry = tuple[int, int]  # number of a label, and of a side
Symbol = tuple[int, ...]  # a label, an intermediate (side, head, last child) or the phrase
Rule = tuple[Symbol, Symbol, Symbol]
_WHOLE: Symbol = ()
_RIGHT, _LEFT = 0, 1


def learn_heads(productions: Mapping[Production, int]) -> tuple[PhraseHeads, ...]:
    """Learn head rules for the labels of phrases that have more than two children somewhere.

    Args:
        productions: how often each label of a phrase occurs with the labels of its children.

    Returns:
        Rules of all labels for which they differ from the neutral guess, the commonest label first.
    """
    by_label: dict[str, list[tuple[tuple[str, ...], int]]] = defaultdict(list)
    for (label, children), count in sorted(productions.items()):
        if 2 <= len(children) <= _MOST_CHILDREN:
            by_label[label].append((children, count))
    learned = [
        _LabelSearch(label, rows).best()
        for label, rows in sorted(by_label.items(), key=_commonest_first)
        if any(len(children) > 2 for children, _ in rows)
    ]
    return tuple(each for each in learned if each.wanted or each.otherwise != "neutral")


def _commonest_first(labelled: tuple[str, list[tuple[tuple[str, ...], int]]]) -> tuple[int, str]:
    label, rows = labelled
    return -sum(count for _, count in rows), label


def with_learned_heads(
    tables: Sequence[TreeTable], binarisers: Sequence[Binariser]
) -> tuple[list[TreeTable], list[Binariser]]:
    """Learn head rules, and binarise trees with them.

    Args:
        tables: of the same trees, from the left.
        binarisers: how each is meant to be binarised.

    Returns:
        The tables as they are meant to be, and their binarisers with the rules.
    """
    phrases = [Phrases.of(table) for table in tables]
    rules = learn_heads(phrases[0].counts())
    learned = [replace(binariser, head_rules=rules) for binariser in binarisers]
    return [rebinarise(*each) for each in zip(tables, phrases, learned, strict=True)], learned


def head_report(binariser: Binariser) -> list[str]:
    """Return lines for users, the heads of the commonest phrases; none where none were learned."""
    return [f"heads learned: {summary}"] if (summary := summarise_heads(binariser.head_rules)) else []


class _Choices(NamedTuple):
    """The binary rules of each production for each child that could be its head.

    Attributes:
        bounds: int32 (n_choices + 1,); where the rules of each choice begin.
        rule: int32 (n_listed,); numbers of rules.
        parent, left, right: int32 (n_rules,); of each rule, the number of its left-hand side, and of that
            with its left child and with its right one.
        fixed: float64 (n_rules,); counts that depend on no choice.
        weight: float64 (n_productions,); how often each occurs.
        n_names: how many labels and intermediates can be children.
    """

    bounds: Ints
    rule: Ints
    parent: Ints
    left: Ints
    right: Ints
    fixed: Floats
    weight: Floats
    n_names: int


class _LabelSearch:
    """The search for one label's list.

    Args:
        label: of the phrase.
        rows: labels of children and how often they occur; some of more than two children.
    """

    def __init__(self, label: str, rows: Sequence[tuple[tuple[str, ...], int]]) -> None:
        self.label = label
        self.labels = sorted({child for children, _ in rows for child in children})
        number = {name: i for i, name in enumerate(self.labels)}
        self.rows = [([number[child] for child in children], count) for children, count in rows]
        self.free = [(children, count) for children, count in self.rows if len(children) > 2]
        self.choices = _choices(self.rows, len(self.labels))
        begin = np.cumsum([0, *(len(children) for children, _ in self.free[:-1])], dtype=np.int32)
        width = np.array([len(children) for children, _ in self.free], np.int32)
        neutral = [neutral_head(label, [self.labels[c] for c in children]) for children, _ in self.free]
        self.otherwise = {
            "neutral": begin + np.array(neutral, np.int32),
            "left": begin,
            "right": begin + width - 1,
        }
        self.places = self._places(begin.tolist())
        self.known: dict[bytes, float] = {}

    def _places(self, begin: Sequence[int]) -> Ints:
        """int32 (2, n_productions, n_labels): each label's leftmost and rightmost choice; -1 without one."""
        places = np.full((2, len(self.free), len(self.labels)), -1, np.int32)
        for p, (children, _) in enumerate(self.free):
            for i, child in enumerate(children):
                places[1, p, child] = begin[p] + i
            for i, child in reversed(list(enumerate(children))):
                places[0, p, child] = begin[p] + i
        return places

    def best(self) -> PhraseHeads:
        """Return the list that no change of one entry improves."""
        values = {name: self._value([], name) - LEAST_GAIN * (name != "neutral") for name in self.otherwise}
        otherwise: Any = max(values, key=lambda name: values[name])
        best: float = values[otherwise]
        entries: tuple[Entry, ...] = ()
        while len(entries) < _MOST_ENTRIES:
            neighbours = {each: self._value(each, otherwise) for each in self._neighbours(entries)}
            found = max(neighbours, key=lambda each: neighbours[each])
            if neighbours[found] <= best + _LEAST_STEP:
                break
            best, entries = neighbours[found], found
        wanted = tuple((self.labels[child], _SIDES[side]) for child, side in entries)
        return PhraseHeads(self.label, wanted, otherwise)

    def _neighbours(self, entries: tuple[Entry, ...]) -> Iterator[tuple[Entry, ...]]:
        """Yield the lists with an entry more or less, or with one elsewhere or on the other side.

        A new entry stands first or last; the next steps find a better place.
        """
        occurs: Counter[int] = Counter()
        for children, count in self.free:
            occurs.update(dict.fromkeys(children, count))
        for child, _ in occurs.most_common(_MOST_LABELS):
            others = tuple(each for each in entries if each[0] != child)
            places: Iterable[int] = {0, len(entries)}
            if len(others) < len(entries):
                yield others
                places = range(len(entries))
            for place in places:
                for side in range(len(_SIDES)):
                    yield (*others[:place], (child, side), *others[place:])

    def _value(self, entries: Sequence[Entry], otherwise: str) -> float:
        """The likelihood of the phrases with these heads, less what the entries must earn."""
        chosen = self.otherwise[otherwise].copy()
        choose(np.array(entries, np.int32).reshape(-1, 2), self.places, chosen)
        key = chosen.tobytes()  # many lists choose the same heads
        if key not in self.known:
            self.known[key] = float(log_likelihood(chosen, self.choices))
        return self.known[key] - LEAST_GAIN * len(entries)


def _choices(rows: Sequence[tuple[list[int], int]], n_labels: int) -> _Choices:
    """The choices of productions, and the rules of those that have two children and so no choice."""
    rules: dict[Rule, int] = {}
    bounds, listed, fixed = [0], [], Counter[int]()
    for children, count in rows:
        for head in range(len(children)) if len(children) > 2 else (0,):
            numbers = [rules.setdefault(rule, len(rules)) for rule in _binary_rules(children, head)]
            if len(children) > 2:
                listed += numbers
                bounds.append(len(listed))
            else:
                fixed[numbers[0]] += count
    return _Choices(
        bounds=np.array(bounds, np.int32),
        rule=np.array(listed, np.int32),
        parent=_numbers(rule[0] for rule in rules),
        left=_numbers(rule[:2] for rule in rules),
        right=_numbers(rule[::2] for rule in rules),
        fixed=np.array([fixed[i] for i in range(len(rules))], np.float64),
        weight=np.array([count for children, count in rows if len(children) > 2], np.float64),
        n_names=n_labels + 2,
    )


def _numbers(keys: Iterable[object]) -> Ints:
    """Numbers from 0 on, equal ones for equal keys."""
    number: dict[object, int] = {}
    return np.array([number.setdefault(key, len(number)) for key in keys], np.int32)


def _binary_rules(children: Sequence[int], head: int) -> Iterator[Rule]:
    """Yield the rules that a phrase becomes, built outward from a head: first to the right, then to the left.

    An intermediate is told by its side, its head and its last child.
    """
    core: Symbol
    core, last = (children[head],), len(children) - 1
    for i in range(head + 1, last + 1):
        parent = _WHOLE if (head, i) == (0, last) else (_RIGHT, children[head], children[i])
        yield parent, core, (children[i],)
        core = parent
    for i in range(head - 1, -1, -1):
        parent = (_LEFT, children[head], children[i]) if i else _WHOLE
        yield parent, (children[i],), core
        core = parent
