"""Store rule tensors for the inside and outside passes: as arrays or, if nearly all zero, as lists."""

from __future__ import annotations

import os
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.dense import dense_posteriors
from spectralnlp.inference.trees.forest import Forest
from spectralnlp.inference.trees.ready_rules import MAX_LISTED, READY
from spectralnlp.jit import padded
from spectralnlp.parameters import DenseTensors, FactoredTensors, Floats, Ints, LatentGrammar, Offsets
from spectralnlp.parameters.expansion import Factors
from spectralnlp.runtime import offsets_of

# In single precision, a list leaves out elements below this share of the tensor's largest element.
_NEGLIGIBLE = 1e-4


class StoredTensors(NamedTuple):
    """Rule tensors as a grammar stores them.

    Attributes:
        offsets: int64 (n_rules + 1,); rule r has ``numbers[offsets[r]:offsets[r + 1]]``, row-major.
        numbers: float64 or float32; the elements of the tensors.
        is_there: bool (n_rules,); whether ``numbers`` has a rule's tensor.
        factors: the low-rank factors of the other rules' tensors.
    """

    offsets: Offsets
    numbers: NDArray[Any]
    is_there: NDArray[np.bool_]
    factors: Factors

    @classmethod
    def of(cls, tensors: DenseTensors | FactoredTensors, shapes: Ints) -> StoredTensors:
        """Collect the stored tensors of a grammar's binary or unary rules.

        Args:
            tensors: the tensors, dense or in low-rank factors.
            shapes: int32 (n_rules, order); shape of each tensor; the order is 3 for binary rules, 2 for
                unary rules.
        """
        numbers, is_there = tensors.expanded
        return cls(tensors.offsets, numbers, is_there, tensors.stored(shapes))

    def padded_sizes(self) -> Offsets:
        """Return the tensors' sizes, their last axes padded to multiples of eight; int64 (n_rules,)."""
        shapes = self.factors.shapes.astype(np.int64)
        return np.asarray(shapes[:, :-1].prod(axis=1) * padded(shapes[:, -1]))


class DenseRules(NamedTuple):
    """Rule tensors of a grammar, concatenated or as sparse lists; each is unpacked when first needed.

    The rows of the tensor of a → b c are the states of a, its columns the pairs of states of b and c. The
    last axis of a tensor is padded with zeros to a multiple of eight.

    Attributes:
        binary_offsets: int64 (n_binary,); where a rule's tensor begins in ``binary``, once it is written.
        binary: float64 or float32; (m_a, m_b, padded m_c) for each rule without a list, in the order of first
            use. Only the part that is written takes memory, usually a few MB.
        used: int64 (1,); number of elements of ``binary`` that are taken.
        claims: int64 (n_binary,); above 0 once a thread has begun to write a rule's tensor, at least `READY`
            once it is written.
        unary_offsets: int64 (n_unary + 1,); where each rule's tensor begins in ``unary``.
        unary: float64 or float32; (m_a, padded m_b) for each rule.
        is_ready: bool (n_binary,); whether a rule's tensor or list is written.
        unary_is_ready: bool (n_unary,); the same for unary rules.
        is_list: bool (n_binary,); whether a rule has a list instead of a tensor.
        first_row: int64 (n_binary + 1,); rule r has m_a + 1 entries of ``row``, from ``first_row[r]``.
        row: int64; where each row of a list begins in ``column`` and ``value``, and the end of the last row.
        column: uint16; state of b times the padded m_c, plus state of c.
        value: float64 or float32; the elements of lists.
        state_offsets: int64 (n_symbols + 1,); where the states of each symbol begin in ``root``.
        root: float64; the root weight of each state.
        negligible: lists leave out elements below this share of the largest one.
        stored, unary_stored: the tensors as the grammar stores them.
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
        """Return the rules of a grammar, the same object at each call, so that no tensor is unpacked twice.

        Args:
            grammar: the grammar.
            binary, unary: tensors of the grammar's binary and of its unary rules.
        """
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
        # Allocate for the longest possible lists and for all tensors: the operating system provides memory
        # only for pages that are written.
        room = int(MAX_LISTED * stored.offsets[-1]) + 1
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
        """Return the log of a forest's total weight, and the posteriors of its hyperedges and nodes.

        Args:
            forest: a forest over these rules.
            grammar: the grammar of these rules.
            leaves: float64; vectors of the lexical nodes, concatenated.

        Returns:
            The natural logarithm of the total's magnitude without ``forest.log_scale`` (-inf if the total is
            zero or any result is not finite), the posteriors of hyperedges and those of nodes, float64.
        """
        scored: tuple[float, Floats, Floats] = dense_posteriors(forest, self, leaves)
        return scored


_KNOWN: WeakKeyDictionary[LatentGrammar, DenseRules] = WeakKeyDictionary()


def _give_up_claims() -> None:
    """In a forked child process, mark tensors that the parent's threads were writing as not yet written."""
    for rules in _KNOWN.values():
        rules.claims[rules.claims < READY] = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_give_up_claims)
