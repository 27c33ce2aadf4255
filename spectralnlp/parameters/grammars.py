"""What learning hands to inference: frozen dataclasses of arrays, and nothing else.

A :class:`LatentGrammar` is a context-free grammar over *symbols* in which every symbol has a
number of latent *states*. Rules carry tensors over the states of their symbols (Cohen et al. 2012,
section 4: T, q and pi). A plain PCFG is the case of one state; parent annotation is the case
where the state of a node is what is written around it; spectral tensors may be negative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.parameters.arrays import Floats, Ints, Offsets
from spectralnlp.trees import Binariser


@dataclass(frozen=True)
class DenseTensors:
    """One dense tensor a rule, row-major, laid end to end.

    Attributes:
        offsets: int64 (n_rules + 1,); tensor r is ``values[offsets[r]:offsets[r + 1]]``.
        values: of shape (m_a, m_b, m_c) for a → b c and (m_a, m_b) for a → b; float64 as they are learned,
            float32 from a model folder.
    """

    offsets: Offsets
    values: NDArray[Any]


@dataclass(frozen=True)
class SparseTensors:
    """The non-zero entries of each rule's tensor.

    Attributes:
        offsets: int64 (n_rules + 1,); the entries of rule r are rows ``offsets[r]:offsets[r + 1]``.
        states: int32 (n_entries, 3) for a → b c, (n_entries, 2) for a → b.
        values: float64 (n_entries,).
    """

    offsets: Offsets
    states: Ints
    values: Floats


Tensors = DenseTensors | SparseTensors


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Which tags a token may have, with a vector over each tag's states.

    Entries are the known words, then the signatures of unknown words; the last signature is
    the one of last resort. Vectors hold p(word | tag, state) / p(word), so a
    sentence's probability also takes the sum of ``log_weight``.

    Attributes:
        words: known words; entry w is ``words[w]``.
        signatures: entry ``len(words) + s`` is ``signatures[s]``.
        scheme: name of the function that gives a word its signature.
        starts: int64 (n_entries + 1,); entry e holds rows ``starts[e]:starts[e + 1]``.
        tags: int32 (n_rows,); a symbol each, ascending within an entry.
        offsets: int64 (n_rows + 1,) into ``values``.
        values: float64.
        backoff: float64 (n_words,); a tag never seen with the word gets this much of the vector
            that the word's signature has for it.
        word_signature: int32 (n_words,); index into ``signatures``.
        log_weight: float64 (n_entries,); log p(word), natural.
    """

    words: tuple[str, ...]
    signatures: tuple[str, ...]
    scheme: str
    starts: Offsets
    tags: Ints
    offsets: Offsets
    values: Floats
    backoff: Floats
    word_signature: Ints
    log_weight: Floats

    @cached_property
    def word_index(self) -> Mapping[str, int]:
        """Entry of each known word."""
        return {word: index for index, word in enumerate(self.words)}

    @cached_property
    def signature_index(self) -> Mapping[str, int]:
        """Position in ``signatures`` of each signature."""
        return {signature: index for index, signature in enumerate(self.signatures)}


@dataclass(frozen=True, eq=False)
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
    n_states: Ints
    binary_rules: Ints
    binary: Tensors
    unary_rules: Ints
    unary: Tensors
    root: Floats
    tag_default: Floats
    lexicon: Lexicon = field(repr=False)

    @cached_property
    def state_offsets(self) -> Offsets:
        """int64 (n_symbols + 1,): where each symbol's vector lies in ``root``."""
        return np.concatenate([[0], np.cumsum(self.n_states, dtype=np.int64)])

    @cached_property
    def symbol_index(self) -> Mapping[str, int]:
        """Index of each symbol's name."""
        return {symbol: index for index, symbol in enumerate(self.symbols)}

    @cached_property
    def is_signed(self) -> bool:
        """Whether any parameter is negative, as spectral ones may be."""
        arrays = (self.binary.values, self.unary.values, self.root, self.lexicon.values)
        return any(array.size > 0 and float(array.min()) < 0 for array in arrays)


@dataclass(frozen=True)
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
