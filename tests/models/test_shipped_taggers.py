from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import spectralnlp
from spectralnlp import registry
from spectralnlp.models.tagger import Tagger

SCRIPT = """
import json, sys, spectralnlp
tagger = spectralnlp.load(sys.argv[1])
print(json.dumps(tagger.best_tags([["The", "dog", "was", "old", "."], [], ["Unquestionably", "!"]])))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "tags"),
    [
        ("en-tagger", [["DT", "NN", "VBD", "JJ", "."], [], ["RB", "."]]),
        ("en-upos", [["DET", "NOUN", "AUX", "ADJ", "PUNCT"], [], ["ADV", "PUNCT"]]),
    ],
)
def test_a_tagger_that_ships_tags_in_a_fresh_process(name: str, tags: list[list[str]]) -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, name], capture_output=True, text=True, check=True
    )
    assert json.loads(ran.stdout) == tags


@pytest.mark.parametrize("name", ["en-tagger", "en-upos"])
def test_what_ships_is_small_and_says_where_it_comes_from(name: str) -> None:
    folder = Path(registry.models.get(name))
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 11_000_000
    card = (folder / "README.md").read_text()
    assert "CC BY-SA 4.0" in card
    assert "/" not in card.partition("`eigenwords` | `")[2].partition("`")[0]


@pytest.mark.parametrize("name", ["en-tagger", "en-upos"])
@pytest.mark.parametrize("text", ["I love it 🙂 .", "🎉 Happy birthday !", "Great 👍👍", "Click → Open ."])
def test_an_emoji_or_arrow_is_a_symbol(name: str, text: str) -> None:
    tagger, words = spectralnlp.load(name), text.split()
    assert isinstance(tagger, Tagger)
    signs = [word for word in words if not word.isascii()]
    assert [tag for word, tag in tagger.tag_tokens(words) if word in signs] == ["SYM"] * len(signs)
