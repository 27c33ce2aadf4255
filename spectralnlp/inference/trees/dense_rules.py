"""Rules with dense tensors as the passes over a forest take them; tensors nearly all zeros become lists."""

from __future__ import annotations

import os
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.dense import dense_posteriors
from spectralnlp.inference.trees.forest import Forest
from spectralnlp.inference.trees.ready_rules import MOST_LISTED, READY
from spectralnlp.jit import padded
from spectralnlp.parameters import DenseTensors, FactoredTensors, Floats, Ints, LatentGrammar, Offsets
from spectralnlp.parameters.arrays import offsets_of
from spectralnlp.parameters.expansion import Factors

# Share of the largest number of a tensor in single precision below which a number is left out of the list.
_NEGLIGIBLE = 1e-4


class StoredTensors(NamedTuple):
    """Tensors of rules as a grammar holds them.

    Attributes:
        offsets: int64 (n_rules + 1,); rule r has ``numbers[offsets[r]:offsets[r + 1]]``, row-major.
        numbers: float64 or float32.
        is_there: bool (n_rules,); whether ``numbers`` has a rule's tensor.
        factors: of the others.
    """

    offsets: Offsets
    numbers: NDArray[Any]
    is_there: NDArray[np.bool_]
    factors: Factors

    @classmethod
    def of(cls, tensors: DenseTensors | FactoredTensors, shapes: Ints) -> StoredTensors:
        """The tensors of rules with these shapes."""
        numbers, is_there = tensors.expanded
        return cls(tensors.offsets, numbers, is_there, tensors.stored(shapes))

    def padded_sizes(self) -> Offsets:
        """int64 (n_rules,); numbers of tensors whose last axis is padded to a multiple of eight."""
        shapes = self.factors.shapes.astype(np.int64)
        return np.asarray(shapes[:, :-1].prod(axis=1) * padded(shapes[:, -1]))


class DenseRules(NamedTuple):
    """Tensors of rules, row-major, laid end to end, or lists of their numbers; written when first needed.

    The rows of a tensor a → b c are the states of a, its columns the pairs of states of b and c. The last
    axis of a tensor is padded with zeros to a multiple of eight.

    Attributes:
        binary_offsets: int64 (n_binary,); where a rule's tensor begins, once it has been written.
        binary: float64 or float32; (m_a, m_b, padded m_c) for each rule that is no list, in the order in
            which they were needed: a few MB of what all would take.
        used: int64 (1,); how many numbers of ``binary`` are taken.
        claims: int64 (n_binary,); above 0 once a thread has set about a rule's tensor, `READY` and more once
            it has been written.
        unary_offsets: int64 (n_unary + 1,).
        unary: float64 or float32; (m_a, padded m_b) for each rule.
        is_ready: bool (n_binary,); whether a rule's tensor or list has been written.
        unary_is_ready: bool (n_unary,).
        is_list: bool (n_binary,).
        first_row: int64 (n_binary + 1,); the rows of rule r are ``row[first_row[r]:]``, and one end more.
        row: int64; where the numbers of a row of a list begin in the next two.
        column: uint16; state of b times the padded m_c, plus state of c.
        value: float64 or float32.
        state_offsets: int64 (n_symbols + 1,); where the states of each symbol lie in the next.
        root: float64.
        negligible: share of the largest number below which lists leave a number out.
        stored, unary_stored: the tensors as the grammar holds them.
    """

    binary_offsets: Offsets
    binary: NDArray[Any]
    used: Offsets
    claims: Offsets
    unary_offsets: Offsets
    unary: NDArray[Any]
    is_ready: NDArray[np.bool_]
    unary_is_ready: NDArray[np.bool_]
    is_list: NDArray[np.bool_]
    first_row: Offsets
    row: Offsets
    column: NDArray[np.uint16]
    value: NDArray[Any]
    state_offsets: Offsets
    root: NDArray[np.float64]
    negligible: float
    stored: StoredTensors
    unary_stored: StoredTensors

    @classmethod
    def of(
        cls,
        grammar: LatentGrammar,
        binary: DenseTensors | FactoredTensors,
        unary: DenseTensors | FactoredTensors,
    ) -> DenseRules:
        """The rules of a grammar; the same for the same grammar, so that nothing is multiplied out twice."""
        known = _KNOWN.get(grammar)
        if known is None:
            known = _KNOWN[grammar] = cls._new(grammar, binary, unary)
        return known

    @classmethod
    def _new(
        cls,
        grammar: LatentGrammar,
        binary: DenseTensors | FactoredTensors,
        unary: DenseTensors | FactoredTensors,
    ) -> DenseRules:
        stored = StoredTensors.of(binary, grammar.n_states[grammar.binary_rules])
        unary_stored = StoredTensors.of(unary, grammar.n_states[grammar.unary_rules])
        n_rules, dtype = len(grammar.binary_rules), stored.numbers.dtype
        unary_offsets = offsets_of(unary_stored.padded_sizes())
        rows = offsets_of(stored.factors.shapes[:, 0].astype(np.int64) + 1)
        # Room for the longest lists, and for all tensors: pages of memory that nobody writes to are never
        # given out.
        room = int(MOST_LISTED * stored.offsets[-1]) + 1
        return cls(
            binary_offsets=np.zeros(n_rules, np.int64),
            binary=np.empty(stored.padded_sizes().sum(), dtype),
            used=np.zeros(1, np.int64),
            claims=np.zeros(n_rules, np.int64),
            unary_offsets=unary_offsets,
            unary=np.empty(unary_offsets[-1], dtype),
            is_ready=np.zeros(n_rules, bool),
            unary_is_ready=np.zeros(len(grammar.unary_rules), bool),
            is_list=np.zeros(n_rules, bool),
            first_row=rows,
            row=np.zeros(rows[-1], np.int64),
            column=np.empty(room, np.uint16),
            value=np.empty(room, dtype),
            state_offsets=grammar.state_offsets,
            root=grammar.root,
            negligible=_NEGLIGIBLE if dtype == np.float32 else 0.0,
            stored=stored,
            unary_stored=unary_stored,
        )

    def score(self, forest: Forest, grammar: LatentGrammar, leaves: Floats) -> tuple[float, Floats, Floats]:
        """Total and posteriors of a forest.

        Args:
            forest: over these rules.
            grammar: whose rules these are.
            leaves: float64; vectors of the lexical nodes, laid end to end.

        Returns:
            Natural logarithm of the magnitude of the total but for the forest's own scale, -inf where that
            is no number to work with; posteriors of hyperedges and of nodes.
        """
        scored: tuple[float, Floats, Floats] = dense_posteriors(forest, self, leaves)
        return scored


_KNOWN: WeakKeyDictionary[LatentGrammar, DenseRules] = WeakKeyDictionary()


def _give_up_claims() -> None:
    """Let tensors be written anew that other threads were writing when the process forked: they are gone."""
    for rules in _KNOWN.values():
        rules.claims[rules.claims < READY] = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_give_up_claims)
