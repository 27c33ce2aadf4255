"""All that a fitted estimator of grammars learned, as bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spectralnlp.runtime import InMemoryCorpus
from spectralnlp.trees import Tree, clean, read_brackets


def trees(text: str) -> list[Tree]:
    return list(read_brackets(text.splitlines()))


def corpus(examples: Iterable[Tree] | str, n_partitions: int = 1) -> InMemoryCorpus[Tree]:
    return InMemoryCorpus(trees(examples) if isinstance(examples, str) else examples, n_partitions)


def own_trees(own_treebank: Path, name: str = "train.mrg") -> list[Tree]:
    with open(own_treebank / name, encoding="utf-8") as file:
        cleaned = [clean(tree) for tree in read_brackets(file)]
    return [tree for tree in cleaned if tree is not None]


def fingerprint(fitted: Any) -> dict[str, object]:
    """All that a parser takes from an estimator, to the byte."""
    grammar, components = getattr(fitted, "grammar_", fitted), getattr(fitted, "components_", {})
    found = {
        "decoder": (grammar.decoder_, sorted(grammar.decoder_settings_.items())),
        **dict(_bytes_of(grammar.grammar_sets_)),
    }
    for name, component in components.items():
        found |= dict(_bytes_of(component, name))
    return found


def differences(one: Any, other: Any) -> set[str]:
    """Names of what two fitted estimators do not share, the settings of their binarisers left out."""
    ours, theirs = fingerprint(one), fingerprint(other)
    changed = {name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)}
    return {name for name in changed if ".binariser." not in name}


def _bytes_of(value: object, name: str = "") -> Iterator[tuple[str, object]]:
    if is_dataclass(value):
        for field in fields(value):
            yield from _bytes_of(getattr(value, field.name), f"{name}.{field.name}")
    elif isinstance(value, tuple) and any(map(is_dataclass, value)):
        for number, each in enumerate(value):
            yield from _bytes_of(each, f"{name}.{number}")
    elif isinstance(value, np.ndarray):
        yield name, (str(value.dtype), value.shape, value.tobytes())
    else:
        yield name, value
