"""Words in text without blanks: conventions, what is learned of trees, parsers, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

import spectralnlp
from spectralnlp import registry
from spectralnlp.errors import ConfigError, ModelError
from spectralnlp.estimators.parser.segmenter import known_words, learn_segmenter, tagged_words
from spectralnlp.estimators.shared.treebank import Treebank
from spectralnlp.inference.chains.segmentation import (
    ChainSegmenter,
    character_keys,
    tags_of_words,
    word_codes,
)
from spectralnlp.models.parser import Parser
from spectralnlp.runtime import accumulate
from spectralnlp.tasks.raw_text import evaluate_raw
from spectralnlp.text.conventions import Conventions
from spectralnlp.text.detokenizer import place_words, text_of
from spectralnlp.text.scripts import is_continuous, script_of
from spectralnlp.text.sentences import split_sentences
from spectralnlp.text.tokenizer import Tokenizer
from spectralnlp.trees import Tree, read_brackets
from spectralnlp.trees.treelog import TreeLog

NOUNS = ("灯台", "港", "船", "カモメ", "かもめ", "漁師", "朝", "霧", "ランプ", "東京湾")
VERBS = ("見る", "待つ", "照らす", "歩く", "書く", "読む", "のぼる")


def made_up_trees(number: int) -> list[Tree]:
    """Trees of a small language in the way of Japanese."""
    random = Random(0)
    return list(
        read_brackets(
            f"(IP (PP (NP (N {random.choice(NOUNS)})) (P は)) "
            f"(PP (NP (N {random.choice(NOUNS)})) (P {random.choice('をに')})) "
            f"(VB {random.choice(VERBS)}) (PU 。))"
            for _ in range(number)
        )
    )


@pytest.fixture(scope="module")
def parser() -> Parser:
    trainer = registry.estimators.get("pcfg")(segmenter=True)
    trained: Parser = spectralnlp.train(trainer, made_up_trees(500))
    return trained


def test_scripts() -> None:
    assert is_continuous("3港")
    assert not is_continuous("Sjónarhóll, 서울 2!")
    assert [script_of(c) for c in "あア港ーA１,"] == [
        *("HIRAGANA", "KATAKANA", "CJK", "KATAKANA-HIRAGANA", "LATIN", "Nd", "Po")
    ]


def test_whether_words_are_apart_is_seen_in_the_treebank() -> None:
    apart = Conventions.learn(["Båten", "går", "。", "港"])
    joined = Conventions.learn(["船", "が", "出る", "GO"])
    assert (apart.words_apart, joined.words_apart) == (True, False)
    assert "words_apart" not in apart.to_dict()
    for each in (apart, joined):
        assert Conventions.from_dict(json.loads(json.dumps(each.to_dict()))) == each


def test_text_of_words_that_are_not_written_apart() -> None:
    conventions = Conventions(words_apart=False)
    sentence = place_words(["「", "New", "York", "の", "3", "月", "」"], None, conventions)
    assert text_of([sentence]) == "「New Yorkの3月」"


def test_closing_marks_of_other_scripts_belong_to_the_sentence_before() -> None:
    class Characters:
        def ends(self, text: str) -> list[int]:
            return list(range(1, len(text) + 1))

    tokenizer = Tokenizer(Conventions(words_apart=False), segmenter=Characters())
    lines = ["「船が出る。」彼は（行く。）\n"]
    found = [
        "".join(sentence.words) for sentence in split_sentences(lines, tokenizer) if sentence is not None
    ]
    assert found == ["「船が出る。」", "彼は（行く。）"]


def test_text_without_a_segmenter_is_refused_in_a_line() -> None:
    tokenizer = Tokenizer(Conventions(words_apart=False))
    assert [token.text for token in tokenizer.tokenize("It's 3.")] == ["It", "'s", "3", "."]
    with pytest.raises(ConfigError, match=r"cannot segment text without blanks; give tokens") as refused:
        list(tokenizer.tokenize("船が出る"))
    assert "\n" not in str(refused.value)
    tagger = spectralnlp.train(
        spectralnlp.CRFTagger(epochs=1), [(["船", "が", "出る"], ["N", "P", "VB"])] * 5
    )
    with pytest.raises(ConfigError, match="cannot segment"):
        tagger.tag("船が出る")
    assert tagger.tag_tokens(["船", "が", "出る"]).tags == ("N", "P", "VB")


def test_words_are_found(parser: Parser) -> None:
    text = "カモメは東京湾を見る。  漁師は朝に歩く。"
    parses = parser.parse(text)
    assert [token.text for parse in parses for token in parse.sentence.tokens] == [
        *("カモメ", "は", "東京湾", "を", "見る", "。", "漁師", "は", "朝", "に", "歩く", "。")
    ]
    assert all(text[t.start : t.end] == t.text for parse in parses for t in parse.sentence.tokens)
    (unknown,) = parser.parse("ヨットは港に待つ。")
    assert unknown.sentence.words[1:] == ["は", "港", "に", "待つ", "。"]


def test_words_have_the_same_tags_in_training_and_in_the_parser(parser: Parser) -> None:
    log = TreeLog(parser.grammar_sets[0].binariser.to_dict())
    accumulate(log, spectralnlp.InMemoryCorpus(made_up_trees(500)))
    sentences = tagged_words(Treebank.of([log]).first)
    assert sentences is not None
    known = tags_of_words(parser.coarse)
    assert {word: set(tags) for word, tags in known.items()} == known_words(sentences)
    assert word_codes(known) == word_codes(known_words(sentences))


def test_features_name_the_tags_of_known_words() -> None:
    keys = [
        character_keys(["港を見る"], word_codes({"港": tags, "見る": {"VB"}}))
        for tags in ({"N"}, {"P"}, {"P", "N"}, ["N", "P"])
    ]
    differ = [(each != keys[0]).any(axis=1).tolist() for each in keys[1:3]]
    assert differ == [[True, True, False, False]] * 2  # the word, and what follows it
    assert np.array_equal(keys[2], keys[3])


def test_features_of_a_text_do_not_depend_on_the_text_before() -> None:
    words = word_codes({"船": {"N"}, "港": {"N"}, "東京湾": {"N"}})
    apart = [character_keys([text], words) for text in ("東京湾", "港の船")]
    assert np.array_equal(character_keys(["東京湾", "港の船"], words), np.concatenate(apart))


def test_tags_are_places_in_words_and_the_most_frequent_parts_of_speech() -> None:
    sentences = [[("船", "N"), ("出る", "VB"), ("見つける", f"X{i % 20}")] for i in range(100)]
    weights = learn_segmenter(sentences, np.arange(100, dtype=np.int32) // 20, random_state=0)
    assert {"S-N", "B-VB", "E-VB", "B-*", "I-*", "E-*"} <= set(weights.tags)
    assert len({tag[2:] for tag in weights.tags}) == 15
    assert not {"I-VB", "E-N", "B-N"} & set(weights.tags)


def test_raw_evaluation(parser: Parser) -> None:
    report = evaluate_raw(parser, spectralnlp.InMemoryCorpus(made_up_trees(40)))
    assert report.to_flat_dict()["token_f1"] == 100


def test_a_parser_is_saved_with_its_segmenter(parser: Parser, tmp_path: Any) -> None:
    parser.save(tmp_path / "model")
    loaded = spectralnlp.load(tmp_path / "model")
    text = "船は霧を照らす。"
    assert [str(each.tree) for each in loaded.parse(text)] == [str(each.tree) for each in parser.parse(text)]


@pytest.mark.parametrize(
    "change", [lambda tags: [*tags[:-1], "x"], lambda tags: [*tags[:-1], ""], lambda _: []]
)
def test_tags_of_another_model_are_refused(
    parser: Parser, tmp_path: Any, change: Callable[[list[str]], list[str]]
) -> None:
    parser.save(tmp_path / "model")
    path = tmp_path / "model" / "model.json"
    header = json.loads(path.read_text("utf-8"))
    segmenter = header["metadata"]["components"]["segmenter"]
    segmenter["tags"] = change(segmenter["tags"])
    path.write_text(json.dumps(header), encoding="utf-8")
    with pytest.raises(ModelError):
        spectralnlp.load(tmp_path / "model")


def test_nothing_is_learned_where_words_are_apart_or_trees_are_few() -> None:
    trainer = registry.estimators.get("pcfg")(segmenter=True)
    english = list(read_brackets(["(S (NP (NN fog)) (VP (VBZ falls)))"])) * 500
    assert trainer.fit(english).components_ == {}
    assert registry.estimators.get("pcfg")(segmenter=True).fit(made_up_trees(499)).components_ == {}


def test_long_text_and_single_characters() -> None:
    words = [list(zip(tree.words(), tree.tags(), strict=True)) for tree in made_up_trees(100)]
    weights = learn_segmenter(words, np.zeros(100, np.int32), random_state=0)
    segmenter = ChainSegmenter(weights, known_words(words))
    assert segmenter.ends("𠮟") == [1]
    ends = segmenter.ends("船は港を見る。" * 2000)
    assert ends[-1] == 14_000
    assert ends == sorted(set(ends))
