"""Texts, token lists and batches of either, by the same names for every model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import spectralnlp
from spectralnlp.errors import InputError, SpectralError
from spectralnlp.runtime import use_engine
from spectralnlp.text.tokens import Sentence

TEXT = "The keeper waited. A dog barked!"
WORDS = [["The", "keeper", "waited", "."], ["A", "dog", "barked", "!"]]
TAGGED = [
    (("The", "keeper", "waited", "."), ("DT", "NN", "VBD", ".")),
    (("A", "dog", "barked", "!"), ("DT", "NN", "VBD", ".")),
]


@pytest.fixture(scope="module")
def tagger() -> Any:
    return spectralnlp.train("tagger", TAGGED * 6)


@pytest.fixture(scope="module")
def refinement_tagger() -> Any:
    return spectralnlp.train("rhmm", TAGGED * 6, n_states=1)


@pytest.fixture(scope="module")
def classifier() -> Any:
    sketch = pytest.importorskip("spectralnlp_sketch")
    texts = ["the old keeper", "the keeper waited", "a dog barked", "dogs bark"]
    learner = sketch.IntentClassifier(calibration=False)
    return learner.fit(texts, ["man", "man", "dog", "dog"]).classifier_


def test_a_parser_takes_texts_tokens_and_batches(parsers: dict[str, Any]) -> None:
    parser = parsers["plain pcfg"]
    parses = parser.parse(TEXT)
    assert [parse.sentence.words for parse in parses] == WORDS
    assert [parser.parse_tokens(words).tree for words in WORDS] == [parse.tree for parse in parses]
    assert list(parser.parse_many([TEXT, "", TEXT])) == [parses, [], parses]
    assert [parse.tree for parse in parser.parse_many(WORDS)] == [parse.tree for parse in parses]
    mixed = list(parser.parse_many(["", WORDS[0], None, Sentence.from_words(WORDS[1]), "", "\n"]))
    assert [type(each).__name__ for each in mixed] == ["list", "Parse", "NoneType", "Parse", "list", "list"]
    assert parser.parse_tokens(["(", "a", ")"]).sentence.forms == ["-LRB-", "a", "-RRB-"]
    assert parser.parse_tokens(WORDS[0], k=3).alternatives


@pytest.mark.parametrize("name", ["tagger", "refinement_tagger"])
def test_taggers_take_texts_tokens_and_batches(name: str, request: pytest.FixtureRequest) -> None:
    tagger = request.getfixturevalue(name)
    first, second = tagger.tag(TEXT)
    assert first.tags == ("DT", "NN", "VBD", ".")
    assert list(second) == [("A", "DT"), ("dog", "NN"), ("barked", "VBD"), ("!", ".")]
    assert [TEXT[token.start : token.end] for token in second.sentence.tokens] == second.words
    assert tagger.tag_tokens(WORDS[0]).tags == first.tags
    assert [each.tags for each in tagger.tag_many(iter(WORDS))] == [first.tags, second.tags]
    assert list(tagger.tag_many([TEXT, "", TEXT])) == [[first, second], [], [first, second]]
    assert tagger.best_tags(WORDS) == [list(first.tags), list(second.tags)]
    (sure, _) = tagger.tag(TEXT, scores=True)
    assert sure.confidence == pytest.approx(tagger.confidence([WORDS[0]])[0])
    assert first.confidence is None
    assert first.spans == []
    assert len(first) == 4


def test_spans_of_tagged_sentences() -> None:
    spans = [(("Ada", "King", "met", "Bo"), ("B-PER", "I-PER", "O", "B-PER"))]
    tagged = spectralnlp.train("tagger", spans * 8).tag_tokens(["Ada", "King", "met", "Bo"])
    assert tagged.scheme == "bio"
    assert tagged.spans == [(0, 2, "PER"), (3, 4, "PER")]


def test_a_classifier_takes_texts_tokens_and_batches(classifier: Any) -> None:
    assert classifier.classify("the old keeper").label == "man"
    assert classifier.classify_tokens(["the", "old", "keeper"]).label == "man"
    labels = [each.label for each in classifier.classify_many(["a dog barked", ["the", "keeper"], ""])]
    assert labels[:2] == ["dog", "man"]
    with pytest.raises(InputError, match="a batch"):
        classifier.classify(["a", "dog"])
    with pytest.raises(InputError, match="text where a batch"):
        classifier.classify_many("a dog")


def test_batches_are_lazy_on_every_engine(parsers: dict[str, Any]) -> None:
    def endless() -> Iterator[str]:
        while True:
            yield TEXT

    for engine, options in (("serial", {}), ("threads", {"jobs": 2})):
        with use_engine(engine, **options):
            stream = parsers["plain pcfg"].parse_many(endless())
            assert len(next(stream)) == len(next(stream)) == 2


Call = Callable[[Any], Any]


@pytest.mark.parametrize(
    ("model", "call", "message"),
    [
        ("parser", lambda m: m.parse_tokens("A dog."), "a text where tokens are expected: 'A dog.'"),
        ("parser", lambda m: m.parse_tokens([]), "no tokens"),
        ("parser", lambda m: m.parse_tokens(["a", 3]), "token 2 is int"),
        ("parser", lambda m: m.parse_tokens(["a"], ["X", "Y"]), "1 tokens and 2 tags"),
        ("parser", lambda m: m.parse_tokens(["a"], "X"), "tokens are expected"),
        ("parser", lambda m: m.parse_tokens(3), "int where tokens are expected"),
        ("parser", lambda m: m.parse(["A", "dog"]), "list where a text is expected; parse_tokens takes"),
        ("parser", lambda m: m.parse_many("A dog."), "a batch of texts is expected"),
        ("parser", lambda m: list(m.parse_many([3])), "int where tokens"),
        ("parser", lambda m: m.log_probability("A dog."), "tokens are expected"),
        ("tagger", lambda m: m.tag(["A", "dog"]), "list where a text is expected; tag_tokens takes"),
        ("tagger", lambda m: m.tag_tokens("A dog."), "tokens are expected"),
        ("tagger", lambda m: m.tag_many("A dog."), "a batch of texts"),
        ("tagger", lambda m: m.best_tags("A dog."), "tokenised sentences are expected"),
        ("tagger", lambda m: m.best_tags(["A", "dog"]), "tokenised sentences are expected"),
        ("tagger", lambda m: m.confidence(["A", "dog"]), "tokenised sentences are expected"),
        ("tagger", lambda m: m.posteriors("A dog"), "tokenised sentences are expected"),
        ("tagger", lambda m: m.spans("A dog"), "tokens are expected"),
        ("refinement", lambda m: m.best_tags(["A", "dog"]), "tokenised sentences are expected"),
        ("refinement", lambda m: m.posteriors("A dog"), "tokenised sentences are expected"),
        ("refinement", lambda m: m.log_probability("A dog"), "tokenised sentences are expected"),
        ("vectors", lambda m: m.vectors("dog"), "tokens are expected"),
        ("vectors", lambda m: m.contexts("dog"), "tokens are expected"),
        ("vectors", lambda m: m.tokens("dog"), "tokens are expected"),
        ("topics", lambda m: m.mixtures_of("a dog"), "a text where several"),
    ],
)
def test_a_text_is_never_taken_for_its_letters(
    model: str, call: Call, message: str, models: Callable[[str], Any]
) -> None:
    with pytest.raises(SpectralError, match=message.replace(".", r"\.")) as refusal:
        call(models(model))
    assert "\n" not in str(refusal.value)


@pytest.fixture(scope="module")
def models(tagger: Any, refinement_tagger: Any, parsers: dict[str, Any]) -> Callable[[str], Any]:
    words = [words for words, _ in TAGGED] * 5
    made = {"parser": parsers["plain pcfg"], "tagger": tagger, "refinement": refinement_tagger}
    made["vectors"] = spectralnlp.train("eigenwords", words, dimensions=2, min_count=1)
    made["topics"] = spectralnlp.train("topics", words, n_topics=2, min_documents=1, max_share=1.0)
    return made.__getitem__


def test_taggers_are_safe_in_threads() -> None:
    """Tables of words grow with the words that are seen, by whichever thread sees them first."""
    tagger = spectralnlp.load("en-tagger")
    sentences = [[f"word{number}", "of", f"the{number % 7}", str(number)] for number in range(400)]
    alone = [tagger.posteriors(sentence) for sentence in sentences]
    for _ in range(3):
        fresh = spectralnlp.load("en-tagger")
        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(fresh.posteriors, sentences))
        assert all(np.array_equal(one, other) for one, other in zip(alone, together, strict=True))
