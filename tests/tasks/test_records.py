"""Data frames, columns and records in place of lists of examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import spectralnlp
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.runtime import InMemoryCorpus, as_record_corpus
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.tasks.tagging import TaggingTask

WORDS = [["a", "b", "a", "c"], ["b", "c"], ["c", "a", "b"]]


class Frame:
    """As much of a data frame as we look at."""

    def __init__(self, **columns: list[Any]) -> None:
        self.values, self.columns = columns, list(columns)

    def __getitem__(self, name: str) -> list[Any]:
        return self.values[name]


def test_tables_are_rows() -> None:
    rows = [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
    for table in ({"a": [1, 3], "b": [2, 4]}, Frame(a=[1, 3], b=[2, 4]), rows, iter(rows)):
        assert list(as_record_corpus(table, dict)) == rows
    with pytest.raises(InputError, match="different length"):
        as_record_corpus({"a": [1], "b": []}, dict)


def test_other_examples_are_converted_one_by_one() -> None:
    corpus = InMemoryCorpus([1, 2])
    assert as_record_corpus(corpus, dict) is corpus
    assert isinstance(as_record_corpus([{"a": 2}], dict), InMemoryCorpus)
    assert list(as_record_corpus(iter([1, {"a": 2}]), str)) == ["1", "{'a': 2}"]
    assert list(as_record_corpus([], dict)) == []
    with pytest.raises(ConfigError, match="a text or a path"):
        as_record_corpus("text", dict)


def test_trees_as_records(own_treebank: Path) -> None:
    trees = list(spectralnlp.read_treebank(own_treebank / "dev.mrg"))
    table = {"tree": [str(tree) for tree in trees]}
    assert list(ParsingTask().in_memory(table)) == trees
    assert list(ParsingTask().in_memory([{"parse": tree} for tree in trees])) == trees
    parser = spectralnlp.train("pcfg", table, vertical=0)
    assert spectralnlp.evaluate(parser, table).to_flat_dict()["f1"] > 90


def test_tagged_sentences_as_records() -> None:
    table = {
        "id": ["x", "y", "z"],
        "tokens": WORDS,
        "tags": [[word.upper() for word in each] for each in WORDS],
    }
    tagger = spectralnlp.train("tagger", table, epochs=2)
    assert tagger.tag_tokens(["a", "b"]).tags == ("A", "B")
    (sentence, *_) = TaggingTask().in_memory([{"words": ["a"], "xpos": ["X"], "upos": ["U"]}])
    assert (sentence.default, sentence.tagged("xpos")) == ("upos", (("a",), ("X",)))
    with pytest.raises(InputError, match="without tags"):
        list(TaggingTask().in_memory([{"tokens": ["a"]}]))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("field", ["tokens", "text"])
def test_words_as_records(field: str) -> None:
    table = {field: WORDS if field == "tokens" else [" ".join(each) for each in WORDS]}
    model = spectralnlp.train("hmm", table, n_states=1)
    assert model.info["training symbols"] == 9
    vectors = spectralnlp.train("eigenwords", table, dimensions=2, min_count=1)
    assert "a" in vectors


def test_a_task_without_records_says_so() -> None:
    with pytest.raises(ConfigError, match="a mapping is no example for parsing"):
        spectralnlp.Task.from_record(ParsingTask(), {"a": 1})
