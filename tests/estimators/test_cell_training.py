"""Learning which cells open: the same bytes each time, stored with the grammar, and few true spans closed."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from grammar_bytes import own_trees

from spectralnlp import load
from spectralnlp.errors import ModelError
from spectralnlp.estimators.parser import open_cells
from spectralnlp.estimators.parser.parsers import LPCFGParser
from spectralnlp.models.parser import Parser
from spectralnlp.runtime import InMemoryCorpus
from spectralnlp.storage import load_model, save_model
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree

SMALL: dict[str, Any] = {
    "grammars": "clusters",
    "n_states": 2,
    "pruner_states": 0,
    "binarisations": "head+left",
}


@pytest.fixture(scope="module")
def examples(own_treebank: Path) -> list[Tree]:
    return own_trees(own_treebank)


@pytest.fixture(scope="module")
def parser(examples: list[Tree]) -> Parser:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(open_cells.OpenCells, "least_trees", 100)
        return ParsingTask().train(LPCFGParser(**SMALL), InMemoryCorpus(examples))


def test_the_same_trees_give_the_same_bytes(
    examples: list[Tree], parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_cells.OpenCells, "least_trees", 100)
    model, again = (
        parser.components["open_cells"],
        LPCFGParser(**SMALL).fit(InMemoryCorpus(examples, 3)).components_["open_cells"],
    )
    assert model is not None
    assert again is not None
    assert model.weights.tobytes() == again.weights.tobytes()
    assert model.threshold == again.threshold
    assert 0 < model.threshold <= 3e-4


def test_true_spans_stay_open_and_many_others_do_not(parser: Parser, own_treebank: Path) -> None:
    n_open, n_cells, n_true, n_closed = 0, 0, 0, 0
    for tree in own_trees(own_treebank, "dev.mrg"):
        given = parser.look_up(Sentence.from_words(parser.conventions.forms(tree.words())))
        first, cell_marginals = given.cells, given.cell_marginals
        assert first is not None
        assert cell_marginals is not None
        spans = set(zip(first.start.tolist(), first.end.tolist(), strict=True))
        true = {(start, end) for _, start, end in tree.spans()}
        n_open, n_cells = n_open + len(spans), n_cells + len(cell_marginals.marginals)
        n_true, n_closed = n_true + len(true), n_closed + len(true - spans)
    assert n_closed / n_true < 0.02
    assert n_open / n_cells < 0.9


def test_neighbours_are_joined_as_one_sentence(examples: list[Tree]) -> None:
    learned: list[Any] = []

    def learn(sentences: Any, order: Any, step: int, learner: Any) -> None:
        learned.append((sentences, order))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(open_cells.OpenCells, "least_trees", 100)
        patch.setattr(open_cells, "learn", learn)
        LPCFGParser(**SMALL).fit(InMemoryCorpus(examples))
    sentences, order = learned[0]
    n, n_alone = len(sentences.tokens) - 1, len(examples)
    assert n_alone < n < 1.4 * n_alone
    assert sorted(order.tolist())[-(n - n_alone) :] == list(range(n_alone, n))
    words = [
        sentences.attributes.word[a:b].tolist() for a, b in itertools.pairwise(sentences.tokens.tolist())
    ]
    spans = [
        set(zip(sentences.start[a:b].tolist(), sentences.end[a:b].tolist(), strict=True))
        for a, b in itertools.pairwise(sentences.spans.tolist())
    ]
    marks = np.split(sentences.attributes.marks, np.cumsum(np.diff(sentences.tokens) + 1)[:-1])
    for both in range(n_alone, n):
        firsts = [s for s in range(n_alone - 1) if words[s] + words[s + 1] == words[both]]
        matching = [
            s
            for s in firsts
            if spans[both] == spans[s] | {(a + len(words[s]), b + len(words[s])) for a, b in spans[s + 1]}
        ]
        assert matching
        s = matching[0]
        assert marks[both].tolist() == [*marks[s][:-1], *(marks[s][-1] + marks[s + 1])]


def test_too_few_trees_close_nothing(examples: list[Tree]) -> None:
    assert LPCFGParser(**SMALL).fit(InMemoryCorpus(examples)).components_ == {}


def test_the_switch_closes_nothing(examples: list[Tree], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_cells.OpenCells, "least_trees", 100)
    assert LPCFGParser(**SMALL, closed_cells=False).fit(InMemoryCorpus(examples)).components_ == {}


@pytest.mark.parametrize("compact", [False, True])
def test_the_model_is_stored_with_the_grammar(parser: Parser, tmp_path: Path, compact: bool) -> None:
    parser.save(tmp_path / "model", compact=compact)
    loaded = load(tmp_path / "model")
    model, read = parser.components["open_cells"], loaded.components["open_cells"]
    assert read.threshold == model.threshold
    np.testing.assert_allclose(read.weights, model.weights, rtol=0.01, atol=1e-5)
    words = ["The", "keeper", "lit", "the", "lamp", "."]
    trees = [each.parse_tokens(words).tree for each in (parser, loaded, replace(loaded, components={}))]
    assert trees[0].words() == words
    assert trees[0] == trees[1]


def test_a_folder_without_the_model_opens_everything(parser: Parser, tmp_path: Path) -> None:
    replace(parser, components={}).save(tmp_path / "model")
    header = json.loads((tmp_path / "model" / "model.json").read_text(encoding="utf-8"))
    assert header["metadata"]["components"] == {}
    loaded = load(tmp_path / "model")
    assert loaded.look_up(Sentence.from_words(["a", "b"])).cell_marginals is None


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(3, np.float32), "power of two"),
        (np.zeros(0, np.float32), "power of two"),
        (np.full(4, np.nan, np.float32), "NaN"),
        (np.zeros(4, np.int32), "int32"),
        (np.zeros((2, 2), np.float32), "shape"),
    ],
)
def test_bad_weights_are_refused(parser: Parser, tmp_path: Path, weights: Any, message: str) -> None:
    parser.save(tmp_path / "good")
    stored = load_model(tmp_path / "good")
    arrays = {**stored.arrays, "open_cells.weights": weights}
    save_model(
        tmp_path / "bad", kind=stored.kind, metadata=stored.metadata, arrays=arrays, card="# A model\n"
    )
    with pytest.raises(ModelError, match=message) as error:
        load(tmp_path / "bad")
    assert "open_cells.weights" in str(error.value)


def test_one_model_serves_all_binarisations(parser: Parser) -> None:
    forms = parser.conventions.forms(["The", "keeper", "lit", "the", "lamp", "."])
    found = parser.forest_parser.infer(parser.look_up(Sentence.from_words(forms)))
    assert len(found.scored) == len(parser.grammar_sets)
    assert not found.coarse_only
