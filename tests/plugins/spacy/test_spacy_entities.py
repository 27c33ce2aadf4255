"""``doc.ents`` from taggers of spans: beside entities that are there, saved and exported."""

from __future__ import annotations

import pytest

pytest.importorskip("spacy")

import spacy
from spacy.tokens import Doc, Span
from spacy.training import Example
from spectralnlp_spacy.entities import add_entities
from spectralnlp_spacy.errors import ComponentError
from spectralnlp_spacy.readers import bare_copy

from spectralnlp.cli.app import run

BIO = """\
Mira B-PER
Vance I-PER
lives O
in O
Port B-LOC
Haven I-LOC
. O

Okafor B-PER
met O
Mira B-PER
Vance I-PER
. O

Boats O
leave O
Port B-LOC
Haven I-LOC
. O
"""
BIOES = (
    BIO.replace("Okafor B-", "Okafor S-")
    .replace("Vance I-", "Vance E-")
    .replace("Haven I-", "Haven E-")
    .replace("met O\nMira S-", "met O\nMira B-")
)
WORDS = ["Okafor", "lives", "in", "Port", "Haven", "."]
NAMES = [("Okafor", "PER"), ("Port Haven", "LOC")]


@pytest.fixture(scope="module", params=["bio", "bioes"])
def names(request, tmp_path_factory):
    """A model folder of a tagger of names, trained on a small corpus of our own."""
    folder = tmp_path_factory.mktemp("names")
    (folder / "train.conll").write_text((BIO if request.param == "bio" else BIOES) * 3)
    arguments = ["train", "tagger", str(folder / "train.conll"), "-o", str(folder / "model")]
    assert run([*arguments, "--set", "epochs=5"]) == 0
    return folder / "model"


def pipeline(names, **config):
    nlp = spacy.blank("en")
    nlp.add_pipe("spectral_tagger", config={"model": str(names), "attribute": "ents", **config})
    return nlp


def sentence(nlp, words=WORDS, ents=None):
    return Doc(nlp.vocab, words=words, sent_starts=[True] + [False] * (len(words) - 1), ents=ents)


def found(doc):
    return [(span.text, span.label_) for span in doc.ents]


def test_spans_become_entities_and_other_tokens_are_outside(names) -> None:
    nlp = pipeline(names)
    doc = nlp(sentence(nlp))
    assert found(doc) == NAMES
    assert [token.ent_iob_ for token in doc] == ["B", "O", "O", "B", "I", "O"]
    assert nlp.get_pipe("spectral_tagger").labels == ("LOC", "PER")


def test_exported_and_saved_pipelines_find_the_same(names, tmp_path, capsys) -> None:
    assert run(["export", "spacy", str(names), str(tmp_path / "one")]) == 0
    assert "a tagger that writes doc.ents" in capsys.readouterr().out
    nlp = spacy.load(tmp_path / "one")
    nlp.to_disk(tmp_path / "two")
    for each in (nlp, spacy.load(tmp_path / "two")):
        assert found(each(sentence(each))) == NAMES
    again = pipeline(names)
    again.get_pipe("spectral_tagger").from_bytes(nlp.get_pipe("spectral_tagger").to_bytes())
    assert found(again(sentence(again))) == NAMES
    assert str(names) not in (tmp_path / "one" / "config.cfg").read_text()


def test_exported_to_another_attribute(names, tmp_path) -> None:
    assert run(["export", "spacy", str(names), str(tmp_path / "spans"), "--attribute", "spans"]) == 0
    nlp = spacy.load(tmp_path / "spans")
    doc = nlp(sentence(nlp))
    assert [(span.text, span.label_) for span in doc.spans["chunks"]] == NAMES
    assert not doc.ents


def test_entities_that_are_there_stay(names) -> None:
    nlp = pipeline(names)
    doc = sentence(nlp, ents=["O", "O", "O", "O", "B-GPE", "O"])
    doc.set_ents([Span(doc, 4, 5, label="GPE", kb_id="Q1", span_id="mine")], default="unmodified")
    nlp(doc)
    assert found(doc) == [("Okafor", "PER"), ("Haven", "GPE")]
    assert (doc.ents[1].kb_id_, doc.ents[1].id_) == ("Q1", "mine")


def test_entities_that_are_there_give_way_where_new_ones_overlap(names) -> None:
    nlp = pipeline(names, overwrite_ents=True)
    doc = nlp(sentence(nlp, ents=["O", "B-EVENT", "O", "O", "B-GPE", "O"]))
    assert found(doc) == [("Okafor", "PER"), ("lives", "EVENT"), ("Port Haven", "LOC")]


@pytest.mark.parametrize("overwrite", [False, True])
def test_blocked_tokens(names, overwrite) -> None:
    nlp = pipeline(names, overwrite_ents=overwrite)
    doc = sentence(nlp)
    doc.set_ents([], blocked=[doc[3:4], doc[5:6]], default="missing")
    nlp(doc)
    assert found(doc) == (NAMES if overwrite else NAMES[:1])
    assert (doc[5].ent_iob_, doc[5].ent_type_) == ("B", "")  # still blocked


def test_as_spacys_entity_ruler_does(names) -> None:
    patterns = [{"label": "PER", "pattern": "Okafor"}, {"label": "LOC", "pattern": "Port Haven"}]
    for overwrite in (False, True):
        ruled = spacy.blank("en")
        ruled.add_pipe("entity_ruler", config={"overwrite_ents": overwrite}).add_patterns(patterns)
        nlp = pipeline(names, overwrite_ents=overwrite)
        for ents in (["B-A", "I-A", "O", "O", "O", "O"], ["O", "O", "O", "O", "B-A", "I-A"]):
            assert found(nlp(sentence(nlp, ents=ents))) == found(ruled(sentence(ruled, ents=ents)))


def test_adding_nothing_marks_tokens_as_outside() -> None:
    doc = Doc(spacy.blank("en").vocab, words=WORDS)
    add_entities(doc, [], overwrite=False)
    assert {token.ent_iob_ for token in doc} == {"O"}


def test_parts_of_speech_are_no_entities(tmp_path) -> None:
    (tmp_path / "train.conll").write_text("Boats NOUN\nleave VERB\n\n" * 3)
    model = tmp_path / "model"
    assert run(["train", "tagger", str(tmp_path / "train.conll"), "-o", str(model), "--set", "epochs=2"]) == 0
    nlp = pipeline(model)
    with pytest.raises(ComponentError, match=r"\[SN024\].*doc.ents.*not spans, but NOUN, VERB"):
        nlp(sentence(nlp))
    assert run(["export", "spacy", str(model), str(tmp_path / "nlp"), "--attribute", "ents"]) == 2
    assert not (tmp_path / "nlp").exists()
    assert run(["export", "spacy", str(model), str(tmp_path / "nlp")]) == 0
    nlp = spacy.load(tmp_path / "nlp")
    assert [token.pos_ for token in nlp(sentence(nlp, ["Boats", "leave"]))] == ["NOUN", "VERB"]


def test_sentences_of_which_little_is_known_are_not_learned_from() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("spectral_tagger", config={"attribute": "ents", "settings": {"epochs": 3}})
    known = sentence(nlp, ents=["B-PER", "O", "O", "B-LOC", "I-LOC", "O"])
    missing = sentence(nlp, ["Okafor", "sleeps"])
    missing.set_ents([], outside=[missing[1:2]], default="missing")
    examples = [Example(bare_copy(doc), doc) for doc in (known, missing) * 3]
    nlp.initialize(lambda: examples)
    assert "sleeps" not in nlp.get_pipe("spectral_tagger").model.known
    assert found(nlp(sentence(nlp))) == NAMES
    with pytest.raises(ComponentError, match="SN003"):
        nlp.initialize(lambda: [Example(bare_copy(missing), missing)])
