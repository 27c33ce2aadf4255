"""``spectral_tagger``: parts of speech, entities and chunks."""

from __future__ import annotations

import pytest

pytest.importorskip("spacy")

import spacy
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy_texts import SENTENCES, TEXT
from spectralnlp_spacy.errors import ComponentError
from spectralnlp_spacy.readers import bare_copy

SETTINGS = {"epochs": 3}


def examples_of(docs):
    return [Example(bare_copy(doc), doc) for doc in docs]


@pytest.fixture(scope="module")
def gold(gold_docs):
    """Gold documents with tags, a simple ``pos``, entities and chunks."""
    docs = gold_docs(spacy.blank("en").vocab)
    for doc in docs:
        for token in doc:
            token.pos_ = "PROPN" if token.tag_ == "NNP" else "NOUN" if token.tag_.startswith("NN") else "X"
        doc.set_ents([Span(doc, t.i, t.i + 1, label="NAME") for t in doc if t.tag_ == "NNP"])
        phrases = [s for s in doc.spans["constituents"] if s.label_ == "NP"]
        lowest = [
            s
            for s in phrases
            if not any(o is not s and s.start <= o.start and o.end <= s.end for o in phrases)
        ]
        doc.spans["chunks"] = [Span(doc, s.start, s.end, label="NP") for s in lowest]
    return docs


@pytest.fixture(scope="module")
def nlp(gold):
    """Four taggers, trained in one go."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    for attribute in ("tag", "pos", "ents", "spans"):
        config = {"attribute": attribute, "settings": SETTINGS}
        nlp.add_pipe("spectral_tagger", f"my_{attribute}", config=config)
    nlp.initialize(lambda: examples_of(gold))
    return nlp


def test_one_estimator_tags_everything(nlp) -> None:
    doc = nlp("Mrs. Okafor climbs the stairs.")
    assert [(t.tag_, t.pos_) for t in doc][-4:] == [("VBZ", "X"), ("DT", "X"), ("NNS", "NOUN"), (".", "X")]
    assert [(e.text, e.label_) for e in doc.ents][-1][0].endswith("Okafor")
    assert "the stairs" in [span.text for span in doc.spans["chunks"]]
    assert nlp.get_pipe("my_ents").labels == ("NAME",)
    assert "VBZ" in nlp.get_pipe("my_tag").labels


def test_tags_are_the_cores(nlp, gold) -> None:
    from spectralnlp import registry
    from spectralnlp.runtime import InMemoryCorpus
    from spectralnlp.text.conll import AnnotatedSentence

    sentences = [
        AnnotatedSentence(tuple(t.text for t in doc), {"tag": tuple(t.tag_ for t in doc)}, "tag")
        for doc in gold
    ]
    estimator = registry.estimators.get("tagger")(**SETTINGS)
    core = registry.tasks.get("tagging")().train(estimator, InMemoryCorpus(sentences))
    doc = nlp(Doc(nlp.vocab, words=SENTENCES[0], sent_starts=[True] + [False] * (len(SENTENCES[0]) - 1)))
    assert [token.tag_ for token in doc] == core.best_tags([SENTENCES[0]])[0]


def test_scores_are_spacys(nlp, gold) -> None:
    scores = nlp.evaluate(examples_of(gold))
    assert scores["tag_acc"] > 0.95
    assert scores["pos_acc"] > 0.95
    assert scores["ents_f"] > 0.9
    assert scores["chunks_f"] > 0.9


def test_saved_and_sent_to_processes(nlp, tmp_path) -> None:
    nlp.to_disk(tmp_path / "nlp")
    again = spacy.load(tmp_path / "nlp")
    texts = [TEXT, "", "\n\n", "Hi"]
    one = [doc.to_bytes() for doc in map(again, texts)]
    assert [doc.to_bytes() for doc in again.pipe(texts, n_process=2)] == one
    assert not list((tmp_path / "nlp" / "my_tag").rglob("*.pkl"))


def test_white_space_is_not_tagged(nlp) -> None:
    doc = nlp("The  lamp\n is ready.")
    assert [token.tag_ for token in doc if token.is_space] == ["", ""]


def test_documents_without_boundaries_get_them(gold) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("spectral_tagger", config={"settings": SETTINGS})
    nlp.initialize(lambda: examples_of(gold))
    with pytest.warns(UserWarning, match="SW001"):
        assert len(list(nlp(TEXT).sents)) == 3


def test_own_tags_can_be_kept(nlp, gold) -> None:
    kept = spacy.blank("en")
    kept.add_pipe("sentencizer")
    pipe = kept.add_pipe("spectral_tagger", config={"overwrite": False})
    pipe.from_bytes(nlp.get_pipe("my_tag").to_bytes())
    doc = kept.make_doc("The lamp is ready.")
    doc[1].tag_ = "MINE"
    assert [token.tag_ for token in kept(doc)] == ["DT", "MINE", "VBZ", "JJ", "."]


def test_what_cannot_be_learned_is_refused(gold) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("spectral_tagger", "mine", config={"attribute": "pos"})
    with pytest.raises(ComponentError, match=r"\[SN003\].*'mine' needs examples with token.pos_"):
        nlp.initialize()
    doc = bare_copy(gold[0])
    doc[0].pos_ = "NOUN"
    with pytest.raises(ComponentError, match=r"\[SN021\].*some lack it in"):
        nlp.initialize(lambda: examples_of([doc]))
    with pytest.raises(ComponentError, match=r"\[SN006\].*'again' and 'mine'.*token.pos_.*another attribute"):
        nlp.add_pipe("spectral_tagger", "again", config={"attribute": "pos"})
    with pytest.raises(ComponentError, match=r"\[SN020\].*cannot tag 'mood'"):
        nlp.add_pipe("spectral_tagger", "third", config={"attribute": "mood"})
    nlp.add_pipe("spectral_tagger", "chunks", config={"attribute": "spans"})
    doc = bare_copy(gold[0])
    doc.spans["chunks"] = [Span(doc, 0, 2, label="NP"), Span(doc, 1, 3, label="VP")]
    with nlp.select_pipes(enable="chunks"), pytest.raises(ComponentError, match=r"\[SN022\].*NP and VP"):
        nlp.initialize(lambda: examples_of([doc]))


def test_a_parser_is_no_tagger(parser_folder) -> None:
    nlp = spacy.blank("en")
    with pytest.raises(ComponentError, match=r"\[SN004\].*model for 'parsing'.*needs one for 'tagging'"):
        nlp.add_pipe("spectral_tagger", config={"model": str(parser_folder)})
