"""Words that a treebank cuts although a text writes them as one, learned from their endings."""

from __future__ import annotations

import pytest

from spectralnlp.errors import ModelError
from spectralnlp.text.conventions import Conventions, token_boundaries
from spectralnlp.text.cut_words import WordCutter, is_cut, learn_cuts
from spectralnlp.text.detokenizer import place_words, text_of
from spectralnlp.text.tokenizer import Tokenizer

TEXT = """Hann sá land$ $ið og hest$ $inn við hús$ $ið . Maður kom um skip$ $ið , með ð og við , gegnum hús ,
á$ $nni og fjöru$ $nni , en ei$ $num ekki einum , um með minn og með einn . þ.$ $e.$ $a.$"""
WORDS = TEXT.split()
CONVENTIONS = Conventions.learn(WORDS * 3)


def test_parts_are_told_by_their_marks() -> None:
    assert is_cut(("land$", "$ið"))
    assert is_cut(("þ.$", "$e.$", "$a."))
    for parts in (("land$",), ("land$", "ið"), ("land", "$ið"), ("$", "$ið"), ("land$", "$")):
        assert not is_cut(parts)
    found = [each for each in token_boundaries([*WORDS, "x$", "$y"]) if not isinstance(each, str)]
    assert found[0] == ("land$", "$ið")
    assert found[-1] == ("x$", "$y")


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("landið", ["land$", "$ið"]),
        ("Landið", ["Land$", "$ið"]),
        ("við", ["við"]),  # as it was seen, although it ends as others that are cut
        ("fjallið", ["fjall$", "$ið"]),  # never seen: as most with its ending
        ("sinn", ["sinn"]),
        ("ið", ["ið"]),
        ("hús", ["hús"]),
        ("24", ["24"]),
        ("ánni", ["á$", "$nni"]),
    ],
)
def test_words_are_cut_by_their_endings(word: str, parts: list[str]) -> None:
    tokens = list(Tokenizer(CONVENTIONS).tokenize(word))
    assert [token.form for token in tokens] == parts
    assert "".join(token.text for token in tokens) == word
    assert [token.end - token.start for token in tokens] == [len(token.text) for token in tokens]


def test_a_raw_text_becomes_tokens_and_tokens_become_the_text() -> None:
    text = "Hann sá landið og hestinn við húsið."
    words = [token.form for token in Tokenizer(CONVENTIONS).tokenize(text)]
    assert words == [*TEXT.split(" . ")[0].split(), "."]
    assert text_of([place_words(words, conventions=CONVENTIONS)]) == text


def test_several_parts_are_cut_one_after_the_other() -> None:
    cuts = learn_cuts({}, {("sjá$", "$ðu$", "$mig"): 3, ("far$", "$ðu"): 2, ("kom$", "$ðu"): 1})
    cutter = WordCutter(cuts)
    assert cutter.parts("Sjáðumig") == [("Sjá", "Sjá$"), ("ðu", "$ðu$"), ("mig", "$mig")]
    assert cutter.parts("talðu") == [("tal", "tal$"), ("ðu", "$ðu")]
    assert cutter.parts("ðu") == [("ðu", "ðu")]


def test_without_marks_nothing_is_cut_and_nothing_is_stored() -> None:
    plain = Conventions.learn(["The", "price", "is", "$", "5", "."] * 9)
    assert plain.cut_words == ()
    assert "cut_words" not in plain.to_dict()
    assert WordCutter(()).parts("land") == [("land", "land")]


def test_cuts_survive_storage_and_damage_is_refused() -> None:
    assert Conventions.from_dict(CONVENTIONS.to_dict()) == CONVENTIONS
    for damage in (3, [3], ["ið"], [["ið", "x"]], [["ið", [0]]], [["ið", [2.5]]], [[2, [2]]]):
        with pytest.raises(ModelError, match="cut_words"):
            Conventions.from_dict({"cut_words": damage})
