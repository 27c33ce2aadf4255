"""Convert sentences with crossing branches (discontinuous phrases) to ordinary trees.

The two steps are usual for NEGRA, TIGER and similar treebanks:

1. A child of the virtual root, mostly punctuation, is attached to the lowest phrase that dominates both of
   its neighbours. At the ends of a sentence, or if only the root dominates both, it remains under the root
   (``root_attach`` in W. Maier's treetools, https://github.com/wmaier/treetools).
2. A phrase that is still discontinuous keeps the continuous part with its head; its other children are raised
   to its parent, and further up until no branches cross (S. Kübler, E. Hinrichs and W. Maier (2006), Is it
   really that difficult to parse German?, EMNLP; A. Boyd (2007), Discontinuity revisited: an improved
   conversion to context-free representations, Linguistic Annotation Workshop, compares it with her method).
"""

from __future__ import annotations

from dataclasses import replace

from spectralnlp.trees.heads import neutral_head
from spectralnlp.trees.readers.changes import ReadingChanges
from spectralnlp.trees.readers.sentence_graph import VIRTUAL_ROOT, SentenceGraph, children_of
from spectralnlp.trees.tree import HeadedTree, Tree, writable

_NO_FUNCTIONS = frozenset(["", "-", "--"])
_HEAD_FUNCTIONS = frozenset(["HD", "hd", "HEAD", "head"])


def continuous(
    graph: SentenceGraph, counts: ReadingChanges | None = None, *, functions: bool = False
) -> Tree:
    """Convert a sentence to a tree without crossing branches, under a root with the sentence's root label.

    In labels and words, brackets are escaped (``$(`` becomes ``$-LRB-``).

    Args:
        graph: the sentence.
        counts: counts to which the changes of this sentence are added; None to count nothing.
        functions: whether labels have the functions of their nodes, ``NP-SB``.
    """
    parents = list(graph.parents)
    attached = _attach(len(graph.words), parents)
    order = _children_first(len(graph.words), parents)
    raised = _raise(graph, parents, order)
    if counts is not None:
        counts.trees += 1
        counts.discontinuous += bool(raised)
        counts.raised += len(raised)
        counts.attached += attached
        counts.empty += graph.empty
    names = graph.labels
    if functions:
        names = [
            label if function in _NO_FUNCTIONS else f"{label}-{function}"
            for label, function in zip(graph.labels, graph.functions, strict=True)
        ]
    return _tree(replace(graph, labels=names), parents, order)


def _children_first(n_words: int, parents: list[int]) -> list[int]:
    """Return the indices of the phrases, each after all phrases below it."""
    below = children_of(parents)
    order, stack = [], [VIRTUAL_ROOT]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(child for child in below[node] if child >= n_words)
    return order[:0:-1]


def _spans(n_words: int, parents: list[int]) -> list[tuple[int, int]]:
    """Return the first and last word that each node dominates; the last item is for the virtual root."""
    first = list(range(n_words)) + [n_words] * (len(parents) - n_words + 1)
    last = list(range(n_words)) + [-1] * (len(parents) - n_words + 1)
    for node in [*range(n_words), *_children_first(n_words, parents)]:
        above = parents[node]
        first[above] = min(first[above], first[node])
        last[above] = max(last[above], last[node])
    return list(zip(first, last, strict=True))


def _attach(n_words: int, parents: list[int]) -> int:
    """Attach children of the virtual root to phrases, in place; return how many were attached.

    A child is attached to the lowest phrase that dominates the words to its left and right, if there is one.

    Args:
        n_words: number of words.
        parents: parent of each node, as in `SentenceGraph`.
    """
    spans, attached = _spans(n_words, parents), 0
    top = [node for node, parent in enumerate(parents) if parent == VIRTUAL_ROOT]
    for node in sorted(top, key=lambda each: spans[each]):
        left, right = spans[node][0] - 1, spans[node][1] + 1
        while right < n_words and parents[right] == VIRTUAL_ROOT:  # its turn has not come
            right += 1
        if left < 0 or right >= n_words:
            continue
        above = set(_ancestors(left, parents))
        lowest = next((each for each in _ancestors(right, parents) if each in above), VIRTUAL_ROOT)
        if lowest != VIRTUAL_ROOT:
            parents[node] = lowest
            attached += 1
    return attached


def _ancestors(node: int, parents: list[int]) -> list[int]:
    """Return the phrases that dominate a node, the lowest first, without the virtual root."""
    found = []
    node = parents[node]
    while node != VIRTUAL_ROOT:
        found.append(node)
        node = parents[node]
    return found


def _raise(graph: SentenceGraph, parents: list[int], order: list[int]) -> set[int]:
    """Make all phrases continuous, by attaching some children to the parent of their phrase.

    Children of a phrase stay in the phrase if they form a continuous span together with its head child; all
    other children are raised to the phrase's parent.

    Args:
        graph: the sentence.
        parents: parent of each node, as in `SentenceGraph`; changed in place.
        order: indices of the phrases, each after all phrases below it.

    Returns:
        Indices of the nodes that were raised.
    """
    below = children_of(parents)
    raised: set[int] = set()
    n_words = len(graph.words)
    span = [(word, word + 1) for word in range(n_words)] + [(0, 0)] * (len(parents) - n_words)
    for phrase in order:
        parts = sorted(below[phrase], key=lambda each: span[each])
        own = [each for each in parts if graph.parents[each] == phrase]  # not what was moved here
        head = own[_head(graph, phrase, own)]
        runs: list[list[int]] = []
        for part in parts:
            if runs and span[runs[-1][-1]][1] == span[part][0]:
                runs[-1].append(part)
            else:
                runs.append([part])
        for run in runs:
            if head in run:
                span[phrase] = span[run[0]][0], span[run[-1]][1]
                below[phrase] = run
            else:
                raised.update(run)
                below[parents[phrase]] += run
                for part in run:
                    parents[part] = parents[phrase]
    return raised


def _head(graph: SentenceGraph, phrase: int, parts: list[int]) -> int:
    """Return the index of the head child of a phrase.

    If no child has a function that marks heads, such as ``HD``, the head is found by `neutral_head`.

    Args:
        graph: the sentence.
        phrase: index of the phrase in the graph.
        parts: indices of the phrase's children in the graph.

    Returns:
        An index into ``parts``.
    """
    marked = (index for index, part in enumerate(parts) if graph.functions[part] in _HEAD_FUNCTIONS)
    guess = neutral_head(graph.labels[phrase], [graph.labels[part] for part in parts])
    return next(marked, guess)


def _tree(graph: SentenceGraph, parents: list[int], order: list[int]) -> Tree:
    """Build the tree of a sentence whose phrases are continuous; heads marked in the treebank stay marked.

    Args:
        graph: the sentence.
        parents: parent of each node after raising.
        order: indices of the phrases, each after all phrases below it.
    """
    # By phrase: first word, number and tree of each part.
    below: list[list[tuple[int, int, Tree]]] = [[] for _ in range(len(parents) + 1)]
    for index, word in enumerate(graph.words):
        leaf = Tree(writable(graph.labels[index]), word=writable(word))
        below[parents[index]].append((index, index, leaf))
    for phrase in order:
        parts = sorted(below[phrase], key=lambda each: each[0])
        label, trees = writable(graph.labels[phrase]), [tree for _, _, tree in parts]
        own = (place for place, (_, part, _) in enumerate(parts) if graph.parents[part] == phrase)
        head = next((place for place in own if graph.functions[parts[place][1]] in _HEAD_FUNCTIONS), None)
        made = Tree(label, trees) if head is None else HeadedTree(label, trees, head)
        below[parents[phrase]].append((parts[0][0], phrase, made))
    return Tree(graph.root, [tree for _, _, tree in sorted(below[VIRTUAL_ROOT], key=lambda each: each[0])])
