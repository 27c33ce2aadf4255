"""Compute digests of all learned parts of a parser, to check that versions of the code learn the same."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from hashlib import sha256
from typing import Any

import numpy as np

_LENGTH = 16  # number of hexadecimal digits of a digest


def parts_of(parser: Any) -> dict[str, Any]:
    """Return the learned parts of a parser by names that never change; None for a part that it lacks.

    All accesses to attributes of parsers by the pins are here: if attributes move, change this function.
    """
    parts: dict[str, Any] = {
        "cells": parser.components.get("open_cells"),
        "span_scorer": parser.components.get("span_scorer"),
        "word_clusters": parser.components.get("word_clusters"),
        "sentence_ends": parser.components.get("sentence_ends"),
        "conventions": parser.conventions,
        "decoder": [parser.decoder, dict(parser.decoder_settings)],
        "pruning": parser.pruning,
        "tagger": parser.tagger,
    }
    for number, each in enumerate(parser.grammar_sets):
        parts[f"set {number}: binariser"] = each.binariser
        parts[f"set {number}: chains"] = each.chains
        parts[f"set {number}: coarse"] = each.coarse
        parts[f"set {number}: pruner"] = each.pruner
        for place, grammar in enumerate(each.grammars):
            parts[f"set {number}: grammar {place}"] = grammar
    return parts


def digests_of(parser: Any) -> dict[str, Any]:
    """Return a digest (hash) of each part of a parser; for a dataclass, that of each field."""
    return {name: _digests(part) for name, part in parts_of(parser).items()}


def _digests(part: Any) -> Any:
    if part is None:
        return None
    if dataclasses.is_dataclass(part):
        return {field.name: digest(getattr(part, field.name)) for field in dataclasses.fields(part)}
    return digest(part)


def digest(value: Any) -> str:
    """Return the digest of a value: nested dataclasses, tuples, mappings, arrays, texts and numbers."""
    found = sha256()
    _feed(found, value)
    return found.hexdigest()[:_LENGTH]


def _feed(found: Any, value: Any) -> None:
    """Add a value to a hash, preceded by its type and length, so that the encoding is unambiguous."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        found.update(f"array {value.dtype.str} {value.shape}".encode())
        found.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, np.generic):
        _feed(found, value.item())
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        _feed(found, {field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
    elif isinstance(value, Mapping):
        found.update(f"map {len(value)}".encode())
        for key, each in sorted(value.items(), key=lambda item: repr(item[0])):
            _feed(found, key)
            _feed(found, each)
    elif isinstance(value, Enum):
        _feed(found, value.value)
    elif value is None or isinstance(value, bool | int | float | str | bytes):
        text = value if isinstance(value, bytes) else repr(value).encode()
        found.update(f"{type(value).__name__} {len(text)} ".encode() + text)
    elif isinstance(value, set | frozenset):
        _feed(found, sorted(value, key=repr))
    elif isinstance(value, tuple | list) or (isinstance(value, np.ndarray) and value.dtype == object):
        found.update(f"list {len(value)}".encode())
        for each in value:
            _feed(found, each)
    else:
        raise TypeError(f"no hash of {type(value)}: {value!r:.80}")
