"""Our models behind NLTK's interfaces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nltk")

from nltk import Tree
from nltk.parse.api import ParserI
from nltk.tag.api import TaggerI
from spectralnlp_nltk import SpectralParser, SpectralTagger

import spectralnlp
from spectralnlp.errors import ConfigError, InputError

WORDS = ["The", "keeper", "waited", "."]
TAGGED = [(tuple(WORDS), ("DT", "NN", "VBD", ".")), (("A", "dog", "barked"), ("DT", "NN", "VBD"))]


@pytest.fixture(scope="module")
def core(own_treebank: Path) -> Any:
    return spectralnlp.train("pcfg", own_treebank / "train.mrg", vertical=0)


def test_the_parser(core: Any, tmp_path: Path) -> None:
    parser = SpectralParser(core)
    assert isinstance(parser, ParserI)
    tree = parser.parse_one(WORDS)
    assert isinstance(tree, Tree)
    assert str(spectralnlp.Tree.from_nltk(tree)) == str(core.parse_tokens(WORDS).tree)
    assert [[str(tree) for tree in each] for each in parser.parse_sents([WORDS, WORDS])] == [[str(tree)]] * 2
    assert next(parser.raw_parse("The keeper waited. A dog barked.")).leaves() == WORDS
    several = list(SpectralParser(core, k=3).parse(WORDS))
    assert 1 < len(several) <= 3
    core.save(tmp_path / "model")
    assert SpectralParser(tmp_path / "model").parse_one(WORDS) == tree
    with pytest.raises(InputError, match="tokens are expected"):
        parser.parse_one("The keeper waited.")
    with pytest.raises(ConfigError, match="one for tagging is needed"):
        SpectralTagger(core)


def test_the_tagger() -> None:
    tagger = SpectralTagger(spectralnlp.train("tagger", TAGGED * 6))
    assert isinstance(tagger, TaggerI)
    assert tagger.tag(WORDS) == list(zip(*TAGGED[0], strict=True))
    assert tagger.tag_sents([WORDS, [], ["A", "dog"]]) == [tagger.tag(WORDS), [], tagger.tag(["A", "dog"])]
    assert tagger.tag([]) == []
    assert tagger.accuracy([list(zip(*each, strict=True)) for each in TAGGED]) == 1.0
    with pytest.raises(InputError, match="tokens are expected"):
        tagger.tag("A dog")
