from __future__ import annotations

import pytest

from spectralnlp.text.tokens import Sentence, Token


def test_ready_made_words_are_as_if_joined_by_blanks() -> None:
    sentence = Sentence.from_words(["I", "see", "-LRB-"], ["PRP", "VBP", "-LRB-"])
    assert [(t.start, t.end) for t in sentence.tokens] == [(0, 1), (2, 5), (6, 11)]
    assert sentence.words == sentence.forms == ["I", "see", "-LRB-"]
    assert (sentence.start, sentence.end, len(sentence)) == (0, 11, 3)


def test_no_empty_sentence_and_a_tag_for_every_token() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Sentence(())
    with pytest.raises(ValueError, match="1 tags for 2"):
        Sentence.from_words(["a", "b"], ["X"])


def test_tokens_are_values() -> None:
    assert Token("(", "-LRB-", 0, 1) == Token("(", "-LRB-", 0, 1)
    with pytest.raises(AttributeError):
        Token("a", "a", 0, 1).form = "b"  # type: ignore[misc]
