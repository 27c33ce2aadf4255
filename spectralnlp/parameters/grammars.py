"""Latent-variable grammars and sets of them, and how model folders store them.

A :class:`LatentGrammar` is a context-free grammar over *symbols*, each with a number of latent *states*.
Rules carry tensors over the states of their symbols (T, q and pi in Cohen et al. 2012, section 4). A plain
PCFG has one state per symbol; with parent annotation, a node's state encodes its context in the tree.
Tensors learned by spectral methods may have negative entries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.display import one_line
from spectralnlp.errors import ConfigError
from spectralnlp.parameters.arrays import Floats, Ints, Offsets, to_half_precision
from spectralnlp.parameters.lexicons import Lexicon
from spectralnlp.parameters.tensors import SparseTensors, Tensors, read_tensors
from spectralnlp.runtime import offsets_of, trim_memory
from spectralnlp.storage import (
    Array,
    Arrays,
    StoredArrays,
    StoredValues,
    arrays_of,
    float_array,
    int_array,
    narrowed,
    not_repeated,
    with_prefix,
)
from spectralnlp.trees import Binariser, is_intermediate


@dataclass(frozen=True, kw_only=True, eq=False)
class LatentGrammar:
    """A latent-variable PCFG in tensor form.

    Attributes:
        symbols: names of the symbols, tags (preterminals) included; arrays refer to symbols by index.
        is_tag: bool (n_symbols,); whether a symbol is a tag.
        n_states: int32 (n_symbols,); number of states m_a of each symbol.
        binary_rules: int32 (n_binary, 3); rows a, b, c of a → b c, lexicographically sorted.
        binary: tensors of the binary rules.
        unary_rules: int32 (n_unary, 2); rows a, b of a → b. At most one unary rule applies to a span.
        unary: matrices of the unary rules.
        root: float64 (sum of n_states,); weight of each state of each symbol at the root of a tree (pi).
        tag_default: float64 (sum of n_states,); the mean lexical vector of each tag, zero for other symbols.
            It is used for a word with a prescribed tag that was never seen with the word.
        lexicon: tags and lexical vectors of words.
    """

    symbols: tuple[str, ...]
    is_tag: NDArray[np.bool_]
    n_states: Annotated[Ints, int_array("n_symbols", least=1)]
    binary_rules: Annotated[Ints, int_array("n_binary", 3, below="n_symbols", ascending=True)]
    binary: Tensors
    unary_rules: Annotated[Ints, int_array("n_unary", 2, below="n_symbols", ascending=True)]
    unary: Tensors
    root: Annotated[Floats, float_array("n_numbers")]
    tag_default: Annotated[Floats, float_array("n_numbers")]
    lexicon: Lexicon = field(repr=False)

    __repr__ = one_line

    @cached_property
    def state_offsets(self) -> Offsets:
        """Start of each symbol's vector in ``root``, and the total length, int64 (n_symbols + 1,)."""
        return offsets_of(self.n_states)

    @cached_property
    def symbol_index(self) -> Mapping[str, int]:
        """Mapping from names of symbols to their indices."""
        return {symbol: index for index, symbol in enumerate(self.symbols)}

    @cached_property
    def is_signed(self) -> bool:
        """Whether any parameter is negative, as in spectral grammars."""
        arrays = (self.binary.values, self.unary.values, self.root, self.lexicon.values)
        signed = any(array.size > 0 and float(array.min()) < 0 for array in arrays)
        trim_memory()
        return signed

    def common_arrays(self) -> Arrays:
        """Return the arrays that are the same in all grammars of a set, and are therefore stored once.

        They are ``binary_rules``, ``unary_rules`` and all arrays of the lexicon except its vectors.
        """
        arrays = {name: getattr(self, name) for name in _RULES}
        return arrays | with_prefix("lexicon.", self.lexicon.common_arrays())

    def unshared_arrays(self, *, compact: bool = False) -> Arrays:
        """Return the arrays that differ between the grammars of a set, and are stored for each grammar.

        They are the numbers of states, the tensors, the root weights and the lexical vectors.

        Args:
            compact: store tensors and lexical vectors as float16.
        """
        arrays = {name: array for name, array in arrays_of(self).items() if name not in _RULES}
        arrays["lexicon.values"] = narrowed(self.lexicon.values)
        arrays |= with_prefix("binary.", self.binary.to_arrays(self.n_states[self.binary_rules]))
        arrays |= with_prefix("unary.", self.unary.to_arrays(self.n_states[self.unary_rules]))
        return _halved(arrays) if compact else arrays

    @classmethod
    def from_arrays(
        cls, common: Mapping[str, Any], lexicon: Mapping[str, Any], arrays: StoredArrays, *, signed: bool
    ) -> LatentGrammar:
        """Read a grammar from stored arrays.

        Args:
            common: the fields ``symbols``, ``is_tag``, ``binary_rules`` and ``unary_rules``, which are the
                same in all grammars of a set.
            lexicon: shared fields of the lexicon, as `Lexicon.common_fields` returns them.
            arrays: stored arrays, as `unshared_arrays` returns them; ``arrays.sizes`` must contain
                ``n_symbols``.
            signed: whether tensors have negative numbers.

        Raises:
            ModelError: a stored array is invalid.
        """
        n_states = arrays.field(cls, "n_states")
        # Read the vectors first: the size of the file then bounds the number of states.
        vectors = arrays.part(n_numbers=int(n_states.sum(dtype=np.int64)))
        fields = vectors.fields(cls, leave_out=("n_states", *_RULES))
        is_inner = np.repeat([is_intermediate(symbol) for symbol in common["symbols"]], n_states)
        if fields["root"][is_inner].any():
            raise arrays.error("root", "has probabilities for symbols that binarisation made")
        binary, unary = (
            read_tensors(arrays.part(f"{kind}."), n_states[common[f"{kind}_rules"]], signed=signed)
            for kind in ("binary", "unary")
        )
        if isinstance(binary, SparseTensors) != isinstance(unary, SparseTensors):
            raise arrays.error("binary.values", "and unary.values are not both dense or both sparse")
        return cls(
            n_states=n_states,
            binary=binary,
            unary=unary,
            lexicon=Lexicon.with_values(lexicon, n_states, arrays, "lexicon.values"),
            **fields,
            **common,
        )


_RULES = ("binary_rules", "unary_rules")


def _halved(arrays: Arrays) -> Arrays:
    """Return the arrays with tensors and lexical vectors in float16, made by `to_half_precision`."""
    halved = dict(arrays)
    for name, values in arrays.items():
        if name.endswith(".values"):
            halved |= to_half_precision(name, values)
    return halved


@dataclass(frozen=True, kw_only=True, eq=False)
class GrammarSet:
    """Grammars with the same symbols, rules and words, which score the same parse forests (sets of parses).

    Attributes:
        binariser: converts trees to binary trees and back.
        chains: labels of unary chains (nodes with a single child), from the top down, by pair (top, bottom).
            Binarised trees keep only the top and the bottom label of a chain, so the labels in between are
            restored from this mapping. Pairs with no label in between are left out.
        coarse: PCFG with one state per symbol, which builds the forests.
        pruner: grammar with a few states per symbol that prunes the forests, or None.
        grammars: grammars that score the pruned forests.
        singular_values: of each symbol, the singular values of its nodes' features, descending, with three
            digits; empty if the grammars come from no spectral method, or were stored without.
    """

    binariser: Binariser
    chains: Mapping[tuple[str, str], Sequence[str]]
    coarse: LatentGrammar
    pruner: LatentGrammar | None
    grammars: tuple[LatentGrammar, ...]
    singular_values: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    __repr__ = one_line

    @property
    def _all(self) -> tuple[LatentGrammar, ...]:
        """All grammars of the set in the order of storage: `coarse`, `pruner` if any, then `grammars`."""
        pruner = () if self.pruner is None else (self.pruner,)
        return (self.coarse, *pruner, *self.grammars)

    def to_json(self, *, shared_with: GrammarSet | None = None) -> dict[str, Any]:
        """Return the JSON values to store: symbols, words, unary chains, and how trees are binarised.

        Args:
            shared_with: another grammar set stored in the same folder, or None; values of the lexicon are
                left out if they equal those of the other set.
        """
        first = self.coarse
        theirs = {} if shared_with is None else shared_with.coarse.lexicon.to_json()
        return {
            "symbols": first.symbols,
            "tags": np.flatnonzero(first.is_tag).tolist(),
            **{name: value for name, value in first.lexicon.to_json().items() if value != theirs.get(name)},
            "n_grammars": len(self._all),
            "signed": [grammar.is_signed for grammar in self._all],
            "has_pruner": self.pruner is not None,
            "binariser": self.binariser.to_dict(),
            "chains": [[*ends, list(chain)] for ends, chain in sorted(self.chains.items())],
            **({"singular_values": dict(self.singular_values)} if self.singular_values else {}),
        }

    def to_arrays(self, *, compact: bool = False, shared_with: GrammarSet | None = None) -> Arrays:
        """Return the arrays to store in a model folder; floats are stored as float32.

        Symbols, rules and words, which all grammars share, are stored once.

        Args:
            compact: store tensors and lexical vectors as float16 rounded to seven significant bits.
            shared_with: another grammar set stored in the same folder, or None; arrays of the lexicon are
                left out if they equal those of the other set.

        Raises:
            ConfigError: the grammars differ in symbols, rules or words.
        """
        arrays, names = self.coarse.common_arrays(), _names(self.coarse)
        for grammar in self._all[1:]:
            theirs = grammar.common_arrays()
            if _names(grammar) != names or not _are_equal(theirs, arrays):
                raise ConfigError("the grammars of one binarisation differ in symbols, rules or words")
        if shared_with is not None:
            arrays = not_repeated(arrays, with_prefix("lexicon.", shared_with.coarse.lexicon.common_arrays()))
        for number, grammar in enumerate(self._all):
            arrays |= with_prefix(f"{number}.", grammar.unshared_arrays(compact=compact))
        return arrays

    @classmethod
    def from_arrays(
        cls, arrays: StoredArrays, metadata: StoredValues, fallback: str | None = None
    ) -> GrammarSet:
        """Read grammars from stored arrays and JSON values.

        Args:
            arrays: stored arrays, as `to_arrays` returns them.
            metadata: stored JSON values, as `to_json` returns them.
            fallback: prefix of the array names of another grammar set in the same folder. Lexicon arrays that
                this set lacks are read from that set. None if this set was stored with all arrays.

        Raises:
            ModelError: a stored array or value is invalid.
        """
        symbols: tuple[str, ...] = metadata.take("symbols", tuple[str, ...])
        arrays = arrays.part(n_symbols=len(symbols))
        is_tag = np.zeros(len(symbols), bool)
        is_tag[list(metadata.indices("tags", below=len(symbols)))] = True
        rules = {name: arrays.field(LatentGrammar, name) for name in _RULES}
        common = {"symbols": symbols, "is_tag": is_tag, **rules}
        of_lexicon = arrays.part("lexicon.", fallback=None if fallback is None else f"{fallback}lexicon.")
        lexicon = Lexicon.common_fields(of_lexicon, metadata)
        signed, has_pruner = metadata.take("signed", tuple[bool, ...]), metadata.take("has_pruner", bool)
        if len(signed) != metadata.take("n_grammars", int) or len(signed) < 2 + has_pruner:
            raise metadata.error("signed", f"lists {len(signed)} grammars, not the expected number")
        chains = metadata.take("chains", tuple[tuple[str, str, tuple[str, ...]], ...])
        coarse, *others = (
            LatentGrammar.from_arrays(common, lexicon, arrays.part(f"{number}."), signed=is_signed)
            for number, is_signed in enumerate(signed)
        )
        if (coarse.n_states != 1).any():
            raise arrays.error("0.n_states", "gives a symbol of the coarse grammar more than one state")
        return cls(
            binariser=metadata.take("binariser", Binariser),
            chains={(top, bottom): chain for top, bottom, chain in chains},
            coarse=coarse,
            pruner=others.pop(0) if has_pruner else None,
            grammars=tuple(others),
            singular_values=metadata.take("singular_values", Mapping[str, tuple[float, ...]], {}),
        )


def store_sets(sets: Sequence[GrammarSet], *, compact: bool = False) -> tuple[list[dict[str, Any]], Arrays]:
    """Return the JSON values and arrays to store for several grammar sets.

    Args:
        sets: one or more sets learned from the same trees; lexicon data equal to the first set's is stored
            once.
        compact: store tensors and lexical vectors as float16 rounded to seven significant bits.

    Returns:
        The JSON values of each set; and the arrays of all sets, whose names start with the set's number.
    """
    metadata, arrays = [], Arrays()
    for number, each in enumerate(sets):
        shared_with = sets[0] if number else None
        metadata.append(each.to_json(shared_with=shared_with))
        arrays |= with_prefix(f"{number}.", each.to_arrays(compact=compact, shared_with=shared_with))
    return metadata, arrays


def read_sets(metadata: Sequence[StoredValues], arrays: StoredArrays) -> tuple[GrammarSet, ...]:
    """Read the grammar sets that `store_sets` stored.

    Args:
        metadata, arrays: stored JSON values and arrays, as `store_sets` returns them.

    Raises:
        ModelError: a stored array or value is invalid.
    """
    return tuple(
        GrammarSet.from_arrays(
            arrays.part(f"{number}."), each.updated({**metadata[0], **each}), "0." if number else None
        )
        for number, each in enumerate(metadata)
    )


def _names(grammar: LatentGrammar) -> tuple[tuple[str, ...], ...]:
    return grammar.symbols, grammar.lexicon.words, grammar.lexicon.signatures


def _are_equal(ours: Mapping[str, Array], theirs: Mapping[str, Array]) -> bool:
    return all(np.array_equal(array, theirs[name]) for name, array in ours.items())
