from __future__ import annotations

import numpy as np
import pytest

from spectralnlp.errors import ConfigError
from spectralnlp.models.parser import Parser
from spectralnlp.models.tag_evidence import SuggestedTags
from spectralnlp.parameters import Floats
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees.binarise import labels_of


class Oracle:
    """A tagger that is sure of one tag for every word."""

    def __init__(self, tags: tuple[str, ...], sure_of: str, p: float = 1.0) -> None:
        self.tags, self.sure_of, self.p = tags, sure_of, p

    def best_tags(self, sentences: list[list[str]]) -> list[list[str]]:
        return [[self.sure_of] * len(words) for words in sentences]

    def posteriors(self, sentence: list[str]) -> Floats:
        row = np.full(len(self.tags), (1 - self.p) / max(len(self.tags) - 1, 1))
        row[self.tags.index(self.sure_of)] = self.p
        return np.tile(row, (len(sentence), 1))


def tags_of(parser: Parser) -> tuple[str, ...]:
    grammar = parser.coarse
    tagged = zip(grammar.symbols, grammar.is_tag, strict=True)
    return tuple(sorted({labels_of(symbol)[-1] for symbol, is_tag in tagged if is_tag}))


def test_a_tagger_decides_on_unknown_words_and_not_on_frequent_ones(parser: Parser) -> None:
    lexicon = parser.coarse.lexicon
    frequent = max(lexicon.words, key=lambda word: lexicon.log_weight[lexicon.word_index[word]])
    words = ["zzyzx", frequent, "qwrt"]
    alone = parser.parse_tokens(words).tree.tags()
    for tag in tags_of(parser):
        listening = parser.with_tagger(Oracle(tags_of(parser), tag), weight=50.0)
        evidence = listening.tag_evidence
        assert evidence is not None
        found = evidence.weights([parser.coarse, parser.coarse], words)
        assert found is not None
        weights, again = found
        assert (weights == again).all()
        assert (weights[1] == 1).all()
        believed = {parser.coarse.symbols[i] for i in np.flatnonzero(weights[0] == 1)}
        assert {labels_of(symbol)[-1] for symbol in believed} == {tag}
        assert (weights[0][weights[0] < 1] < 1e-10).all()
    indifferent = parser.with_tagger(Oracle(tags_of(parser), tags_of(parser)[0]), weight=0.0)
    assert indifferent.parse_tokens(words).tree.tags() == alone


def test_fixed_tags_are_the_taggers(parser: Parser) -> None:
    words = ["zzyzx", "qwrt"]
    for tag in tags_of(parser)[:3]:
        fixed = parser.with_tagger(Oracle(tags_of(parser), tag), fixed=True)
        assert fixed.parse_tokens(words).tree == parser.parse_tokens(words, [tag, tag]).tree


def test_a_tagger_of_other_tags_is_refused(parser: Parser) -> None:
    with pytest.raises(ConfigError, match="such as"):
        parser.with_tagger(Oracle(("ADJECTIVE", "VERBUM"), "VERBUM"))
    with pytest.raises(ConfigError, match="negative"):
        parser.with_tagger(Oracle(tags_of(parser), tags_of(parser)[0]), weight=-1.0)


def test_suggested_tags_are_probable_and_unknown_ones_say_nothing(parsers: dict[str, Parser]) -> None:
    suggested = SuggestedTags(("A", "B", "C"), ("B", "MINE", ""))
    p = suggested.posteriors(["x", "y", "z"])
    np.testing.assert_allclose(p, [[0.25, 0.5, 0.25], [1 / 3] * 3, [1 / 3] * 3])
    parser = parsers["lpcfg"]
    words = ["The", "wug", "keeper", "climbs", "the", "stairs", "."]
    posteriors = {}
    for tag in ("JJ", "VBD", "MINE"):
        sentence = Sentence.from_words(words, ["", tag, "", "", "", "", ""])
        (parse,) = parser.parse_many([sentence], fixed_tags=False)
        posteriors[tag] = [c.posterior for c in parse.constituents]
        assert set(parser.tags) >= set(parse.tree.tags())
    plain = [c.posterior for c in parser.parse_tokens(words).constituents]
    assert posteriors["MINE"] == pytest.approx(plain, abs=1e-4)
    assert posteriors["VBD"] != posteriors["JJ"]
