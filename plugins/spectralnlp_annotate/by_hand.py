"""Parse under constraints that the grammar cannot satisfy, by editing the tree that the parser finds.

A grammar never has all rules. If it has no tree that meets the constraints of a sentence, the sentence is
parsed under as many of them as possible, and the tree is edited to meet the rest: forbidden and crossing
brackets are removed, required brackets inserted, tags replaced. Where a required label is unknown to the
model, the parser may choose any label, which is then replaced by the required one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from spectralnlp import Parse, Parser, Tree
from spectralnlp.text.constraints import Bracket, Constraints, NoTreeError
from spectralnlp.trees.transforms import ROOT_LABELS

BY_HAND = "the parser's grammar has no such tree; assembled from the required brackets"

# Label, start and end of a phrase.
Span = tuple[str, int, int]


def parse_under(parser: Parser, words: Sequence[str], constraints: Constraints) -> Parse:
    """Parse a sentence under constraints, and edit the tree to meet those that the grammar cannot meet.

    Args:
        parser: any parser.
        words: tokens of the sentence.
        constraints: constraints on the tree.

    Returns:
        A parse whose tree meets the constraints. If no tree of the grammar meets them, the parse has no
        posteriors, and its ``fallback`` is `BY_HAND`.

    Raises:
        ConstraintError: the constraints do not fit the length of the sentence.
    """
    known = _known(constraints, parser.phrases, parser.tags)
    try:
        parse = _parsed(parser, words, known)
    except NoTreeError:
        parse = _parsed_by_hand(parser, words, known)
    if known == constraints:
        return parse
    return replace(parse, tree=forced(_with_new_labels(parse.tree, constraints, parser.phrases), constraints))


def _new(constraints: Constraints, phrases: Collection[str]) -> list[Bracket]:
    """Return the required brackets whose labels the model does not know.

    Args:
        constraints: constraints on the tree.
        phrases: phrase labels of the model; root labels are always known.
    """
    known = {None, *ROOT_LABELS, *phrases}
    return [each for each in constraints.brackets if each.label not in known]


def _known(constraints: Constraints, phrases: Collection[str], tags: Collection[str]) -> Constraints:
    """Return the constraints without labels and tags that the model does not know.

    A required bracket with an unknown label becomes a required bracket with any label. Forbidden brackets
    over the same words are dropped, because the constituent that the parser finds there is renamed later.
    """
    new = set(_new(constraints, phrases))
    renamed = {each.span for each in new}
    brackets = [each._replace(label=None) if each in new else each for each in constraints.brackets]
    forbidden = [
        each
        for each in constraints.forbidden
        if each.span not in renamed and (each.label is None or each.label in phrases)
    ]
    tagged = {token: tag for token, tag in constraints.tags if tag in tags}
    return Constraints.of(list(dict.fromkeys(brackets)), forbidden, tagged)


def _with_new_labels(tree: Tree, constraints: Constraints, phrases: Collection[str]) -> Tree:
    """Rename constituents of a tree to the required labels that the model does not know.

    Args:
        tree: tree of the parser.
        constraints: constraints on the tree.
        phrases: phrase labels of the model.
    """
    spans = tree.spans()
    required = {(each.label, *each.span) for each in constraints.brackets}
    for bracket in _new(constraints, phrases):
        for place, span in enumerate(spans):
            if place and span[1:] == bracket.span and span not in required:
                spans[place] = (str(bracket.label), *bracket.span)
                break
    leaves = [Tree(tag, word=word) for tag, word in zip(tree.tags(), tree.words(), strict=True)]
    return _built(spans, leaves)


def _parsed_by_hand(parser: Parser, words: Sequence[str], constraints: Constraints) -> Parse:
    """Parse a sentence under as many constraints as possible, and edit the tree to meet the rest."""
    met = Constraints()
    parse = _parsed(parser, words, met)
    for _, part in constraints.parts():
        more = Constraints.union([met, part])
        try:
            parse, met = _parsed(parser, words, more), more
        except NoTreeError:
            continue
    tree = forced(parse.tree, constraints)
    return replace(parse, tree=tree, constituents=(), log_probability=None, fallback=BY_HAND)


def _parsed(parser: Parser, words: Sequence[str], constraints: Constraints) -> Parse:
    return parser.parse_tokens(
        words,
        dict(constraints.tags) or None,
        brackets=constraints.brackets,
        forbidden=constraints.forbidden,
    )


def forced(tree: Tree, constraints: Constraints) -> Tree:
    """Edit a tree as little as needed to meet constraints.

    Args:
        tree: tree of the sentence; its root is not changed.
        constraints: constraints that fit the length of the sentence.

    Examples:
        >>> from spectralnlp.text.constraints import Constraints
        >>> from spectralnlp.trees import read_brackets
        >>> from spectralnlp_annotate.by_hand import forced
        >>> (tree,) = read_brackets(["(TOP (S (NP (DT the) (NN sea)) (VP (VBZ rises))))"])
        >>> print(forced(tree, Constraints.of(brackets=[(1, 3, "NP")], tags={2: "NNS"})))
        (TOP (S (DT the) (NP (NN sea) (VP (NNS rises)))))
    """
    root, *spans = tree.spans()
    for unwanted in constraints.forbidden:
        spans = [span for span in spans if not _is(span, unwanted)]
    for wanted in constraints.brackets:
        spans = [span for span in spans if not _cross(span, wanted)]
        if not any(_is(span, wanted) for span in spans):
            label = wanted.label or _likely_label(tree)
            # above brackets over the same words, below wider ones
            place = sum((start, -end) < (wanted.start, -wanted.end) for _, start, end in spans)
            spans.insert(place, (label, *wanted.span))
    tags = {**dict(enumerate(tree.tags())), **dict(constraints.tags)}
    leaves = [Tree(tags[token], word=word) for token, word in enumerate(tree.words())]
    return _built([root, *spans], leaves)


def _is(span: Span, bracket: Bracket) -> bool:
    return span[1:] == bracket.span and bracket.label in (None, span[0])


def _cross(span: Span, bracket: Bracket) -> bool:
    _, start, end = span
    return start < bracket.start < end < bracket.end or bracket.start < start < bracket.end < end


def _likely_label(tree: Tree) -> str:
    """Return the most frequent phrase label of a tree, for required brackets that accept any label."""
    labels = [label for label, _, _ in tree.spans()[1:]]
    return max(labels, key=labels.count) if labels else "X"


def _built(spans: Sequence[Span], leaves: Sequence[Tree]) -> Tree:
    """Return the tree with given constituents and preterminals.

    Args:
        spans: (label, start, end) of each constituent, ``end`` exclusive: the root first, parents before
            their children. No two spans cross.
        leaves: preterminals from left to right.
    """
    children: list[list[tuple[int, Tree]]] = [[] for _ in spans]
    parents: list[int] = []
    parent_of = []
    for number, (_, start, end) in enumerate(spans):
        while (parents and spans[parents[-1]][2] < end) or (parents and spans[parents[-1]][2] <= start):
            parents.pop()
        parent_of.append(parents[-1] if parents else -1)
        parents.append(number)
    innermost = [-1] * len(leaves)
    for number, (_, start, end) in enumerate(spans):
        innermost[start:end] = [number] * (end - start)
    for token, leaf in enumerate(leaves):
        children[innermost[token]].append((token, leaf))
    for number in range(len(spans) - 1, 0, -1):
        label, start, _ = spans[number]
        below = [tree for _, tree in sorted(children[number], key=lambda each: each[0])]
        children[parent_of[number]].append((start, Tree(label, below)))
    return Tree(spans[0][0], [tree for _, tree in sorted(children[0], key=lambda each: each[0])])
