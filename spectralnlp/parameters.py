"""What learning hands to inference: frozen dataclasses of arrays, and nothing else.

A :class:`LatentGrammar` is a context-free grammar over *symbols* in which every symbol has a
number of latent *states*. Rules carry tensors over the states of their symbols (Cohen et al. 2012,
section 4: T, q and pi). A plain PCFG is the case of one state; parent annotation is the case
where the state of a node is what is written around it; spectral tensors may be negative.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]
Floats = NDArray[np.float64]


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


@dataclass(frozen=True, eq=False)
class ObservableOperators:
    """An observable-operator model of sequences over V symbols (Jaeger 2000), with what keeps it proper.

    A state is a vector s of k numbers with ``normaliser`` · s = 1. Symbol x has the linear probability
    ``emission[x]`` · s and moves the state to B_x s, scaled. Linear predictions may be negative;
    :mod:`spectralnlp.inference.filtering` says what makes probabilities of them. Hidden Markov models are
    the case of B_x = T diag(O_x) up to a change of basis (Hsu, Kakade and Zhang 2009, lemma 1).

    Attributes:
        symbols: names; the last one stands for every symbol that is not among them.
        initial: float64 (k,); the state before the first symbol (b1).
        normaliser: float64 (k,); b∞.
        stationary: float64 (k,); the mean state, to which states are shrunk.
        emission: float64 (V, k); rows b∞ᵀ B_x.
        operators: float64 (n_operators, k, k); B_x of the symbols that have one.
        operator_index: int32 (V,); where the operator of each symbol is; -1 for a symbol too rare for one,
            after which the state is its ``arrival``.
        arrival: float64 (V, k); the mean state after each symbol.
        base: float64 (V,); a positive distribution over symbols.
        floor: weight of ``base`` in every prediction.
        tolerance: negative probability that a prediction may have before its state is shrunk.
    """

    symbols: tuple[str, ...]
    initial: Floats
    normaliser: Floats
    stationary: Floats
    emission: Floats
    operators: Floats
    operator_index: Ints
    arrival: Floats
    base: Floats
    floor: float
    tolerance: float

    @cached_property
    def symbol_index(self) -> Mapping[str, int]:
        """Index of each symbol's name."""
        return {symbol: index for index, symbol in enumerate(self.symbols)}


@dataclass(frozen=True, eq=False)
class Spelling:
    """Vectors of words from how they are written: a linear function of hashed features.

    Attributes:
        weights: float32 (2^bits, n_dimensions); a word's vector is the sum over its features.
        mean: float32 (n_dimensions,); added to it.
    """

    weights: NDArray[np.float32]
    mean: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words and their contexts as points of one space.

    Attributes:
        words: the vocabulary, the most frequent first.
        counts: int64 (n_words,).
        vectors: float32 (n_words, n_dimensions).
        singular_values: float32 (n_dimensions,), descending; canonical correlations if the variant was CCA.
        contexts: words that can be contexts; the empty one is the end of a sentence.
        blocks: groups of positions relative to the word whose contexts share vectors, ``((-1,), (1,))``.
        context_vectors: float32 (n_blocks, n_contexts, n_dimensions).
        lowercase: whether words were counted in small letters.
        hash_bits: how words were numbered, see ``PairCounts``; None if by name.
        numbers: int32 (n_words,); the numbers, if by hashing.
        spelling: makes vectors of other words; None if there is none.
        clusters: int32 (n_words,); None if there are none.
    """

    words: tuple[str, ...]
    counts: Offsets
    vectors: NDArray[np.float32]
    singular_values: NDArray[np.float32]
    contexts: tuple[str, ...] = ()
    blocks: tuple[tuple[int, ...], ...] = ()
    context_vectors: NDArray[np.float32] | None = None
    lowercase: bool = False
    hash_bits: int | None = None
    numbers: Ints | None = None
    spelling: Spelling | None = None
    clusters: Ints | None = None


@dataclass(frozen=True, eq=False)
class TopicMixture:
    """Distributions over words, and how documents mix them (Blei, Ng and Jordan 2003).

    Attributes:
        words: V names.
        weights: float64 (k,), summing to one; how much of all text each topic is, most first.
        topics: float64 (k, V); p(word | topic), rows sum to one.
        frequencies: float64 (V,), summing to one; of the words in the training text.
        alpha0: α0, the concentration of documents' mixtures: α = α0 · weights. 0: each document has one
            topic.
    """

    words: tuple[str, ...]
    weights: Floats
    topics: Floats
    frequencies: Floats
    alpha0: float

    @cached_property
    def word_index(self) -> Mapping[str, int]:
        """Index of each word."""
        return {word: index for index, word in enumerate(self.words)}


@dataclass(frozen=True, eq=False)
class HiddenMarkov:
    """A hidden Markov model by its probabilities.

    Attributes:
        symbols: V names; the last one stands for every symbol that is not among them.
        initial: float64 (k,); p(first state).
        transition: float64 (k, k); p(next state | state), columns sum to one.
        emission: float64 (V, k); p(symbol | state), columns sum to one.
    """

    symbols: tuple[str, ...]
    initial: Floats
    transition: Floats
    emission: Floats

    @cached_property
    def symbol_index(self) -> Mapping[str, int]:
        """Index of each symbol's name."""
        return {symbol: index for index, symbol in enumerate(self.symbols)}


@dataclass(frozen=True, eq=False)
class RefinedMarkov:
    """A hidden Markov model whose observed tags are refined by hidden states (Stratos et al. 2013).

    Token i has tag a, state h and word x. A state is a vector of m_a numbers, what a word says of it one of
    k_a numbers, and the two meet in their *joint* of j_a numbers: their outer product, j = m · k, or, if
    ``tied``, their product entry by entry, j = m = k. Spectral parameters may be negative; tied ones are
    probabilities.

    From a to b the model goes by ``transitions`` (a, b) + ``leaving``[a] ⊗ ``arriving``[b]; the second term
    keeps every sequence of tags possible.

    Attributes:
        tags: names; a tag is its index.
        n_states: int32 (n_tags,); m_a.
        n_lexical: int32 (n_tags,); k_a.
        tied: how a state and a word meet.
        initial: float64 (sum of m_a,); of the first token, laid end to end.
        final: float64 (sum of j_a,); of the last one.
        leaving: float64 (sum of j_a,).
        arriving: float64 (sum of m_a,).
        pairs: int32 (n_pairs, 2); tags a, b that follow one another, lexicographically sorted.
        transitions: their matrices (j_a, m_b).
        lexicon: vectors of k_a numbers, p(word | tag, state) / p(word).
    """

    tags: tuple[str, ...]
    n_states: Ints
    n_lexical: Ints
    tied: bool
    initial: Floats
    final: Floats
    leaving: Floats
    arriving: Floats
    pairs: Ints
    transitions: DenseTensors
    lexicon: Lexicon = field(repr=False)

    @cached_property
    def n_joint(self) -> Ints:
        """int32 (n_tags,): j_a."""
        return self.n_states if self.tied else self.n_states * self.n_lexical

    @cached_property
    def state_offsets(self) -> Offsets:
        """int64 (n_tags + 1,): where each tag's vector lies in ``initial`` and ``arriving``."""
        return np.concatenate([[0], np.cumsum(self.n_states, dtype=np.int64)])

    @cached_property
    def joint_offsets(self) -> Offsets:
        """int64 (n_tags + 1,): where each tag's vector lies in ``final`` and ``leaving``."""
        return np.concatenate([[0], np.cumsum(self.n_joint, dtype=np.int64)])

    @cached_property
    def pair_index(self) -> Ints:
        """int32 (n_tags, n_tags): which of ``pairs``, -1 for none."""
        index = np.full((len(self.tags),) * 2, -1, np.int32)
        index[self.pairs[:, 0], self.pairs[:, 1]] = np.arange(len(self.pairs))
        return index


@dataclass(frozen=True, eq=False)
class ChainWeights:
    """A linear chain of tags whose scores are linear in features and vectors of words around a token.

    Attributes:
        tags: T names.
        keys: uint32 (n_features,), ascending; hashes of features.
        features: float32 (n_features, T).
        words: float32 (n_offsets, k, T); of the vectors of the words around.
        tokens: float32 (l, T); of the vector of the token's context.
        transitions: float32 (T, T); from, to; -inf where forbidden, as below.
        start: float32 (T,); of the first tag.
        end: float32 (T,); of the last tag.
        temperature: a score divided by it is a natural logarithm of a weight.
    """

    tags: tuple[str, ...]
    keys: NDArray[np.uint32]
    features: NDArray[np.float32]
    words: NDArray[np.float32]
    tokens: NDArray[np.float32]
    transitions: NDArray[np.float32]
    start: NDArray[np.float32]
    end: NDArray[np.float32]
    temperature: float = 1.0
