"""Maximum-likelihood PCFGs, with parent and sibling annotation as observed states.

The tutorial's baselines: no annotation (68.62 F1 on the Penn treebank), and parents and siblings
written on every symbol (82.59). Annotation does not multiply the symbols here: what is written around
a symbol is its *state*, so the coarse pass stays as small as the plain grammar's, and the
annotated grammar only scores the forest that it leaves (Charniak and Johnson 2005 prune likewise).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from spectralnlp.errors import InputError
from spectralnlp.estimator import MomentEstimator, fit_pass
from spectralnlp.estimators.pcfg.moments import BINARY, CHAIN, ROOT, UNARY, WORD, RuleCounts
from spectralnlp.estimators.shared.grammars import GrammarEstimator
from spectralnlp.estimators.shared.language import head_rules, signature_scheme
from spectralnlp.estimators.shared.lexicon import LexiconOptions, TokenMoments, build_lexicon
from spectralnlp.estimators.shared.unary_chains import commonest_chains
from spectralnlp.parameters import DenseTensors, GrammarSet, Ints, LatentGrammar, SparseTensors
from spectralnlp.runtime import Corpus
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.trees import Binariser, Direction, Tree, Unaries, split_annotation


@dataclass(kw_only=True, eq=False, repr=False)
class PCFG(GrammarEstimator, MomentEstimator[Tree]):
    """A PCFG by relative frequencies.

    Attributes:
        grammar_sets_: one, of the annotated grammar (or the plain one where nothing is annotated).
    """

    unlearning = "exact"
    presets: ClassVar = {
        "plain": {"vertical": 0, "horizontal": 0, "annotate_tags": False},
        "annotated": {"vertical": 1, "horizontal": 1, "annotate_tags": True},
    }

    direction: Annotated[
        Direction,
        Doc("Binarisation, ``head`` (outward from the head), ``left`` or ``right``."),
    ] = "head"
    vertical: Annotated[int, Ge(0), Doc("Ancestors written on each phrase; 1 is parent annotation.")] = 1
    horizontal: Annotated[int, Ge(-1), Doc("Siblings remembered while binarising; 0 none, -1 all.")] = 1
    annotate_tags: Annotated[bool, Doc("Write parents on tags too.")] = True
    unaries: Annotated[
        Unaries,
        Doc("``compress`` unary chains to (top, bottom), or ``collapse`` them into one label."),
    ] = "compress"
    heads: Annotated[
        str,
        Doc("Head rules, ``english``, ``neutral`` or, by the words of the first trees, ``auto``."),
    ] = "auto"
    signatures: Annotated[
        str,
        Doc("Signatures of rare words, ``english``, ``neutral`` or ``auto``."),
    ] = "auto"
    rare: Annotated[int, Ge(0), Doc("Words seen at most so often teach what signatures do.")] = 5
    bracket_price: Annotated[float, Doc("γ of the ``mbr`` decoder, the parser's default.")] = 0.4

    def init_moments(self, corpus: Corpus[Tree]) -> RuleCounts:
        """Counts of rules; head rules are those for the first trees."""
        binariser = Binariser(
            direction=self.direction, vertical=self.vertical, horizontal=self.horizontal,
            unaries=self.unaries, annotate_tags=self.annotate_tags, heads=head_rules(self.heads, corpus),
        )  # fmt: skip
        return RuleCounts(binariser.to_dict())

    def solve(self, moments: RuleCounts) -> None:
        """Divide the counts of rules by those of their left-hand sides.

        Raises:
            InputError: there are no trees.
        """
        with fit_pass("grammar"):
            self._solve(moments)

    def _solve(self, counts: RuleCounts) -> None:
        options = LexiconOptions(rare=self.rare)
        events = counts.by_kind()
        if not events[ROOT]:
            raise InputError("no trees to learn from", hint="give a treebank with at least one tree")
        self.n_trees_ = sum(events[ROOT].values())
        words: dict[str, int] = defaultdict(int)
        for (_, word, _), count in events[WORD].items():
            words[word] += count
        self.word_counts_ = words
        self.heads_ = counts.binariser.heads
        self.signatures_ = signature_scheme(self.signatures, words)
        coarse = solve_pcfg(_plain(events), self.signatures_, options)
        annotated = any(split_annotation(label)[1] for label in _labels(events))
        grammar = solve_pcfg(events, self.signatures_, options) if annotated else coarse
        chains = commonest_chains(events[CHAIN])
        self.grammar_sets_ = (
            GrammarSet(
                binariser=counts.binariser, chains=chains, coarse=coarse, pruner=None, grammars=(grammar,)
            ),
        )
        self.decoder_, self.decoder_settings_ = "mbr", {"gamma": self.bracket_price}


Events = Mapping[str, Mapping[tuple[str, ...], int]]


def _plain(events: Events) -> Events:
    """The counts with annotations taken off every symbol."""
    plain: dict[str, dict[tuple[str, ...], int]] = {}
    for kind, counts in events.items():
        if kind == WORD:
            merged: dict[tuple[str, ...], int] = defaultdict(int)
            for (tag, word, initial), count in counts.items():
                merged[split_annotation(tag)[0], word, initial] += count
            plain[kind] = merged
        else:
            plain[kind] = dict(counts) if kind == CHAIN else _without_annotation(counts)
    return plain


def _without_annotation(counts: Mapping[tuple[str, ...], int]) -> dict[tuple[str, ...], int]:
    merged: dict[tuple[str, ...], int] = defaultdict(int)
    for symbols, count in counts.items():
        merged[tuple(split_annotation(symbol)[0] for symbol in symbols)] += count
    return merged


def _labels(events: Events) -> Iterable[str]:
    for kind in (BINARY, UNARY, ROOT):
        for symbols in events[kind]:
            yield from symbols
    for tag, _, _ in events[WORD]:
        yield tag


@dataclass(frozen=True)
class _States:
    """Symbols, and the state that each annotated label is.

    Attributes:
        symbols: bare symbols, sorted; the same for the coarse and the annotated grammar.
        place: (symbol, state) of each label.
        n_states: int32 (n_symbols,).
    """

    symbols: tuple[str, ...]
    place: Mapping[str, tuple[int, int]]
    n_states: Ints

    @classmethod
    def of(cls, labels: Iterable[str]) -> _States:
        by_symbol: dict[str, set[str]] = defaultdict(set)
        for label in labels:
            by_symbol[split_annotation(label)[0]].add(label)
        symbols = tuple(sorted(by_symbol))
        place = {
            label: (index, state)
            for index, symbol in enumerate(symbols)
            for state, label in enumerate(sorted(by_symbol[symbol]))
        }
        return cls(symbols, place, np.array([len(by_symbol[symbol]) for symbol in symbols], np.int32))


def solve_pcfg(events: Events, scheme: str, options: LexiconOptions) -> LatentGrammar:
    """Relative frequencies of rules given (symbol, annotation).

    Args:
        events: counts by kind.
        scheme: name of the signature function.
        options: smoothing of the lexicon.
    """
    states = _States.of(_labels(events))
    offsets = np.concatenate([[0], np.cumsum(states.n_states)])
    total = np.zeros(offsets[-1])
    for kind in (BINARY, UNARY, WORD):
        for symbols, count in events[kind].items():
            symbol, state = states.place[symbols[0]]
            total[offsets[symbol] + state] += count

    binary_rules, binary = _rule_tensors(events[BINARY], states, offsets, total, 3)
    unary_rules, unary = _rule_tensors(events[UNARY], states, offsets, total, 2)
    root = np.zeros(offsets[-1])
    n_trees = sum(events[ROOT].values())
    for (label,), count in events[ROOT].items():
        symbol, state = states.place[label]
        root[offsets[symbol] + state] = count / n_trees
    tokens = _token_moments(events[WORD], states)
    lexicon, tag_default = build_lexicon(tokens, states.n_states, scheme, signature_by_name(scheme), options)
    is_tag = np.zeros(len(states.symbols), bool)
    is_tag[tokens.tag] = True
    return LatentGrammar(
        symbols=states.symbols,
        is_tag=is_tag,
        n_states=states.n_states,
        binary_rules=binary_rules,
        binary=binary,
        unary_rules=unary_rules,
        unary=unary,
        root=root,
        tag_default=tag_default,
        lexicon=lexicon,
    )


def _rule_tensors(
    counts: Mapping[tuple[str, ...], int], states: _States, offsets: np.ndarray, total: np.ndarray, order: int
) -> tuple[Ints, DenseTensors | SparseTensors]:
    rows = []
    for symbols, count in counts.items():
        placed = [states.place[symbol] for symbol in symbols]
        denominator = total[offsets[placed[0][0]] + placed[0][1]]
        rows.append((*(p[0] for p in placed), *(p[1] for p in placed), count / denominator))
    rows.sort()
    table = np.array(rows, dtype=np.float64).reshape(-1, 2 * order + 1)
    rules, starts = np.unique(table[:, :order].astype(np.int32), axis=0, return_index=True)
    bounds = np.append(starts, len(table)).astype(np.int64)
    values = table[:, -1].copy()
    if (states.n_states == 1).all():
        return rules.reshape(-1, order), DenseTensors(offsets=bounds, values=values)
    return rules.reshape(-1, order), SparseTensors(
        offsets=bounds, states=table[:, order:-1].astype(np.int32), values=values
    )


def _token_moments(counts: Mapping[tuple[str, ...], int], states: _States) -> TokenMoments:
    """Counts of words with Z = 1 / p(state | tag) at the state of each token."""
    words = sorted({word for _, word, _ in counts})
    index = {word: i for i, word in enumerate(words)}
    rows: dict[tuple[int, int], np.ndarray] = {}
    m_max = max(int(states.n_states[states.place[tag][0]]) for tag, _, _ in counts)
    by_state = np.zeros((len(states.symbols), m_max))
    for (tag, word, initial), count in counts.items():
        symbol, state = states.place[tag]
        row = rows.setdefault((index[word], symbol), np.zeros(m_max + 1))
        row[state] += count
        row[-1] += count if initial == "1" else 0
        by_state[symbol, state] += count
    keys = np.array(sorted(rows), dtype=np.int32).reshape(-1, 2)
    table = np.array([rows[word, tag] for word, tag in keys.tolist()])
    p_state = by_state / np.maximum(by_state.sum(1, keepdims=True), 1)
    z = table[:, :-1] / np.where(p_state > 0, p_state, 1.0)[keys[:, 1]]
    return TokenMoments(words, keys[:, 0], keys[:, 1], table[:, :-1].sum(1), table[:, -1], z)
