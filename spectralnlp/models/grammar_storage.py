"""Grammars as named arrays and JSON values, for model folders.

All grammars of a parser share symbols and words, which are stored once. The tensor of a rule that was seen
n times has ranks of at most n or so: dense tensors are stored as a small core and three bases (Tucker 1966;
De Lathauwer et al. 2000), wherever that is smaller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import ConfigError
from spectralnlp.linalg import tucker
from spectralnlp.parameters import (
    DenseTensors,
    Floats,
    GrammarSet,
    Ints,
    LatentGrammar,
    Lexicon,
    SparseTensors,
    Tensors,
)
from spectralnlp.trees import Binariser

TOLERANCE = 1e-3
"""Relative error, in the Frobenius norm, that the storage of a tensor may make."""

_HALF = 32768.0  # the largest number that a compact array holds

WORTHWHILE = 64
"""Numbers that a tensor must have for a low-rank form to be tried."""

Arrays = dict[str, np.ndarray[Any, Any]]


def pack_grammar_set(grammar_set: GrammarSet, *, compact: bool = False) -> tuple[dict[str, Any], Arrays]:
    """(JSON values, arrays) of grammars over one binarisation; numbers are stored as float32.

    They have the same symbols, words and signatures, having been learned from the same trees.

    Args:
        grammar_set: the grammars.
        compact: store tensors and lexical vectors as float16, of half the size and 11 bits.
    """
    pruner = () if grammar_set.pruner is None else (grammar_set.pruner,)
    grammars = (grammar_set.coarse, *pruner, *grammar_set.grammars)
    first = grammars[0]
    common = _common_arrays(first)
    for grammar in grammars[1:]:
        theirs = _common_arrays(grammar)
        if _names(grammar) != _names(first) or any(
            not np.array_equal(theirs[name], common[name]) for name in common
        ):
            raise ConfigError("the grammars of one binarisation differ in symbols, rules or words")
    shared = {
        "symbols": first.symbols,
        "tags": np.flatnonzero(first.is_tag).tolist(),
        "words": first.lexicon.words,
        "signatures": first.lexicon.signatures,
        "scheme": first.lexicon.scheme,
        "n_grammars": len(grammars),
        "signed": [grammar.is_signed for grammar in grammars],
        "has_pruner": grammar_set.pruner is not None,
        "binariser": grammar_set.binariser.to_dict(),
        "chains": [[*ends, list(chain)] for ends, chain in sorted(grammar_set.chains.items())],
    }
    arrays = common
    for number, grammar in enumerate(grammars):
        own = _own_arrays(grammar)
        arrays |= {f"{number}.{name}": array for name, array in (_halved(own) if compact else own).items()}
    return shared, arrays


def _halved(arrays: Arrays) -> Arrays:
    """The values of tensors and lexical vectors as float16, with their scale."""
    halved = dict(arrays)
    for name, values in arrays.items():
        if name.endswith(".values"):
            scale = np.abs(values).max(initial=np.float32(1e-30))
            # The whole range of exponents: from _HALF down to 6e-8, where steps are absolute.
            halved[name] = (values * (_HALF / scale)).astype(np.float16)
            halved[f"{name}.scale"] = np.array([scale / _HALF], np.float32)
    return halved


def _names(grammar: LatentGrammar) -> tuple[tuple[str, ...], ...]:
    return grammar.symbols, grammar.lexicon.words, grammar.lexicon.signatures


def _common_arrays(grammar: LatentGrammar) -> Arrays:
    """What all grammars of a set have in common: they were learned from the same trees."""
    lexicon = grammar.lexicon
    return {
        "binary_rules": grammar.binary_rules,
        "unary_rules": grammar.unary_rules,
        "lexicon.starts": lexicon.starts,
        "lexicon.tags": lexicon.tags,
        "lexicon.backoff": _float32(lexicon.backoff),
        "lexicon.word_signature": lexicon.word_signature,
        "lexicon.log_weight": _float32(lexicon.log_weight),
    }


def _own_arrays(grammar: LatentGrammar) -> Arrays:
    arrays: Arrays = {
        "n_states": grammar.n_states,
        "root": _float32(grammar.root),
        "tag_default": _float32(grammar.tag_default),
        "lexicon.values": _float32(grammar.lexicon.values),
    }
    for name, tensors, rules in (
        ("binary", grammar.binary, grammar.binary_rules),
        ("unary", grammar.unary, grammar.unary_rules),
    ):
        if isinstance(tensors, SparseTensors):
            arrays[f"{name}.offsets"] = tensors.offsets
            arrays[f"{name}.values"] = _float32(tensors.values)
            arrays[f"{name}.states"] = tensors.states.astype(np.int16)
        else:
            ranks, values = _compress(tensors, grammar.n_states[rules])
            arrays[f"{name}.ranks"], arrays[f"{name}.values"] = ranks, _float32(values)
    return arrays


def _compress(tensors: DenseTensors, shapes: Ints) -> tuple[NDArray[np.int16], Floats]:
    """(ranks, cores and bases laid end to end); ranks of 0 where a tensor is stored as it is."""
    ranks: NDArray[np.int16] = np.zeros(shapes.shape, np.int16)
    parts = [np.empty(0)]
    for rule, shape in enumerate(shapes):
        tensor = tensors.values[tensors.offsets[rule] : tensors.offsets[rule + 1]].reshape(shape)
        core, bases = tucker(tensor, tolerance=TOLERANCE) if tensor.size >= WORTHWHILE else (tensor, [])
        if bases and core.size + sum(basis.size for basis in bases) < tensor.size:
            ranks[rule] = core.shape
            parts += [core.ravel(), *(basis.ravel() for basis in bases)]
        else:
            parts.append(tensor.ravel())
    return ranks, np.concatenate(parts)


def _expand(ranks: NDArray[np.int16], values: Floats, shapes: Ints) -> DenseTensors:
    """The inverse of `_compress`."""
    sizes = shapes.astype(np.int64).prod(axis=1)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    dense = np.empty(offsets[-1], np.float32)  # the larger part of a parser's memory; kernels sum in float64
    at = 0

    def take(*shape: int) -> Floats:
        nonlocal at
        size = int(np.prod(shape))
        at += size
        return values[at - size : at].reshape(shape)

    for rule, (rank, shape) in enumerate(zip(ranks.tolist(), shapes.tolist(), strict=True)):
        if rank[0] == 0:
            tensor = take(*shape)
        else:
            tensor = take(*rank)
            for m, r in zip(shape, rank, strict=True):  # the first axis goes, its like comes last
                tensor = np.tensordot(tensor, take(m, r), axes=(0, 1))
        dense[offsets[rule] : offsets[rule + 1]] = tensor.ravel()
    return DenseTensors(offsets, dense)


def unpack_grammar_set(shared: Mapping[str, Any], arrays: Mapping[str, Any], prefix: str) -> GrammarSet:
    """The inverse of :func:`pack_grammar_set`.

    Args:
        shared: JSON values.
        arrays: a model folder's.
        prefix: of this set's among them.
    """
    is_tag = np.zeros(len(shared["symbols"]), bool)
    is_tag[shared["tags"]] = True
    words, signatures = tuple(shared["words"]), tuple(shared["signatures"])

    def common(name: str) -> Any:
        array = arrays[f"{prefix}{name}"]
        if array.dtype == np.float16:
            return array.astype(np.float64) * arrays[f"{prefix}{name}.scale"]
        return array.astype(np.float64) if array.dtype == np.float32 else array

    grammars = []
    for number in range(shared["n_grammars"]):

        def part(name: str, number: int = number) -> Any:
            return common(f"{number}.{name}")

        widths = part("n_states")[common("lexicon.tags")].astype(np.int64)
        lexicon = Lexicon(
            words, signatures, shared["scheme"], common("lexicon.starts"), common("lexicon.tags"),
            np.concatenate([[0], np.cumsum(widths)]), part("lexicon.values"), common("lexicon.backoff"),
            common("lexicon.word_signature"), common("lexicon.log_weight"),
        )  # fmt: skip
        tensors: list[Tensors] = []
        for name in ("binary", "unary"):
            values = part(f"{name}.values")
            if f"{prefix}{number}.{name}.states" in arrays:
                states = part(f"{name}.states").astype(np.int32)
                tensors.append(SparseTensors(part(f"{name}.offsets"), states, values))
            else:
                shapes = part("n_states")[common(f"{name}_rules")]
                dense = _expand(part(f"{name}.ranks"), values, shapes)
                if not shared["signed"][number]:  # a low rank makes tiny negative numbers of zeros
                    np.maximum(dense.values, 0.0, out=dense.values)
                tensors.append(dense)
        grammars.append(
            LatentGrammar(
                tuple(shared["symbols"]),
                is_tag,
                part("n_states"),
                common("binary_rules"),
                tensors[0],
                common("unary_rules"),
                tensors[1],
                part("root"),
                part("tag_default"),
                lexicon,
            )
        )
    coarse, *others = grammars
    pruner = others.pop(0) if shared["has_pruner"] else None
    chains = {(top, bottom): tuple(chain) for top, bottom, chain in shared["chains"]}
    return GrammarSet(Binariser.from_dict(shared["binariser"]), chains, coarse, pruner, tuple(others))


def _float32(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.astype(np.float32)
