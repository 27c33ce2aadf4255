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


MISSING = [None, float("nan")]


@pytest.mark.parametrize("value", MISSING)
@pytest.mark.parametrize(
    ("estimator", "records", "message"),
    [
        ("tagger", [{"tokens": ["a"], "tags": ["X"]}, {"tokens": ["a"], "tags": [...]}], "tag 1 is"),
        ("rhmm", [{"tokens": ["a"], "tags": ["X"]}, {"tokens": ["a"], "tags": [...]}], "tag 1 is"),
        ("tagger", [{"tokens": ["a"], "tags": ["X"]}, {"tokens": [...], "tags": ["X"]}], "token 1 is"),
        ("tagger", [{"tokens": ["a"], "tags": ["X"]}, {"tokens": ..., "tags": ["X"]}], "a list of tokens"),
        ("hmm", [{"tokens": ["a"]}, {"tokens": ["a", ...]}], "symbol 2 is"),
        ("hmm", [{"tokens": ["a"]}, {"tokens": ...}], "a list of symbols"),
        ("topics", [{"text": "a"}, {"text": ...}], "where tokens are expected"),
        ("eigenwords", [{"text": "a"}, {"text": ...}], "where tokens are expected"),
        ("hashed-ngrams", [{"text": "a"}, {"text": ...}], "the text of a record is"),
        ("sent", [{"text": "a"}, {"text": ...}], "the text of a record is"),
        ("intent", [{"text": "a", "label": "x"}, {"text": ..., "label": "y"}], "the text of a record is"),
        ("intent", [("a", "x"), (..., "y")], "an example is"),
        ("pcfg", [{"tree": "(S (A a))"}, {"tree": ...}], "where a tree is expected"),
        ("lpcfg", [{"tree": "(S (A a))"}, {"tree": ...}], "where a tree is expected"),
    ],
)
def test_missing_values_are_refused_with_their_row(
    estimator: str, records: Any, message: str, value: Any
) -> None:
    def filled(each: Any) -> Any:
        if isinstance(each, dict):
            return {name: filled(inner) for name, inner in each.items()}
        if isinstance(each, list | tuple):
            return type(each)(map(filled, each))
        return value if each is ... else each

    with pytest.raises(InputError, match=rf"sentence 2\)?: .*{message}.*") as refusal:
        spectralnlp.train(estimator, filled(records))
    assert type(value).__name__ in str(refusal.value)


def test_a_missing_label_means_that_a_text_is_unlabelled() -> None:
    texts = ["how much is it", "what does it cost", "when does it leave", "at what hour is the boat"]
    labels = ["price", "price", "times", "times"]
    table = {"text": [*texts, "a boat", "a bus"], "label": [*labels, *MISSING]}
    assert spectralnlp.train("intent", table).labels == ("price", "times")


def test_another_column_does_not_stand_in_for_missing_tags() -> None:
    with pytest.raises(InputError, match=r"sentence 1\): the field 'tags' has no tag for each token"):
        list(TaggingTask().in_memory([{"tokens": ["a"], "tags": None, "upos": ["X"]}]))
    # A column that is not learned may hold anything.
    (sentence,) = TaggingTask().in_memory([{"tokens": ["a"], "tags": ["X"], "score": [None]}])
    assert sentence.tagged() == (("a",), ("X",))


def test_gold_tags_that_are_missing_are_refused() -> None:
    tagger = spectralnlp.train("tagger", [(["a", "b"], ["X", "Y"])] * 10, epochs=1)
    with pytest.raises(InputError, match=r"memory \(sentence 2\): tag 1 is NoneType"):
        spectralnlp.evaluate(tagger, [(["a"], ["X"]), (["a"], [None])])


@pytest.mark.parametrize(
    ("tree", "message"), [("(S (A a", "sentence 1"), ("(A a) (A b)", "2 trees"), ("", "0 trees")]
)
def test_a_field_with_no_tree_or_several_is_refused_with_its_row(tree: str, message: str) -> None:
    with pytest.raises(InputError, match=r"memory \(sentence 2\): ") as refusal:
        list(ParsingTask().in_memory([{"tree": "(A a)"}, {"tree": tree}]))
    assert message in str(refusal.value) or "bracket" in str(refusal.value)
