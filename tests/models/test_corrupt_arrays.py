"""Models whose arrays were edited, with valid digests: refused in one line, before any kernel sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spectralnlp
from spectralnlp.cli.app import run
from spectralnlp.errors import ModelError
from spectralnlp.storage import StoredModel, load_model, save_model

Array = np.ndarray[Any, Any]

# Integers that are no index, so that none is too large: counts of words, hashes, numbers of clusters.
UNBOUNDED = ("counts", "keys", "clusters")


def model_folders(own_corpora: Path, words: dict[str, Path]) -> dict[str, list[str]]:
    """The arguments of ``spectralnlp train`` for each kind of model."""
    trees, text = str(own_corpora / "treebank" / "dev.mrg"), str(own_corpora / "text" / "lighthouse.txt")
    intents = str(own_corpora / "intents" / "dev.tsv")
    tokens = str(own_corpora / "text" / "tokenized.txt")
    hmm = settings(n_states=3, min_count=1)
    vectors = settings(eigenwords=words["words"])
    return {
        "sparse grammars": ["pcfg", trees],
        "dense grammars": ["lpcfg", trees, *settings(preset="tutorial", n_states=4)],
        "tagger": ["tagger", trees, *vectors, *settings(epochs=1)],
        "rhmm tagger": ["rhmm", trees, *settings(models="tensors+clusters", n_states=3, n_clusters=3)],
        "operators": ["hmm", tokens, *hmm],
        "hidden states": ["hmm-em", tokens, *settings(n_states=3, iterations=2)],
        "eigenwords": ["eigenwords", text, *settings(dimensions=4, min_count=1, clusters=3)],
        "topics": ["topics", text, *settings(n_topics=2, min_documents=1, max_share=0.9)],
        "intents": ["intent", intents],
    }


def settings(**values: object) -> list[str]:
    return [word for name, value in values.items() for word in ("--set", f"{name}={value}")]


KINDS = tuple(model_folders(Path(), {"words": Path()}))
COMPACT = ("dense grammars", "tagger")


@pytest.fixture(scope="module")
def folders(
    own_corpora: Path, word_folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """A folder with a model of a kind, trained when it is first asked for."""
    root, arguments = tmp_path_factory.mktemp("models"), model_folders(own_corpora, word_folders)

    def folder(kind: str) -> Path:
        path = root / kind
        if not path.exists():
            if kind.startswith("compact "):
                spectralnlp.load(folder(kind.removeprefix("compact "))).save(path, compact=True)
            else:
                assert run(["train", *arguments[kind], "-o", str(path)]) == 0
        return path

    return folder


def corrupted(name: str, array: Array) -> Iterator[tuple[str, Array]]:
    """Arrays that are not what a model needs, with what was done to them."""
    yield "another dtype", array.astype(np.int32 if array.dtype.kind == "f" else np.float32)
    yield "a wider dtype", array.astype(np.int64 if array.dtype == np.int32 else np.float64)
    yield "one more axis", array[None]
    if not array.size:
        return
    yield "a row less", array[:-1]
    if not name.endswith("operators"):  # one that no symbol has is not missed
        yield "a row more", np.concatenate([array, array[-1:]])
    if array.ndim > 1:
        yield "a column less", np.ascontiguousarray(array[..., :-1])
    if array.dtype.kind == "f":
        for value in (np.nan, np.inf):
            yield f"one {value}", edited(array, value)
        return
    if array.dtype.kind == "i":
        yield "a negative number", edited(array, -7)
    if name.rpartition(".")[2] not in UNBOUNDED:
        yield "the largest number", edited(array, np.iinfo(array.dtype).max)
    if name.endswith(("keys", "columns", "rules", "pairs")):
        yield "another order", array[::-1].copy()
    if name.endswith(("lexicon.tags", "0.tags")) or name == "tags":
        yield "another order", array[::-1].copy()
    if name.endswith(("starts", "offsets")):
        yield "falling offsets", edited(array, array[-1], at=len(array) // 2 - 1)[::-1].copy()
        yield "offsets that end too early", np.minimum(array, array[-1] - 1)


def edited(array: Array, value: float, at: int = -1) -> Array:
    copy = array.copy()
    copy.flat[at] = value
    return copy


def resave(stored: StoredModel, path: Path, **arrays: Array) -> None:
    """Write a model again with other arrays; sizes and digests are those of what is written."""
    save_model(
        path,
        kind=stored.kind,
        metadata=stored.metadata,
        arrays={**stored.arrays, **arrays},
        card="# A model\n",
    )


def refusal_of(path: Path, edit: str) -> str:
    """The message of the error that a model is refused with."""
    try:
        spectralnlp.load(path)
    except ModelError as error:
        return str(error)
    pytest.fail(f"{edit} was accepted")


@pytest.mark.parametrize("kind", [*KINDS, *(f"compact {kind}" for kind in COMPACT)])
def test_an_edited_array_is_refused_by_name(
    kind: str, folders: Callable[[str], Path], tmp_path: Path
) -> None:
    stored = load_model(folders(kind))
    for name, array in stored.arrays.items():
        for change, changed in corrupted(name, array):
            resave(stored, tmp_path / "model", **{name: changed})
            message = refusal_of(tmp_path / "model", f"{name} with {change}")
            where = f"{tmp_path / 'model' / 'arrays.safetensors'}: array "
            assert message.startswith(where), f"{name} with {change}: {message}"
            assert "\n" not in message
            assert message.endswith("; copy or train the model again")
    resave(stored, tmp_path / "model")
    spectralnlp.load(tmp_path / "model")


def test_trees_do_not_begin_with_nodes_of_binarisation(
    folders: Callable[[str], Path], tmp_path: Path
) -> None:
    stored = load_model(folders("dense grammars"))
    root = next(name for name in stored.arrays if name.endswith("root"))
    resave(stored, tmp_path / "model", **{root: np.ones_like(stored.arrays[root])})
    assert f"array {root} has probabilities for symbols" in refusal_of(tmp_path / "model", "another root")


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_array_is_refused_by_name(
    kind: str, folders: Callable[[str], Path], tmp_path: Path
) -> None:
    stored = load_model(folders(kind))
    optional = ("clusters", "context_vectors", "familiarity")
    for name in stored.arrays:
        if name.rpartition(".")[2] in optional:
            continue
        others = {other: array for other, array in stored.arrays.items() if other != name}
        save_model(tmp_path / "m", kind=stored.kind, metadata=stored.metadata, arrays=others, card="")
        with pytest.raises(ModelError, match="is missing") as refusal:
            spectralnlp.load(tmp_path / "m")
        assert name.rpartition(".")[0] in str(refusal.value)


NAMES = ("symbols", "words", "signatures", "tags", "labels", "contexts")


def shortened(value: Any) -> Iterator[tuple[str, Any]]:
    """JSON values with one list of names cut short, at any depth."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        for path, changed in shortened(each):
            copy = dict(value) if isinstance(value, dict) else list(value)
            copy[key] = changed  # type: ignore[index]
            yield f"{key}.{path}", copy
        if key in NAMES and isinstance(each, list) and each and isinstance(each[0], str):
            yield str(key), {**value, key: each[:-1]}


@pytest.mark.parametrize("kind", KINDS)
def test_names_that_do_not_fit_the_arrays_are_refused(
    kind: str, folders: Callable[[str], Path], tmp_path: Path
) -> None:
    stored = load_model(folders(kind))
    changes = list(shortened({name: each for name, each in stored.metadata.items() if name != "about"}))
    assert changes
    for _, metadata in changes:
        edited_names = {**stored.metadata, **metadata}
        save_model(tmp_path / "m", kind=stored.kind, metadata=edited_names, arrays=stored.arrays, card="")
        with pytest.raises(ModelError):
            spectralnlp.load(tmp_path / "m")
