"""Grammars: frozen dataclasses of arrays.

A :class:`LatentGrammar` is a context-free grammar over *symbols* in which every symbol has a
number of latent *states*. Rules carry tensors over the states of their symbols (Cohen et al. 2012,
section 4: T, q and pi). A plain PCFG is the case of one state; parent annotation is the case
where the state of a node is what is written around it; spectral tensors may be negative.
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
from spectralnlp.parameters.arrays import Floats, Ints, Offsets, in_half, offsets_of
from spectralnlp.parameters.lexicons import Lexicon
from spectralnlp.parameters.tensors import SparseTensors, Tensors, read_tensors
from spectralnlp.runtime import trim_memory
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
        symbols: names; a symbol is its index. Preterminals (tags) are symbols too.
        is_tag: bool (n_symbols,).
        n_states: int32 (n_symbols,); m_a of each symbol.
        binary_rules: int32 (n_binary, 3); rows a, b, c of a → b c, lexicographically sorted.
        binary: their tensors.
        unary_rules: int32 (n_unary, 2); rows a, b of a → b. A span takes at most one of them.
        unary: their matrices.
        root: float64 (sum of n_states,); the vector pi of each symbol, laid end to end.
        tag_default: float64, same layout; the mean lexical vector of each tag (zero elsewhere),
            for a word that is told to have a tag never seen with it.
        lexicon: the words.
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
        """int64 (n_symbols + 1,): where each symbol's vector lies in ``root``."""
        return offsets_of(self.n_states)

    @cached_property
    def symbol_index(self) -> Mapping[str, int]:
        """Index of each symbol's name."""
        return {symbol: index for index, symbol in enumerate(self.symbols)}

    @cached_property
    def is_signed(self) -> bool:
        """Whether any parameter is negative, as spectral ones may be."""
        arrays = (self.binary.values, self.unary.values, self.root, self.lexicon.values)
        signed = any(array.size > 0 and float(array.min()) < 0 for array in arrays)
        trim_memory()
        return signed

    def common_arrays(self) -> Arrays:
        """Stored arrays that grammars of the same trees and binarisation have in common."""
        arrays = {name: getattr(self, name) for name in _RULES}
        return arrays | with_prefix("lexicon.", self.lexicon.common_arrays())

    def own_arrays(self, *, compact: bool = False) -> Arrays:
        """The other stored arrays; ``compact`` with tensors and lexical vectors as float16."""
        arrays = {name: array for name, array in arrays_of(self).items() if name not in _RULES}
        arrays["lexicon.values"] = narrowed(self.lexicon.values)
        arrays |= with_prefix("binary.", self.binary.to_arrays(self.n_states[self.binary_rules]))
        arrays |= with_prefix("unary.", self.unary.to_arrays(self.n_states[self.unary_rules]))
        return _halved(arrays) if compact else arrays

    @classmethod
    def from_arrays(
        cls, common: Mapping[str, Any], lexicon: Mapping[str, Any], arrays: StoredArrays, *, signed: bool
    ) -> LatentGrammar:
        """The grammar that gave these arrays.

        Args:
            common: fields that grammars of the same trees have in common: symbols, tags and rules.
            lexicon: those of the lexicon, as of `Lexicon.common_fields`.
            arrays: of `own_arrays`; the size ``n_symbols`` is known.
            signed: whether tensors have negative numbers.

        Raises:
            ModelError: an array is not as it must be.
        """
        n_states = arrays.field(cls, "n_states")
        # First, for they bound the states of all symbols by the size of the file.
        vectors = arrays.part(n_numbers=int(n_states.sum(dtype=np.int64)))
        fields = vectors.fields(cls, leave_out=("n_states", *_RULES))
        is_inner = np.repeat([is_intermediate(symbol) for symbol in common["symbols"]], n_states)
        if fields["root"][is_inner].any():
            raise arrays.error("root", "lets trees begin with nodes that binarisation made")
        binary, unary = (
            read_tensors(arrays.part(f"{kind}."), n_states[common[f"{kind}_rules"]], signed=signed)
            for kind in ("binary", "unary")
        )
        if isinstance(binary, SparseTensors) != isinstance(unary, SparseTensors):
            raise arrays.error("binary.values", "is dense and that of unary rules sparse, or the reverse")
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
    """The values of tensors and lexical vectors as float16, with their scale."""
    halved = dict(arrays)
    for name, values in arrays.items():
        if name.endswith(".values"):
            halved |= in_half(name, values)
    return halved


@dataclass(frozen=True, kw_only=True, eq=False)
class GrammarSet:
    """Grammars over one forest.

    Attributes:
        binariser: how trees become binary.
        chains: the full unary chain to write for (top, bottom), where it has a middle.
        coarse: the plain PCFG, of one state a symbol, which makes forests.
        pruner: a grammar of a few states that thins them, or None.
        grammars: those that score what is left.
    """

    binariser: Binariser
    chains: Mapping[tuple[str, str], Sequence[str]]
    coarse: LatentGrammar
    pruner: LatentGrammar | None
    grammars: tuple[LatentGrammar, ...]

    __repr__ = one_line

    @property
    def _all(self) -> tuple[LatentGrammar, ...]:
        """All grammars, in the order in which they are stored."""
        pruner = () if self.pruner is None else (self.pruner,)
        return (self.coarse, *pruner, *self.grammars)

    def to_json(self, *, beside: GrammarSet | None = None) -> dict[str, Any]:
        """The JSON values of a model folder: names, and how trees become binary.

        Args:
            beside: a set stored before: what its lexicon has, too, is left out.
        """
        first = self.coarse
        theirs = {} if beside is None else beside.coarse.lexicon.to_json()
        return {
            "symbols": first.symbols,
            "tags": np.flatnonzero(first.is_tag).tolist(),
            **{name: value for name, value in first.lexicon.to_json().items() if value != theirs.get(name)},
            "n_grammars": len(self._all),
            "signed": [grammar.is_signed for grammar in self._all],
            "has_pruner": self.pruner is not None,
            "binariser": self.binariser.to_dict(),
            "chains": [[*ends, list(chain)] for ends, chain in sorted(self.chains.items())],
        }

    def to_arrays(self, *, compact: bool = False, beside: GrammarSet | None = None) -> Arrays:
        """The arrays of a model folder; floats are stored as float32.

        The grammars have the same symbols, rules and words, having been learned from the same trees: these
        are stored once.

        Args:
            compact: store tensors and lexical vectors as float16, of half the size and seven bits.
            beside: a set stored before: what its lexicon has to the byte is left out.

        Raises:
            ConfigError: the grammars differ in them.
        """
        arrays, names = self.coarse.common_arrays(), _names(self.coarse)
        for grammar in self._all[1:]:
            theirs = grammar.common_arrays()
            if _names(grammar) != names or not _are_equal(theirs, arrays):
                raise ConfigError("the grammars of one binarisation differ in symbols, rules or words")
        if beside is not None:
            arrays = not_repeated(arrays, with_prefix("lexicon.", beside.coarse.lexicon.common_arrays()))
        for number, grammar in enumerate(self._all):
            arrays |= with_prefix(f"{number}.", grammar.own_arrays(compact=compact))
        return arrays

    @classmethod
    def from_arrays(
        cls, arrays: StoredArrays, described: StoredValues, beside: str | None = None
    ) -> GrammarSet:
        """The grammars that gave these.

        Args:
            arrays: of `to_arrays`.
            described: of `to_json`.
            beside: what the names of the set begin with that was stored before.

        Raises:
            ModelError: an array or a value is not as it must be.
        """
        symbols: tuple[str, ...] = described.take("symbols", tuple[str, ...])
        arrays = arrays.part(n_symbols=len(symbols))
        is_tag = np.zeros(len(symbols), bool)
        is_tag[list(described.indices("tags", below=len(symbols)))] = True
        rules = {name: arrays.field(LatentGrammar, name) for name in _RULES}
        common = {"symbols": symbols, "is_tag": is_tag, **rules}
        of_lexicon = arrays.part("lexicon.", beside=None if beside is None else f"{beside}lexicon.")
        lexicon = Lexicon.common_fields(of_lexicon, described)
        signed, has_pruner = described.take("signed", tuple[bool, ...]), described.take("has_pruner", bool)
        if len(signed) != described.take("n_grammars", int) or len(signed) < 2 + has_pruner:
            raise described.error("signed", f"is of {len(signed)} grammars, which are not all there must be")
        chains = described.take("chains", tuple[tuple[str, str, tuple[str, ...]], ...])
        coarse, *others = (
            LatentGrammar.from_arrays(common, lexicon, arrays.part(f"{number}."), signed=is_signed)
            for number, is_signed in enumerate(signed)
        )
        if (coarse.n_states != 1).any():
            raise arrays.error("0.n_states", "gives a symbol of the coarse grammar more than one state")
        return cls(
            binariser=described.take("binariser", Binariser),
            chains={(top, bottom): chain for top, bottom, chain in chains},
            coarse=coarse,
            pruner=others.pop(0) if has_pruner else None,
            grammars=tuple(others),
        )


def store_sets(sets: Sequence[GrammarSet], *, compact: bool = False) -> tuple[list[dict[str, Any]], Arrays]:
    """The JSON values of several sets, and their arrays, each set's after its number.

    Args:
        sets: one or more, of the same trees: what the lexicon of the first has is stored once.
        compact: as of `GrammarSet.to_arrays`.
    """
    described, arrays = [], Arrays()
    for number, each in enumerate(sets):
        beside = sets[0] if number else None
        described.append(each.to_json(beside=beside))
        arrays |= with_prefix(f"{number}.", each.to_arrays(compact=compact, beside=beside))
    return described, arrays


def read_sets(described: Sequence[StoredValues], arrays: StoredArrays) -> tuple[GrammarSet, ...]:
    """The sets that gave these.

    Args:
        described, arrays: of `store_sets`.

    Raises:
        ModelError: an array or a value is not as it must be.
    """
    return tuple(
        GrammarSet.from_arrays(
            arrays.part(f"{number}."), each.updated({**described[0], **each}), "0." if number else None
        )
        for number, each in enumerate(described)
    )


def _names(grammar: LatentGrammar) -> tuple[tuple[str, ...], ...]:
    return grammar.symbols, grammar.lexicon.words, grammar.lexicon.signatures


def _are_equal(ours: Mapping[str, Array], theirs: Mapping[str, Array]) -> bool:
    return all(np.array_equal(array, theirs[name]) for name, array in ours.items())
