"""Model folders: what is saved is what is loaded, or one line says why not."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

import spectralnlp
from spectralnlp import load
from spectralnlp.errors import ModelError, SpectralError
from spectralnlp.models.parser import Parser
from spectralnlp.parameters.tensors import TOLERANCE, DenseTensors, FactoredTensors
from spectralnlp.runtime import offsets_of
from spectralnlp.storage import StoredArrays
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.text.tokens import Sentence


def test_a_round_trip_keeps_the_trees(parser: Parser, own_treebank: Path, tmp_path: Path) -> None:
    parser.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert isinstance(loaded, Parser)
    trees = ParsingTask().read([own_treebank / "dev.mrg"])
    sentences = [Sentence.from_words(tree.words()) for tree in trees]
    for ours, theirs in zip(parser.parse_many(sentences), loaded.parse_many(sentences), strict=True):
        assert ours is not None
        assert theirs is not None
        assert ours.tree == theirs.tree
        assert ours.fallback == theirs.fallback
        assert ours.log_probability == pytest.approx(theirs.log_probability, abs=0.05)
    assert loaded.info == {**parser.info, **{k: v for k, v in loaded.info.items() if k == "parameters"}}
    assert loaded.conventions == parser.conventions
    assert (loaded.decoder, loaded.pruning) == (parser.decoder, parser.pruning)


def test_saving_what_was_loaded_changes_nothing_to_speak_of(parser: Parser, tmp_path: Path) -> None:
    parser.save(tmp_path / "once")
    load(tmp_path / "once").save(tmp_path / "twice")
    first, second = load(tmp_path / "once"), load(tmp_path / "twice")
    for ours, theirs in zip((first.coarse, *first.grammars), (second.coarse, *second.grammars), strict=True):
        np.testing.assert_allclose(ours.lexicon.values, theirs.lexicon.values, rtol=1e-6)
        scale = np.abs(ours.binary.values).max()
        np.testing.assert_allclose(ours.binary.values, theirs.binary.values, atol=5e-3 * scale)


def test_a_compact_model_is_smaller_and_parses_alike(parser: Parser, tmp_path: Path) -> None:
    parser.save(tmp_path / "full")
    parser.save(tmp_path / "compact", compact=True)
    full, compact = ((tmp_path / name / "arrays.safetensors").stat().st_size for name in ("full", "compact"))
    assert compact < 0.8 * full
    words = ["The", "keeper", "walks", "along", "the", "shore", "."]
    ours, theirs = (load(tmp_path / name) for name in ("full", "compact"))
    assert ours.parse_tokens(words).tree == theirs.parse_tokens(words).tree
    for one, other in zip((ours.coarse, *ours.grammars), (theirs.coarse, *theirs.grammars), strict=True):
        np.testing.assert_allclose(one.lexicon.values, other.lexicon.values, rtol=0.01, atol=1e-6)


def test_a_compact_model_keeps_seven_bits_of_a_number(parser: Parser, tmp_path: Path) -> None:
    """They are not rounded again, and the zeros after them pack."""
    parser.save(tmp_path / "compact", compact=True)
    load(tmp_path / "compact").save(tmp_path / "again", compact=True)
    once, again = (load_file(tmp_path / name / "arrays.safetensors") for name in ("compact", "again"))
    values = [name for name in once if name.endswith("lexicon.values")]
    assert values
    for name in values:
        assert (once[name].view(np.uint16) & 15 == 0).all()
        np.testing.assert_array_equal(once[name], again[name])


def test_factored_tensors_are_the_dense_ones(parsers: dict[str, Parser]) -> None:
    for grammar in parsers["lpcfg"].grammars:
        shapes = grammar.n_states[grammar.binary_rules]
        arrays = grammar.binary.to_arrays(shapes)
        assert (arrays["ranks"] > 0).any()
        found = FactoredTensors.from_arrays(StoredArrays(arrays), shapes, signed=True)
        for start, end in pairwise(grammar.binary.offsets.tolist()):
            dense = grammar.binary.values[start:end]
            error = np.linalg.norm(found.values[start:end] - dense)
            assert error <= 1.01 * TOLERANCE * np.linalg.norm(dense)


def test_tensors_are_scaled_and_joined_by_new_ones_as_they_are_stored() -> None:
    """Only cores are multiplied, and what comes out is what the multiplied tensors give."""
    rng = np.random.default_rng(1)
    shapes = np.array([(6, 5, 4), (2, 2, 2), (5, 5, 5)], np.int32)
    low_rank = np.einsum("a,b,c->abc", rng.random(6), rng.random(5), rng.random(4)).ravel()
    values = np.concatenate([low_rank, rng.random(8), rng.random(125)])
    dense = DenseTensors(offsets=offsets_of(shapes.prod(axis=1)), values=values)
    stored = FactoredTensors.from_arrays(StoredArrays(dense.to_arrays(shapes)), shapes, signed=False)
    assert stored.ranks.any()
    assert not stored.ranks.all()
    factors = np.array([np.nan, 2.0, 0.5, np.nan, np.nan, 3.0])
    new = [rng.random(3), rng.random(1), rng.random(8)]
    all_shapes = np.array([(1, 1, 3), *shapes[:2], (1, 1, 1), (2, 2, 2), shapes[2]], np.int32)
    ours, theirs = (each.extended(factors, all_shapes, new) for each in (stored, dense))
    expected = [new[0], 2 * low_rank, 0.5 * values[120:128], new[1], new[2], 3 * values[128:]]
    np.testing.assert_allclose(theirs.values, np.concatenate(expected))
    np.testing.assert_allclose(ours.values, theirs.values, rtol=2e-3)
    np.testing.assert_array_equal(ours.offsets, theirs.offsets)
    again = FactoredTensors.from_arrays(StoredArrays(ours.to_arrays(all_shapes)), all_shapes, signed=False)
    np.testing.assert_array_equal(again.values, ours.values)


def test_tensors_are_multiplied_out_when_they_are_asked_for(parser: Parser, tmp_path: Path) -> None:
    parser.save(tmp_path / "model")
    one, other = load(tmp_path / "model"), load(tmp_path / "model")
    words = ["The", "keeper", "climbs", "the", "stairs", "."]
    for copy in (one, pickle.loads(pickle.dumps(one))):  # a copy in another process is asked anew
        assert copy.parse_tokens(words) == other.parse_tokens(words)
    fresh = load(tmp_path / "model")
    for ours, theirs, third in zip(one.grammars, other.grammars, fresh.grammars, strict=True):
        if not isinstance(theirs.binary, FactoredTensors):
            continue
        whole, tensors = theirs.binary.values, third.binary
        rules = np.array([3, 0, 3], np.int32)
        some = tensors.with_rules(rules)
        for rule in rules:
            start, end = tensors.offsets[rule : rule + 2]
            assert some[start:end].tobytes() == whole[start:end].tobytes()
        assert ours.binary.values.tobytes() == tensors.values.tobytes() == whole.tobytes()


def test_the_same_parser_gives_the_same_bytes(parser: Parser, tmp_path: Path) -> None:
    for name in ("one", "two"):
        parser.save(tmp_path / name)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()


def test_the_card_names_estimator_and_data(parsers: dict[str, Parser], tmp_path: Path) -> None:
    parsers["lpcfg"].save(tmp_path / "model")
    card = (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    for wanted in ("LPCFG", "171 trees", "n_states"):
        assert wanted in card
    load(tmp_path / "model").save(tmp_path / "copy")
    assert (tmp_path / "copy" / "README.md").read_text(encoding="utf-8") == card


def edit(change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        file = folder / "model.json"
        header = json.loads(file.read_text(encoding="utf-8"))
        change(header)
        file.write_text(json.dumps(header), encoding="utf-8")

    return damage


def cut(name: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: len(content) // 2])

    return damage


DAMAGES: dict[str, Callable[[Path], None]] = {
    "arrays cut short": cut("arrays.safetensors"),
    "header cut short": cut("model.json"),
    "no arrays": lambda folder: (folder / "arrays.safetensors").unlink(),
    "no header": lambda folder: (folder / "model.json").unlink(),
    "another version": edit(lambda header: header.update(format_version=999)),
    "an older version": edit(lambda header: header.update(format_version=0)),
    "an unknown task": edit(lambda header: header.update(kind="fortune-telling")),
    "no grammars": edit(lambda header: header["metadata"].pop("grammar_sets")),
    "too many grammars": edit(lambda header: header["metadata"]["grammar_sets"][0].update(n_grammars=99)),
    "an odd binariser": edit(
        lambda header: header["metadata"]["grammar_sets"][0].update(binariser={"direction": "up"})
    ),
    "odd conventions": edit(lambda header: header["metadata"].update(conventions={"colour": "red"})),
    "odd pruning": edit(lambda header: header["metadata"].update(pruning={"shears": 1})),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_model_is_refused_in_one_line(
    damage: str, parsers: dict[str, Parser], tmp_path: Path
) -> None:
    parsers["pcfg"].save(tmp_path / "model")
    DAMAGES[damage](tmp_path / "model")
    with pytest.raises(SpectralError) as refusal:
        load(tmp_path / "model")
    assert "\n" not in str(refusal.value)
    assert isinstance(refusal.value, ModelError)


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    for name in (tmp_path / "nowhere", "no-such-model"):
        with pytest.raises(ModelError, match=r"no-such-model|nowhere"):
            spectralnlp.load(name)
