"""``spectral_textcat``: probabilities of labels, the intent, and what is out of scope."""

from __future__ import annotations

import pytest

pytest.importorskip("spacy")
pytest.importorskip("sklearn")

import spacy
from spacy.tokens import Doc
from spacy.training import Example
from spectralnlp_spacy.documents import docs_of_texts
from spectralnlp_spacy.errors import ComponentError

TEXTS = [
    ("when does the boat leave", "timetable"),
    ("what time is the next boat to the point", "timetable"),
    ("is there a boat on sunday morning", "timetable"),
    ("at what hour does the last train go", "timetable"),
    ("how much is a ticket for two", "price"),
    ("what does the boat trip cost", "price"),
    ("is the ticket cheaper for children", "price"),
    ("how much do i pay for the train", "price"),
    ("book two seats for friday", "booking"),
    ("i want to reserve a seat on the boat", "booking"),
    ("please book a ticket for me", "booking"),
    ("reserve the small room for tonight", "booking"),
]
UNLABELLED = [text.replace("boat", "ferry") for text, _ in TEXTS]


def examples_of(nlp, texts=TEXTS):
    return [Example(nlp.make_doc(doc.text), doc) for doc in docs_of_texts(texts, nlp)]


@pytest.fixture(scope="module")
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("spectral_textcat")
    nlp.initialize(lambda: examples_of(nlp))
    return nlp


def test_probabilities_are_the_classifiers(nlp) -> None:
    from spectralnlp import registry
    from spectralnlp.runtime import InMemoryCorpus

    task = registry.tasks.get("intents")()
    core = task.train(registry.estimators.get("intent")(), InMemoryCorpus(TEXTS))
    text = "how much is a ticket"
    doc = nlp(text)
    found = core.classify(text)
    assert list(doc.cats) == list(core.labels) == ["booking", "price", "timetable"]
    assert list(doc.cats.values()) == pytest.approx(found.scores.tolist(), abs=1e-6)
    assert doc._.intent == found.label == "price"
    assert doc._.out_of_scope == pytest.approx(found.out_of_scope, abs=1e-6)


def test_nothing_known_is_out_of_scope(nlp) -> None:
    assert nlp("漢字")._.out_of_scope == 1
    assert nlp("")._.out_of_scope == 1


def test_a_threshold_leaves_doubtful_texts_without_intent(nlp) -> None:
    strict = spacy.blank("en")
    pipe = strict.add_pipe("spectral_textcat", config={"threshold": 0.999, "prefix": "strict_"})
    pipe.from_bytes(nlp.get_pipe("spectral_textcat").to_bytes())
    assert strict("the boat")._.strict_intent is None
    # Saved in half precision.
    assert strict("the boat").cats == pytest.approx(nlp("the boat").cats, abs=1e-3)


def test_documents_travel(nlp, tmp_path) -> None:
    nlp.to_disk(tmp_path / "nlp")
    again = spacy.load(tmp_path / "nlp")
    texts = [text for text, _ in TEXTS] + [""]
    one = [doc.to_bytes() for doc in map(again, texts)]
    assert [doc.to_bytes() for doc in again.pipe(texts, n_process=2, batch_size=4)] == one
    doc = Doc(nlp.vocab).from_bytes(one[0])
    assert doc._.intent == "timetable"


def test_unlabelled_texts_are_learned_from(nlp, tmp_path) -> None:
    (tmp_path / "more.txt").write_text("\n".join(UNLABELLED) + "\n\n")
    more = spacy.blank("en")
    more.add_pipe("spectral_textcat")
    reader = {"@readers": "spectralnlp.Lines.v1", "path": str(tmp_path / "more.txt")}
    more.config["initialize"]["components"]["spectral_textcat"] = {"unlabelled": reader}
    more.initialize(lambda: examples_of(more))
    pipe = more.get_pipe("spectral_textcat")
    assert pipe.model.about["unlabelled texts"] == len(UNLABELLED)
    assert pipe.model.about["training texts"] == len(TEXTS)


def test_a_name_that_is_taken_needs_a_prefix(nlp) -> None:
    Doc.set_extension("taken_intent", getter=len)
    try:
        with pytest.raises(ComponentError, match=r"\[SN013\].*doc._.taken_intent"):
            spacy.blank("en").add_pipe("spectral_textcat", config={"prefix": "taken_"})
    finally:
        Doc.remove_extension("taken_intent")


def test_scores_are_spacys(nlp) -> None:
    scores = nlp.evaluate(examples_of(nlp))
    assert scores["cats_micro_f"] == 1
    assert set(scores["cats_f_per_type"]) == {"booking", "price", "timetable"}


def test_what_cannot_be_learned_is_refused() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("spectral_textcat")
    with pytest.raises(ComponentError, match=r"\[SN003\].*'spectral_textcat' needs examples with doc.cats"):
        nlp.initialize()
    with pytest.raises(ComponentError, match=r"\[SN005\].*only the label 'price'"):
        nlp.initialize(lambda: examples_of(nlp, [("how much", "price")]))
    example = Example.from_dict(nlp.make_doc("both"), {"cats": {"a": 1.0, "b": 1.0}})
    with pytest.raises(ComponentError, match=r"\[SN023\].*'both' has a, b"):
        nlp.initialize(lambda: [example])
    with pytest.raises(ComponentError, match=r"\[SN006\].*doc.cats. Remove one of them$"):
        nlp.add_pipe("spectral_textcat", "again")


def test_a_trained_featurizer_goes_with_the_pipeline(tmp_path) -> None:
    import shutil

    import spectralnlp

    texts = spectralnlp.InMemoryCorpus([text for text, _ in TEXTS] + UNLABELLED)
    spectralnlp.train("sent", texts, n_components=5).save(tmp_path / "sent")
    nlp = spacy.blank("en")
    settings = {"featurizer": str(tmp_path / "sent"), "calibration": False}
    nlp.add_pipe("spectral_textcat", config={"settings": settings})
    nlp.initialize(lambda: examples_of(nlp))
    doc = nlp("how much is a ferry ticket")
    assert doc._.intent == "price"
    nlp.to_disk(tmp_path / "pipeline")
    shutil.rmtree(tmp_path / "sent")
    loaded = spacy.load(tmp_path / "pipeline")
    assert loaded("how much is a ferry ticket").cats == pytest.approx(doc.cats, abs=1e-3)
    assert loaded.get_pipe("spectral_textcat").ready().featurizer is not None


def test_what_is_no_featurizer_is_refused() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("spectral_textcat", config={"settings": {"featurizer": "no-such"}})
    with pytest.raises(ComponentError, match="no featurizer is called 'no-such'"):
        nlp.initialize(lambda: examples_of(nlp))
