"""A slow parser that cannot be wrong: it writes down every derivation of a sentence, one by one.

Random grammars to try it on are here as well. What a hyperedge is called does not depend on the
package: (layer, symbol, start, end, rule, split), so that both sides can be compared key by key.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.coarse import inside
from spectralnlp.inference.trees.construction import build_forest
from spectralnlp.inference.trees.forest import Forest
from spectralnlp.inference.trees.forest_grammars import ForestGrammars
from spectralnlp.inference.trees.latent import ForestPosteriors, leaf_vectors, score_forest
from spectralnlp.inference.trees.limits import SpanLimits
from spectralnlp.inference.trees.open_cells import CellMarginals
from spectralnlp.inference.trees.parsing import ForestParser, Pruning
from spectralnlp.inference.trees.rule_index import RuleIndex
from spectralnlp.inference.trees.scored_forest import ScoredForest
from spectralnlp.inference.trees.sentence import Forests
from spectralnlp.inference.words.lexical import Lookup, coarse_values, look_up
from spectralnlp.parameters import DenseTensors, Ints, LatentGrammar, Lexicon, SparseTensors, Tensors
from spectralnlp.text.signatures import Signature
from spectralnlp.trees import Tree

Array = np.ndarray
# (kind of node, symbol, start, end, rule, end of the left child).
Edge = tuple[int, int, int, int, int, int]

SYMBOLS = ("S", "X", "T", "U")
WORDS = ("p", "q")
N_PHRASES = 2
BINARY_RULES = [(0, 0, 1), (0, 1, 1), (0, 2, 0), (1, 2, 1), (1, 2, 3), (1, 3, 3), (0, 3, 2)]
UNARY_RULES = [(0, 1), (0, 3), (1, 3)]
N_BRACKETS = np.array([1, 2, 0, 1], np.int32)


def shape_of_word(word: str, position: int, known: object = ()) -> str:
    return "short"


# ---------------------------------------------------------------------------------------------------------
# Grammars


def random_grammar(
    seed: int, n_states: Sequence[int], *, signed: bool = False, lossy: float = 0.0
) -> LatentGrammar:
    """A grammar over fixed rules with random tensors, words and roots.

    Args:
        seed: of everything random.
        n_states: of S, X, T, U.
        signed: whether parameters may be negative.
        lossy: share of zeros among the entries of the tensors.
    """
    rng = np.random.default_rng(seed)

    def numbers(*shape: int) -> Array:
        values = rng.uniform(0.05, 1.0, shape)
        return values * rng.choice([-1.0, 1.0], shape, p=[0.2, 0.8]) if signed else values

    def tensors(rules: Sequence[tuple[int, ...]]) -> DenseTensors:
        blocks = []
        for rule in rules:
            block = numbers(*(n_states[symbol] for symbol in rule))
            block[rng.random(block.shape) < lossy] = 0.0
            if not block.any():
                block.flat[0] = 0.5
            blocks.append(block.ravel())
        offsets = np.cumsum([0, *map(len, blocks)], dtype=np.int64)
        return DenseTensors(offsets=offsets, values=np.concatenate(blocks))

    counts = np.array(n_states, np.int32)
    rows = [(0, 2), (1, 3), (2, 2), (2, 3)]  # p is T, q is U (and T by its signature), unknown words are both
    widths = [n_states[tag] for _, tag in rows]
    lexicon = Lexicon(
        words=WORDS,
        signatures=("short",),
        scheme="english",
        starts=np.array([0, 1, 2, 4], np.int64),
        tags=np.array([tag for _, tag in rows], np.int32),
        offsets=np.cumsum([0, *widths], dtype=np.int64),
        values=np.concatenate([numbers(width) for width in widths]),
        backoff=np.array([0.0, 0.125]),
        word_signature=np.zeros(2, np.int32),
        log_weight=np.array([-1.0, -2.0, -0.5]),
    )
    binary, unary = sorted(BINARY_RULES), sorted(UNARY_RULES)
    is_tag = np.arange(len(SYMBOLS)) >= N_PHRASES
    default = np.where(np.repeat(is_tag, counts), numbers(int(counts.sum())), 0.0)
    return LatentGrammar(
        symbols=SYMBOLS,
        is_tag=is_tag,
        n_states=counts,
        binary_rules=np.array(binary, np.int32),
        binary=tensors(binary),
        unary_rules=np.array(unary, np.int32),
        unary=tensors(unary),
        root=_roots(numbers, counts),
        tag_default=default,
        lexicon=lexicon,
    )


def _roots(numbers: Callable[..., Array], counts: Array) -> Array:
    root = numbers(int(counts.sum()))
    root[counts[:3].sum() :] = 0.0  # U is no root, T, which is a tag, is one
    root[counts[0] : counts[:2].sum()] = 0.0  # nor is X
    return root


def as_sparse(grammar: LatentGrammar) -> LatentGrammar:
    """A grammar with its tensors stored the other way."""

    def sparse(tensors: Tensors, rules: Array) -> SparseTensors:
        states, values, offsets = [], [], [0]
        for rule in range(len(rules)):
            block = tensor_of(grammar, tensors, rules, rule)
            for place in product(*map(range, block.shape)):
                if block[place] != 0:
                    states.append(place)
                    values.append(block[place])
            offsets.append(len(values))
        shape = (-1, rules.shape[1])
        return SparseTensors(
            offsets=np.array(offsets, np.int64),
            states=np.array(states, np.int32).reshape(shape),
            values=np.array(values, float),
        )

    return replace(
        grammar,
        binary=sparse(grammar.binary, grammar.binary_rules),
        unary=sparse(grammar.unary, grammar.unary_rules),
    )


def change_basis(grammar: LatentGrammar, seed: int) -> LatentGrammar:
    """A grammar with the states of every symbol multiplied by a random invertible matrix."""
    rng = np.random.default_rng(seed)
    matrices = [np.eye(m) + 0.4 * rng.standard_normal((m, m)) for m in grammar.n_states.tolist()]
    inverses = [np.linalg.inv(matrix) for matrix in matrices]

    def tensors(old: Tensors, rules: Array) -> DenseTensors:
        blocks = []
        for rule, symbols in enumerate(rules.tolist()):
            block = tensor_of(grammar, old, rules, rule)
            block = np.tensordot(matrices[symbols[0]], block, 1)
            for axis, child in enumerate(symbols[1:], 1):
                block = np.moveaxis(np.tensordot(block, inverses[child], (axis, 0)), -1, axis)
            blocks.append(block.ravel())
        return DenseTensors(
            offsets=np.cumsum([0, *map(len, blocks)], dtype=np.int64), values=np.concatenate(blocks)
        )

    def vectors(old: Array, symbols: Sequence[int], maps: Sequence[Array]) -> Array:
        pieces = np.split(old, np.cumsum(grammar.n_states[symbols])[:-1])
        return np.concatenate([maps[symbol] @ piece for symbol, piece in zip(symbols, pieces, strict=True)])

    lexicon, every = grammar.lexicon, list(range(len(grammar.symbols)))
    return replace(
        grammar,
        binary=tensors(grammar.binary, grammar.binary_rules),
        unary=tensors(grammar.unary, grammar.unary_rules),
        root=vectors(grammar.root, every, [inverse.T for inverse in inverses]),
        tag_default=vectors(grammar.tag_default, every, matrices),
        lexicon=replace(lexicon, values=vectors(lexicon.values, lexicon.tags.tolist(), matrices)),
    )


def tensor_of(grammar: LatentGrammar, tensors: Tensors, rules: Array, rule: int) -> Array:
    shape = tuple(int(m) for m in grammar.n_states[rules[rule]])
    part = slice(int(tensors.offsets[rule]), int(tensors.offsets[rule + 1]))
    if isinstance(tensors, DenseTensors):
        return tensors.values[part].reshape(shape)
    block = np.zeros(shape)
    for place, value in zip(tensors.states[part].tolist(), tensors.values[part].tolist(), strict=True):
        block[tuple(place)] = value
    return block


# ---------------------------------------------------------------------------------------------------------
# Every derivation


@dataclass(frozen=True)
class Derivation:
    """One way to derive a span.

    Args:
        symbol: at its top.
        tree: binary, unary rules as nodes.
        edges: the hyperedges used.
        total: its weight for each state of the symbol, the states below summed out.
        best: the same with the states below chosen to be best.
    """

    symbol: int
    tree: Tree
    edges: frozenset[Edge]
    total: Array
    best: Array


def derivations(grammar: LatentGrammar, words: Sequence[str]) -> list[Derivation]:
    """Every derivation of a sentence, from every symbol, without the root's weight."""
    n = len(words)
    tops: dict[tuple[int, int], list[Derivation]] = {}
    for width in range(1, n + 1):
        for start in range(n - width + 1):
            end = start + width
            bottoms = list(_words(grammar, words, start)) if width == 1 else []
            for split in range(start + 1, end):
                bottoms += _pairs(grammar, tops[start, split], tops[split, end], (start, split, end))
            tops[start, end] = _tops(grammar, bottoms, start, end)
    return tops[0, n]


def _words(grammar: LatentGrammar, words: Sequence[str], position: int) -> Iterator[Derivation]:
    lexicon = grammar.lexicon
    word = words[position]
    known = word in lexicon.words
    signature = len(lexicon.words)  # there is one only
    entry = lexicon.words.index(word) if known else signature
    for tag in np.flatnonzero(grammar.is_tag).tolist():
        vector = _row(lexicon, entry, tag)
        if vector is None and known and lexicon.backoff[entry] > 0:
            below = _row(lexicon, signature, tag)
            vector = None if below is None else lexicon.backoff[entry] * below
        if vector is not None:
            edge = (2, tag, position, position + 1, -2, -1)
            yield Derivation(tag, Tree(grammar.symbols[tag], word=word), frozenset([edge]), vector, vector)


def _row(lexicon: Lexicon, entry: int, tag: int) -> Array | None:
    for row in range(lexicon.starts[entry], lexicon.starts[entry + 1]):
        if lexicon.tags[row] == tag:
            return lexicon.values[lexicon.offsets[row] : lexicon.offsets[row + 1]]
    return None


def _pairs(
    grammar: LatentGrammar, lefts: list[Derivation], rights: list[Derivation], span: tuple[int, int, int]
) -> Iterator[Derivation]:
    start, split, end = span
    for rule, (a, b, c) in enumerate(grammar.binary_rules.tolist()):
        block = tensor_of(grammar, grammar.binary, grammar.binary_rules, rule)
        edge = (1, a, start, end, rule, split)
        for left, right in product([d for d in lefts if d.symbol == b], [d for d in rights if d.symbol == c]):
            yield Derivation(
                a,
                Tree(grammar.symbols[a], [left.tree, right.tree]),
                left.edges | right.edges | {edge},
                np.einsum("abc,b,c->a", block, left.total, right.total),
                (block * left.best[None, :, None] * right.best).max(axis=(1, 2)),
            )


def _tops(grammar: LatentGrammar, bottoms: list[Derivation], start: int, end: int) -> list[Derivation]:
    tops = [replace(d, edges=d.edges | {(0, d.symbol, start, end, -1, -1)}) for d in bottoms]
    for rule, (a, b) in enumerate(grammar.unary_rules.tolist()):
        block = tensor_of(grammar, grammar.unary, grammar.unary_rules, rule)
        for d in bottoms:
            if d.symbol == b:
                edges = d.edges | {(0, a, start, end, rule, -1)}
                tree = Tree(grammar.symbols[a], [d.tree])
                best = (block * d.best).max(axis=1)
                tops.append(Derivation(a, tree, edges, block @ d.total, best))
    return tops


@dataclass(frozen=True)
class Enumerated:
    """Every tree of a sentence under a grammar.

    Args:
        trees: their binary trees.
        edges: the hyperedges of each.
        values: weight of each, states summed out, the words' log weight left out.
        best: weight of each with the best states.
        log_weight: of the words.
    """

    trees: list[Tree]
    edges: list[frozenset[Edge]]
    values: Array
    best: Array
    log_weight: float

    @property
    def total(self) -> float:
        return float(self.values.sum())

    @property
    def tolerance(self) -> float:
        """The error that rounding may make in a posterior where positive and negative weights cancel."""
        return 1e-10 * float(np.abs(self.values).sum() / abs(self.total))

    @cached_property
    def names(self) -> list[Edge]:
        return sorted(frozenset().union(*self.edges))

    @cached_property
    def uses(self) -> Array:
        """Whether each tree (row) uses each hyperedge of ``names`` (column)."""
        column = {name: i for i, name in enumerate(self.names)}
        uses = np.zeros((len(self.edges), len(column)), bool)
        for row, edges in enumerate(self.edges):
            uses[row, [column[edge] for edge in edges]] = True
        return uses

    @cached_property
    def edge_posteriors(self) -> dict[Edge, float]:
        """Marginals over |Z|, which have the sign of Z."""
        return dict(zip(self.names, (self.values @ self.uses / abs(self.total)).tolist(), strict=True))

    @cached_property
    def node_posteriors(self) -> dict[tuple[int, ...], float]:
        sums: dict[tuple[int, ...], float] = defaultdict(float)
        for edge, posterior in self.edge_posteriors.items():
            sums[edge[:4]] += posterior  # a tree uses one hyperedge of a node, or none
        return dict(sums)

    def gains(self, gain: Callable[[Edge], float]) -> Array:
        """The sum of a gain over the hyperedges of each tree."""
        return self.uses @ np.array([gain(name) for name in self.names])


def enumerate_trees(grammar: LatentGrammar, words: Sequence[str]) -> Enumerated | None:
    """Every tree of a sentence; None where there is none."""
    offsets = grammar.state_offsets
    rooted = []
    for d in derivations(grammar, words):
        root = grammar.root[offsets[d.symbol] : offsets[d.symbol + 1]]
        if root.any():
            rooted.append((d, root))
    if not rooted:
        return None
    lexicon = grammar.lexicon
    entries = [lexicon.words.index(word) if word in lexicon.words else len(lexicon.words) for word in words]
    return Enumerated(
        [d.tree for d, _ in rooted],
        [d.edges for d, _ in rooted],
        np.array([root @ d.total for d, root in rooted]),
        np.array([(root * d.best).max() for d, root in rooted]),
        float(lexicon.log_weight[entries].sum()),
    )


def sentences(up_to: int) -> list[tuple[str, ...]]:
    """Every sentence over the two known words; a word that is unknown is in some."""
    found = [sentence for n in range(1, up_to + 1) for sentence in product(WORDS, repeat=n)]
    return [*found, ("r",), ("p", "r"), ("r", "q", "p")]


# ---------------------------------------------------------------------------------------------------------
# The package's side, by the same names


def full_forest(coarse: LatentGrammar, words: Sequence[str]) -> Forest | None:
    """The forest of every tree; None where there is none."""
    index = RuleIndex.of(coarse)
    chart = inside(index, coarse_values(coarse, found_in(coarse, words), None))
    if chart.total == 0:
        return None
    return build_forest(chart, index, node_threshold=0.0, edge_threshold=0.0)


def found_in(grammar: LatentGrammar, words: Sequence[str]) -> Lookup:
    return look_up(grammar.lexicon, words, shape_of_word)


def leaves_of(forest: Forest, grammar: LatentGrammar, words: Sequence[str]) -> Array:
    found = found_in(grammar, words)
    return leaf_vectors(forest, grammar, found)


def score(forest: Forest, grammar: LatentGrammar, words: Sequence[str]) -> ForestPosteriors:
    return score_forest(forest, grammar, leaves_of(forest, grammar, words))


def scored_forest(forest: Forest, grammars: Sequence[LatentGrammar], words: Sequence[str]) -> ScoredForest:
    scores = [(g, leaves_of(forest, g, words), score(forest, g, words)) for g in grammars]
    return ScoredForest.of(forest, scores, N_BRACKETS)


def node_names(forest: Forest) -> list[tuple[int, int, int, int]]:
    columns = (forest.kind, forest.symbol, forest.start, forest.end)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def edge_names(forest: Forest) -> list[Edge]:
    names = node_names(forest)
    found: list[Edge] = []
    for node, name in enumerate(names):
        for edge in range(int(forest.edges[node]), int(forest.edges[node + 1])):
            split = int(forest.end[forest.left[edge]]) if forest.right[edge] >= 0 else -1
            found.append((*name, int(forest.rule[edge]), split))
    return found


def chosen_edges(forest: Forest, choice: Array) -> frozenset[Edge]:
    names = edge_names(forest)
    return frozenset(names[edge] for edge in choice.tolist() if edge >= 0)


def forest_trees(forest: Forest) -> set[frozenset[Edge]]:
    """The hyperedges of every tree of a forest."""
    names = edge_names(forest)
    below: list[list[frozenset[Edge]]] = [[] for _ in range(forest.n_nodes)]
    for node in range(forest.n_nodes - 1, -1, -1):
        for edge in range(int(forest.edges[node]), int(forest.edges[node + 1])):
            children = [child for child in (forest.left[edge], forest.right[edge]) if child >= 0]
            for parts in product(*(below[child] for child in children)):
                below[node].append(frozenset({names[edge]}).union(*parts))
    return {tree for node in range(forest.n_roots) for tree in below[node]}


def parser_of(
    coarse: LatentGrammar,
    *grammars: LatentGrammar,
    pruning: Pruning = Pruning(0.0, 0.0, 0.0, 0.0, 0.0),  # noqa: B008
    pruner: LatentGrammar | None = None,
    signature: Signature = shape_of_word,
    n_brackets: Ints = N_BRACKETS,
) -> ForestParser:
    """A parser with one binarisation, which by default prunes nothing."""
    return ForestParser([ForestGrammars(coarse, grammars, signature, n_brackets, pruner)], pruning)


def infer(
    parser: ForestParser,
    words: Sequence[str],
    *,
    allowed: NDArray[np.bool_] | None = None,
    limits: SpanLimits | None = None,
    cell_marginals: CellMarginals | None = None,
) -> Forests | None:
    """The scored parses of a sentence under limits that are known, and with cells that are; None for none."""
    sentence = replace(parser.look_up(words), limits=(limits,), allowed=(allowed,))
    values = coarse_values(parser.grammars[0].coarse, sentence.lookups[0], allowed)
    sentence = parser.open_cells(replace(sentence, tag_values=(values,)))
    if cell_marginals is not None:
        sentence = replace(
            sentence, cell_marginals=cell_marginals, cells=cell_marginals.above(cell_marginals.threshold)
        )
    forests = parser.infer(sentence)
    return forests if forests.scored else None
