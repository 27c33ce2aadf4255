"""Grammars as named arrays and JSON values, for model folders.

All grammars of a parser share symbols and words, which are stored once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spectralnlp.parameters import DenseTensors, LatentGrammar, Lexicon, SparseTensors, Tensors

Arrays = dict[str, np.ndarray[Any, Any]]


def pack_grammars(grammars: Sequence[LatentGrammar]) -> tuple[dict[str, Any], Arrays]:
    """(JSON values, arrays) of grammars that share symbols, words and signatures; values are float32."""
    first = grammars[0]
    for grammar in grammars[1:]:
        if (grammar.symbols, grammar.lexicon.words, grammar.lexicon.signatures) != (
            first.symbols,
            first.lexicon.words,
            first.lexicon.signatures,
        ):
            raise ValueError("grammars of one parser have the same symbols, words and signatures")
    shared = {
        "symbols": first.symbols,
        "tags": np.flatnonzero(first.is_tag).tolist(),
        "words": first.lexicon.words,
        "signatures": first.lexicon.signatures,
        "scheme": first.lexicon.scheme,
        "n_grammars": len(grammars),
    }
    arrays: Arrays = {}
    for number, grammar in enumerate(grammars):
        arrays |= {f"{number}.{name}": array for name, array in _arrays(grammar).items()}
    return shared, arrays


def _arrays(grammar: LatentGrammar) -> Arrays:
    lexicon = grammar.lexicon
    arrays: Arrays = {
        "n_states": grammar.n_states,
        "binary_rules": grammar.binary_rules,
        "unary_rules": grammar.unary_rules,
        "root": _float32(grammar.root),
        "tag_default": _float32(grammar.tag_default),
        "lexicon.starts": lexicon.starts,
        "lexicon.tags": lexicon.tags,
        "lexicon.offsets": lexicon.offsets,
        "lexicon.values": _float32(lexicon.values),
        "lexicon.backoff": _float32(lexicon.backoff),
        "lexicon.word_signature": lexicon.word_signature,
        "lexicon.log_weight": _float32(lexicon.log_weight),
    }
    for name, tensors in (("binary", grammar.binary), ("unary", grammar.unary)):
        arrays[f"{name}.offsets"] = tensors.offsets
        arrays[f"{name}.values"] = _float32(tensors.values)
        if isinstance(tensors, SparseTensors):
            arrays[f"{name}.states"] = tensors.states.astype(np.int16)
    return arrays


def unpack_grammars(shared: Mapping[str, Any], arrays: Mapping[str, Any]) -> list[LatentGrammar]:
    """The inverse of :func:`pack_grammars`."""
    is_tag = np.zeros(len(shared["symbols"]), bool)
    is_tag[shared["tags"]] = True
    words, signatures = tuple(shared["words"]), tuple(shared["signatures"])
    grammars = []
    for number in range(shared["n_grammars"]):

        def part(name: str, number: int = number) -> Any:
            array = arrays[f"{number}.{name}"]
            return array.astype(np.float64) if array.dtype == np.float32 else array

        lexicon = Lexicon(
            words, signatures, shared["scheme"], part("lexicon.starts"), part("lexicon.tags"),
            part("lexicon.offsets"), part("lexicon.values"), part("lexicon.backoff"),
            part("lexicon.word_signature"), part("lexicon.log_weight"),
        )  # fmt: skip
        tensors: list[Tensors] = []
        for name in ("binary", "unary"):
            offsets, values = part(f"{name}.offsets"), part(f"{name}.values")
            if f"{number}.{name}.states" in arrays:
                tensors.append(SparseTensors(offsets, part(f"{name}.states").astype(np.int32), values))
            else:
                tensors.append(DenseTensors(offsets, values))
        grammars.append(
            LatentGrammar(
                tuple(shared["symbols"]),
                is_tag,
                part("n_states"),
                part("binary_rules"),
                tensors[0],
                part("unary_rules"),
                tensors[1],
                part("root"),
                part("tag_default"),
                lexicon,
            )
        )
    return grammars


def _float32(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.astype(np.float32)
