"""Public methods take texts in any ordinary collection, and never names of columns for texts."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import cross_val_score
from spectralnlp_sketch import (
    SENT,
    TMPCA,
    DCoTFeatures,
    HashedNgrams,
    IntentClassifier,
    SENTPlus,
    with_unlabelled,
)

import spectralnlp
from spectralnlp import InMemoryCorpus, SpectralError
from spectralnlp.changes import train

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

TEXTS = ["how much is it", "what does it cost", "when does it leave", "at what hour is the boat"] * 2
LABELS = ["price", "price", "times", "times"] * 2
WORDS = sorted({word for text in TEXTS for word in text.split()})
FRAME = pandas.DataFrame({"text": TEXTS, "label": LABELS}, index=range(40, 48))

ALIKE: dict[str, Callable[[Any], Any]] = {
    "tuple": tuple,
    "iterator": iter,
    "array": np.array,
    "array of objects": lambda texts: np.array(texts, object),
    "array of one column": lambda texts: np.array(texts)[:, None],
    "series": pandas.Series,
    "categorical": lambda texts: pandas.Series(texts, dtype="category"),
    "strings of pandas": lambda texts: pandas.array(texts, dtype="string"),
    "index": pandas.Index,
    "frame of one column": lambda texts: pandas.DataFrame({"any name": texts}),
    "series of polars": polars.Series,
    "frame of polars": lambda texts: polars.DataFrame({"any name": texts}),
    "array of Arrow": pyarrow.array,
    "table of Arrow": lambda texts: pyarrow.table({"any name": texts}),
}
WRONG: dict[str, Any] = {
    "frame of two columns": FRAME,
    "frame of no columns": FRAME[[]],
    "two columns of one name": FRAME[["text", "text"]],
    "mapping": {"text": TEXTS},
    "array of two columns": FRAME.to_numpy(),
    "array of no dimension": np.array(TEXTS[0]),
    "text": TEXTS[0],
    "bytes": TEXTS[0].encode(),
    "nothing": None,
    "number": 3,
}


def new_classifier() -> IntentClassifier:
    return IntentClassifier(calibration=False)


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "predict": lambda m, texts: m.classifier.predict(texts),
    "predict_proba": lambda m, texts: m.classifier.predict_proba(texts),
    "decision_function": lambda m, texts: m.classifier.decision_function(texts),
    "out_of_scope": lambda m, texts: m.classifier.out_of_scope(texts),
    "classify_many": lambda m, texts: [each.label for each in m.model.classify_many(texts)],
    "texts of fit": lambda m, texts: new_classifier().fit(texts, LABELS).classes_,
    "labels of fit": lambda m, labels: new_classifier().fit(TEXTS, labels).classes_,
    "texts of update": lambda m, texts: m.model.update(texts, LABELS, add_known=True).predict_proba(TEXTS),
    "labels of update": lambda m, labels: m.model.update(TEXTS, labels, add_known=True).labels,
    "unlabelled texts": lambda m, texts: with_unlabelled(TEXTS, LABELS, texts)[0],
    "labels beside unlabelled texts": lambda m, labels: with_unlabelled(TEXTS, labels, TEXTS)[1],
    "hashed n-grams": lambda m, texts: HashedNgrams(64).fit_transform(texts).toarray(),
    "SENT": lambda m, texts: SENT(sketch_size=4).fit(texts).transform(TEXTS),
    "SENT+": lambda m, texts: SENTPlus(sketch_size=4).fit(texts, LABELS).transform(TEXTS),
    "dCoT": lambda m, texts: DCoTFeatures(n_prototypes=2).fit(texts).transform(TEXTS),
    "TMPCA": lambda m, texts: m.tmpca.fit_transform(texts),
    "features": lambda m, texts: m.features.transform(texts),
    "topics": lambda m, texts: m.topics.mixtures_of(texts),
    "eigenwords": lambda m, texts: m.eigenwords.fit(texts).word_vectors_.vectors,
    "parse_many": lambda m, texts: repr(list(m.parser.parse_many(texts))),
    "tag_many": lambda m, texts: repr(list(m.tagger.tag_many(texts))),
    "words": lambda m, texts: m.parser.parse_tokens(texts).tree.words(),
    "corpus": lambda m, texts: list(InMemoryCorpus(texts)),
}
# Methods whose items may be lists of tokens, such as the rows of an array.
OF_TOKENS = {"topics", "eigenwords", "TMPCA", "parse_many", "tag_many", "corpus"}
MEANINGFUL = {("labels of update", "nothing"), *((name, "array of two columns") for name in OF_TOKENS)}


@pytest.fixture(scope="module")
def models() -> SimpleNamespace:
    documents, pairs = [text.split() for text in TEXTS], list(zip(TEXTS, LABELS, strict=True))
    return SimpleNamespace(
        classifier=new_classifier().fit(TEXTS, LABELS),
        model=train("intent", new_classifier(), InMemoryCorpus(pairs)).model,
        features=spectralnlp.train("sent", InMemoryCorpus(TEXTS), n_components=2),
        topics=spectralnlp.train("topics", documents, n_topics=1, min_documents=1, max_share=1.0),
        tmpca=TMPCA(vectors=dict(zip(WORDS, np.eye(len(WORDS)), strict=True)), length=2),
        eigenwords=spectralnlp.Eigenwords(dimensions=2, min_count=1),
        parser=spectralnlp.train("pcfg", "corpora/treebank/train.mrg"),
        tagger=spectralnlp.load("en-upos"),
    )


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", CALLS)
def test_a_collection_of_any_kind_is_as_a_list(name: str, models: SimpleNamespace) -> None:
    expected = CALLS[name](models, TEXTS)
    for kind, make in ALIKE.items():
        np.testing.assert_array_equal(CALLS[name](models, make(TEXTS)), expected, err_msg=kind)


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("name", CALLS)
def test_what_is_no_collection_of_texts_is_refused(name: str, kind: str, models: SimpleNamespace) -> None:
    if (name, kind) not in MEANINGFUL:
        with pytest.raises(SpectralError) as refusal:
            CALLS[name](models, WRONG[kind])
        assert "\n" not in str(refusal.value)


def test_a_column_transformer_gives_a_frame_of_one_column() -> None:
    expected = HashedNgrams(64).fit_transform(TEXTS).toarray()
    for columns in ("text", ["text"]):
        found = ColumnTransformer([("n-grams", HashedNgrams(64), columns)], sparse_threshold=0).fit_transform(
            FRAME
        )
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["hmm", "tagger", "rhmm", "pcfg", "topics"])
@pytest.mark.parametrize("given", [TEXTS, pandas.Series(TEXTS), FRAME, [3, 4], [{1, 2}]])
def test_an_estimator_never_takes_a_text_for_its_letters(name: str, given: Any) -> None:
    with pytest.raises(SpectralError, match=r"(is|are) expected|not text;"):
        spectralnlp.registry.estimators.get(name)().fit(given)


def test_taggers_take_words_and_tags_apart() -> None:
    words, tags = [["the", "dog"], ["a", "cat", "sleeps"]], [["D", "N"], ["D", "N", "V"]]
    tagger = spectralnlp.CRFTagger(epochs=2)
    together = tagger.fit(list(zip(words, tags, strict=True))).weights_
    apart = tagger.fit(words, tags).weights_
    np.testing.assert_array_equal(apart.transitions, together.transitions)
    assert tagger.n_tokens_ == 5
    with pytest.raises(SpectralError, match="2 examples and 1 labels"):
        tagger.fit(words, tags[:1])


def test_texts_without_labels_are_no_gold_data(models: SimpleNamespace) -> None:
    with pytest.raises(SpectralError, match="a text without a label"):
        spectralnlp.evaluate(models.model, pandas.Series(TEXTS))
    assert spectralnlp.evaluate(models.model, FRAME).to_flat_dict()["texts"] == len(TEXTS)


def test_frames_go_through_scikit_learns_tools() -> None:
    scores = cross_val_score(new_classifier(), FRAME[["text"]], FRAME[["label"]], cv=2)
    np.testing.assert_array_equal(scores, cross_val_score(new_classifier(), TEXTS, LABELS, cv=2))
    rows = SENT(sketch_size=4).set_output(transform="pandas").fit_transform(FRAME[["text"]])
    assert rows.index.equals(FRAME.index)
