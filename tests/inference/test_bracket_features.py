from __future__ import annotations

import numpy as np
import pytest

import spectralnlp
from spectralnlp.inference.trees.rescoring.features import GRAMMARS, bracket_features
from spectralnlp.text.constraints import Bracket
from spectralnlp.text.inputs import sentence_of

WORDS = ["He", "said", "that", "prices", "of", "ships", "in", "the", "port", "rose", "and", "fell", "."]


def test_features_add_up_to_the_score_of_a_bracket_and_are_in_words() -> None:
    parser = spectralnlp.load("en")
    sentence = sentence_of(WORDS, parser.tokenizer)
    given = parser.look_up(sentence)
    forests = parser.forest_parser.infer(given).scored
    rescorer = parser.forest_parser.rescorer
    assert rescorer is not None
    posteriors = {(each.start, each.end): each.posterior for each in parser.parse_tokens(WORDS).constituents}
    for start, end, label in ((4, 9, "PP"), (3, 9, "NP"), (9, 12, "VP")):
        bracket = Bracket(start, end, label)
        found = bracket_features(rescorer, forests, sentence.forms, bracket, given.cell_marginals)
        score = sum(each.weight for each in found)
        assert posteriors[bracket.span] == pytest.approx(1 / (1 + np.exp(-score)), abs=1e-3)
        texts = {each.text for each in found}
        assert GRAMMARS in texts
        assert any(f"word_first={WORDS[start]}" in text for text in texts)
    assert (
        bracket_features(rescorer, forests, sentence.forms, Bracket(0, 3, "PP"), given.cell_marginals) == []
    )
