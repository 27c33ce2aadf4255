"""Learning where sentences end: the same bytes each time, stored with the grammar, and headings found."""

from __future__ import annotations

import io
import json
import pickle
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectralnlp import changes, load
from spectralnlp.cli.blocks import _blocks_of
from spectralnlp.errors import ModelError
from spectralnlp.estimators.parser.parsers import LPCFGParser
from spectralnlp.inference.sentences.describe import case_of
from spectralnlp.inference.sentences.features import CAPITAL, CAPITALS, LETTER, MARK, MIXED, NUMBER, SMALL
from spectralnlp.models.parser import Parser
from spectralnlp.runtime import Corpus, Partition
from spectralnlp.storage import ARRAYS, META, load_model, save_model
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.text.sentence_ends import MAX_TOKENS
from spectralnlp.text.sentences import may_cut, split_sentences
from spectralnlp.trees import Tree, read_brackets

SMALL_GRAMMAR: dict[str, Any] = {
    "grammars": "clusters",
    "n_states": 1,
    "pruner_states": 0,
    "em_iterations": 0,
    "span_scorer": False,
    "closed_cells": False,
}
SUBJECTS = ["(NP (DT The) (NN keeper))", "(NP (PRP She))", "(NP (NNP Marta))", "(NP (DT A) (NN ship))"]
VERBS = ["(VBD saw)", "(VBZ likes)", "(VBD met)", "(VBZ watches)", "(VBD painted)"]
OBJECTS = ["(NP (DT the) (NN lamp))", "(NP (PRP it))", "(NP (JJ small) (NNS boats))", "(NP (NNP Tor))"]
REST = ["", " (PP (IN in) (NP (NNP June)))", " (ADVP (RB again))"]
HEADINGS = [
    "(NP (JJ Old) (NNS Lamps))",
    "(NP (NNS Boats) (CC and) (NNS Ships))",
    "(NP (DT The) (NN Harbour))",
    "(NP (NNP Contents))",
]


class Documents(Corpus[Tree]):
    """A document a list of trees, perhaps of several partitions."""

    def __init__(self, documents: Sequence[Sequence[Tree]], size: int = 10_000) -> None:
        self.parts = [
            Partition(f"document {n}", n, start, partial(iter, trees[start : start + size]))
            for n, trees in enumerate(documents)
            for start in range(0, len(trees), size)
        ]

    def partitions(self) -> Sequence[Partition[Tree]]:
        return self.parts


def documents(headings: bool = True) -> list[list[Tree]]:
    """20 documents of 40 trees; every fifth tree is a heading, without a stop."""
    sentences = [
        f"(TOP (S {subject} (VP {verb} {thing}{rest}) (. .)))"
        for subject, verb, thing, rest in product(SUBJECTS, VERBS, OBJECTS, REST)
    ]
    rng = np.random.default_rng(0)
    found = []
    for _ in range(20):
        lines = [str(rng.choice(sentences)) for _ in range(40)]
        if headings:
            lines[::5] = [f"(TOP {rng.choice(HEADINGS)})" for _ in lines[::5]]
        found.append(list(read_brackets(lines)))
    return found


def train(trees: Corpus[Tree], **settings: Any) -> Parser:
    parser: Parser = ParsingTask().train(LPCFGParser(**SMALL_GRAMMAR, **settings), trees)
    return parser


@pytest.fixture(scope="module")
def parser() -> Parser:
    return train(Documents(documents()))


def split(parser: Parser, text: str) -> list[str]:
    return [" ".join(sentence.words) for sentence in parser.sentences(io.StringIO(text))]


def test_headings_without_a_stop_are_sentences(parser: Parser) -> None:
    sentences = [
        "Old Lamps",
        "Marta met Tor .",
        "Boats and Ships",
        "She likes it in June .",
        "A ship saw it .",
    ]
    assert split(parser, " ".join(sentences)) == sentences
    assert split(parser, " ".join(sentences).replace(" .", ".")) == sentences
    assert split(replace(parser, components={}), " ".join(sentences)) == [
        "Old Lamps Marta met Tor .",
        "Boats and Ships She likes it in June .",
        "A ship saw it .",
    ]


def test_line_ends_stay_evidence(parser: Parser) -> None:
    assert split(parser, "Old Lamps\n\nBoats and\n\nShips\nMarta met Tor.\nShe\n") == [
        "Old Lamps",
        "Boats and",
        "Ships",
        "Marta met Tor .",
        "She",
    ]


def test_the_same_trees_give_the_same_bytes(parser: Parser) -> None:
    model, again = (each.components["sentence_ends"] for each in (parser, train(Documents(documents(), 7))))
    assert (model.weights.tobytes(), model.threshold) == (again.weights.tobytes(), again.threshold)
    other = train(Documents(documents()), random_state=1).components["sentence_ends"]
    assert model.weights.tobytes() != other.weights.tobytes()


def test_where_nothing_is_learned(parser: Parser) -> None:
    few, single = documents()[:10], [[tree] for trees in documents() for tree in trees]
    assert "sentence_ends" not in train(Documents(few)).components
    assert "sentence_ends" not in train(Documents(single)).components
    assert (
        "sentence_ends" not in train(Documents(documents(headings=False))).components
    )  # the rules are right
    assert "sentence_ends" not in train(Documents(documents()), sentence_ends=False).components
    one_document = [[tree for trees in documents() for tree in trees]]
    assert "sentence_ends" in train(Documents(one_document)).components


def test_ends_are_learned_again_by_updates(tmp_path: Path) -> None:
    kept = changes.train(
        "lpcfg.v1", LPCFGParser(**SMALL_GRAMMAR), Documents(documents()[:-1]), unit="file"
    ).kept
    never = changes.train("lpcfg.v1", LPCFGParser(**SMALL_GRAMMAR), Documents(documents()), unit="file")
    never.save(tmp_path / "never")
    changes.update(kept, Documents(documents()[-1:])).save(tmp_path / "updated")
    assert "sentence_ends" in load(tmp_path / "updated").components
    for name in (ARRAYS, META):
        assert (tmp_path / "never" / name).read_bytes() == (tmp_path / "updated" / name).read_bytes()


@pytest.mark.parametrize("compact", [False, True])
def test_the_model_is_stored_with_the_grammar(parser: Parser, tmp_path: Path, compact: bool) -> None:
    parser.save(tmp_path / "model", compact=compact)
    loaded = load(tmp_path / "model")
    read, model = (each.components["sentence_ends"] for each in (loaded, parser))
    assert read.threshold == model.threshold
    np.testing.assert_allclose(read.weights, model.weights, rtol=0.01, atol=1e-4)
    text = "Old Lamps Marta met Tor. Contents A ship saw it"
    assert split(loaded, text) == split(parser, text)
    sent = pickle.loads(pickle.dumps(loaded.tokenizer))  # as to another process
    assert list(split_sentences([text], sent)) == list(loaded.sentences([text]))


def test_a_folder_without_the_model_goes_by_rules(parser: Parser, tmp_path: Path) -> None:
    replace(parser, components={}).save(tmp_path / "model")
    header = json.loads((tmp_path / "model" / META).read_text(encoding="utf-8"))
    assert "sentence_ends" not in header["metadata"]["components"]
    loaded = load(tmp_path / "model")
    assert loaded.tokenizer.ends is None


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(3, np.float32), "power of two"),
        (np.full(4, np.nan, np.float32), "NaN"),
        (np.zeros(4, np.int32), "int32"),
        (np.zeros((2, 2), np.float32), "shape"),
    ],
)
def test_bad_weights_are_refused(parser: Parser, tmp_path: Path, weights: Any, message: str) -> None:
    parser.save(tmp_path / "good")
    stored = load_model(tmp_path / "good")
    arrays = {**stored.arrays, "sentence_ends.weights": weights}
    save_model(
        tmp_path / "bad", kind=stored.kind, metadata=stored.metadata, arrays=arrays, card="# A model\n"
    )
    with pytest.raises(ModelError, match=message) as error:
        load(tmp_path / "bad")
    assert "sentence_ends.weights" in str(error.value)


PIECES = ["Marta", "saw", "Old", "Lamps", "The", "it", ".", "?", '"', ")", "(", ",", "...", "J.", "—", "1."]
LINES = st.lists(st.sampled_from(PIECES), max_size=9).map(" ".join) | st.sampled_from(
    ["", " ", "word " * 12 + "end", "Long " * 30, "Old Lamps The keeper saw it " * 9, "An end.", "no end"]
)


@given(lines=st.lists(LINES, max_size=12), n_lines=st.integers(1, 4))
def test_sentences_of_blocks_are_those_of_the_whole(parser: Parser, lines: list[str], n_lines: int) -> None:
    tokenizer = parser.tokenizer
    whole = list(split_sentences((line + "\n" for line in lines), tokenizer))
    cut = _blocks_of(lines, "text", n_lines, lambda line: may_cut(line, tokenizer))
    assert [each for block in cut for each in block.sentences(tokenizer)] == whole


@given(st.lists(st.sampled_from([*PIECES, "\n"]), max_size=200), st.integers(1, 20))
def test_sentences_do_not_depend_on_how_much_is_decided_at_a_time(
    parser: Parser, pieces: list[str], batch: int
) -> None:
    text = " ".join(pieces)
    whole = list(split_sentences(io.StringIO(text), parser.tokenizer))
    tokens = list(parser.tokenizer.tokenize(text))
    assert [token for sentence in whole for token in sentence.tokens] == tokens
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spectralnlp.inference.sentences.ends.LearnedSentenceEnds.batch", batch)
        assert list(split_sentences(io.StringIO(text), parser.tokenizer)) == whole


def test_a_finished_sentence_does_not_wait_for_the_next_line(parser: Parser) -> None:
    read: list[str] = []

    def lines() -> Iterator[str]:
        for line in ("Old Lamps Marta met Tor.\n", "Third.\n"):
            read.append(line)
            yield line

    sentences = split_sentences(lines(), parser.tokenizer)
    assert [next(sentences).words for _ in range(2)] == [["Old", "Lamps"], ["Marta", "met", "Tor", "."]]
    assert len(read) == 1


def test_a_sentence_that_never_ends_is_cut_and_memory_bounded(parser: Parser) -> None:
    def lines() -> Iterator[str]:
        for _ in range(3000):
            yield "and so it goes on,\n"

    list(split_sentences(["Marta met Tor."], parser.tokenizer))
    tracemalloc.start()
    lengths = [len(sentence) for sentence in split_sentences(lines(), parser.tokenizer)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert set(lengths[:-1]) == {MAX_TOKENS}
    assert sum(lengths) == 18_000
    assert peak < 5_000_000


def test_a_line_longer_than_memory_comes_in_pieces(parser: Parser) -> None:
    text = "Old Lamps Marta met Tor. " * 8000
    sentences = list(split_sentences([text], parser.tokenizer))
    assert {tuple(s.words) for s in sentences} == {("Old", "Lamps"), ("Marta", "met", "Tor", ".")}
    assert len(sentences) == 16_000


def test_cases() -> None:
    cases = {
        SMALL: ["saw", "n't", "’s", "你好"],
        CAPITAL: ["Marta", "Mr.", "McTaggart"],
        CAPITALS: ["NATO", "U.S."],
        LETTER: ["A", "J."],
        NUMBER: ["12", "3.5", "1/2"],
        MARK: [".", "-LRB-", "—"],
        MIXED: ["iPhone", "A4", "1st"],
    }
    assert {word: case_of(word) for words in cases.values() for word in words} == {
        word: case for case, words in cases.items() for word in words
    }
