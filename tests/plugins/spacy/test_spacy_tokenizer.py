"""The tokenizer that pipelines can have: words of a model, text as it was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

spacy = pytest.importorskip("spacy")


def pipeline(model: str, lang: str = "xx") -> Any:
    tokenizer = {"@tokenizers": "spectralnlp.Tokenizer.v1", "model": model}
    return spacy.blank(lang, config={"nlp": {"tokenizer": tokenizer}})


@pytest.fixture(scope="module")
def nlp() -> Any:
    return pipeline("en")


@settings(max_examples=50, deadline=None)
@given(text=st.text("ab. ,\n\t'\u3000\u200b(", max_size=20))
def test_documents_have_the_text_that_they_were_made_of(nlp: Any, text: str) -> None:
    doc = nlp(text)
    assert doc.text == text


def test_japanese_needs_no_other_tokenizer_and_pipelines_are_saved(tmp_path: Any) -> None:
    japanese = pipeline("en", "ja")
    assert [token.text for token in japanese("It's cold.")] == ["It", "'s", "cold", "."]
    japanese.to_disk(tmp_path / "ja")
    again = spacy.load(tmp_path / "ja")
    assert [token.text for token in again("can't")] == ["ca", "n't"]


def test_a_model_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="'tokenizer' cannot load the model 'none-such'"):
        pipeline("none-such")("a")
