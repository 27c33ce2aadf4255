"""``spectral_parser`` in a pipeline: annotation, batches, processes, odd documents, training."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace

import pytest

pytest.importorskip("spacy")

import spacy
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy_texts import BRACKETED, LOOP, SENTENCES, TEXT
from spectralnlp_spacy.constituents import KEY, tree_of
from spectralnlp_spacy.errors import ComponentError

import spectralnlp
from spectralnlp.trees.parse import IN_PIECES


def own_tokens(nlp, *sentences):
    """One document of sentences that are tokenised already."""
    words = [word for sentence in sentences for word in sentence]
    starts = [number == 0 for sentence in sentences for number, _ in enumerate(sentence)]
    return Doc(nlp.vocab, words=words, sent_starts=starts)


def strings(doc, key="constituents"):
    return [str(tree_of(doc, key, sent.start, sent.end)) for sent in doc.sents]


def test_one_line_gives_a_parser() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("spectral_parser")
    with pytest.warns(UserWarning, match="SW001"):
        doc = nlp("Visitors come by boat. Mrs. Okafor waits.")
    first, second = doc.sents
    assert first._.parse_string == "(S (NP (NNS Visitors)) (VP (VBP come) (PP (IN by) (NP (NN boat)))) (. .))"
    assert second.text == "Mrs. Okafor waits."
    assert [token.tag_ for token in first] == ["NNS", "VBP", "IN", "NN", "."]
    assert first._.confidence > 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the warning is given once
        nlp("Visitors come. They walk.")


def test_trees_are_the_cores(nlp, parser_folder) -> None:
    core = spectralnlp.load(parser_folder)
    doc = nlp(own_tokens(nlp, *SENTENCES))
    expected = [core.parse_tokens(words) for words in SENTENCES]
    assert [f"(TOP {each})" for each in strings(doc)] == [str(parse.tree) for parse in expected]
    posteriors = [c.posterior for parse in expected for c in parse.constituents]
    assert doc.spans["constituents"].attrs["posteriors"] == posteriors
    assert [span.label_ for span in doc.spans["constituents"]] == [
        c.label for parse in expected for c in parse.constituents
    ]


def test_brackets_and_quotes_are_the_parsers_affair(nlp) -> None:
    doc = nlp(own_tokens(nlp, BRACKETED))
    assert "-LRB-" in strings(doc)[0]
    assert doc[2].text == "("


def test_white_space_is_no_word(nlp) -> None:
    words = SENTENCES[0]
    spaced = own_tokens(nlp, ["\n", *words[:3], "  ", *words[3:], "\n\n"])
    plain = own_tokens(nlp, words)
    assert strings(nlp(spaced)) == strings(nlp(plain))
    assert next(iter(spaced.sents))._.labels == ("S",)
    assert spaced.spans["constituents"].attrs["tags"][0] == ""


@pytest.mark.parametrize(
    "text", ["", " ", "\n\n \t", "Hi", "!", "漢字 かな", "\U0001f600", "x" * 500, "a\x00b"]
)
def test_odd_documents_get_a_tree(nlp, text) -> None:
    doc = nlp(text)
    words = [token for token in doc if not token.is_space]
    covered = {i for span in doc.spans["constituents"] for i in range(span.start, span.end)}
    assert covered >= {token.i for token in words}


def test_long_sentences_are_parsed_in_pieces_and_flagged(parser_folder) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("spectral_parser", config={"model": str(parser_folder), "max_length": 13})
    words = LOOP * 400 + ["."]
    with pytest.warns(UserWarning, match="SW002.*more than max_length = 13 words in pieces"):
        doc = nlp(own_tokens(nlp, words, SENTENCES[2]))
    nlp(own_tokens(nlp, words))  # warned once
    assert len(words) > 4800
    long, short = doc.sents
    assert long._.fallback == IN_PIECES
    assert short._.fallback is None
    assert long._.labels[0] == "TOP"
    assert long._.confidence == 0
    assert [token.text for token in long] == [word.replace("(", "-LRB-") for word in long._.tree.leaves()]
    core = replace(spectralnlp.load(parser_folder), max_length=13).parse_tokens(words)
    assert (core.fallback, str(core.tree)) == (IN_PIECES, str(tree_of(doc, KEY, long.start, long.end)))


def test_sentence_boundaries_can_be_left_to_the_document(parser_folder) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("spectral_parser", config={"model": str(parser_folder), "split_sentences": False})
    with pytest.warns(UserWarning, match="SW001"):
        doc = nlp(TEXT)
    assert len(list(doc.sents)) == 1


def test_tags_are_set_only_where_there_are_none(nlp) -> None:
    doc = own_tokens(nlp, SENTENCES[2])
    doc[0].tag_ = "MINE"
    nlp(doc)
    assert [token.tag_ for token in doc] == ["MINE", "NN", "VBZ", "JJ", "."]
    assert doc[0]._.parse_string == "(MINE The)"
    assert doc[0].sent._.parse_string.startswith("(S (NP (MINE The) (NN lamp))")


def test_k_best_trees(nlp) -> None:
    doc = nlp(own_tokens(nlp, *SENTENCES))
    alternatives = nlp.get_pipe("spectral_parser").k_best(next(doc.sents), 3)
    scores = [each.score for each in alternatives]
    assert scores == sorted(scores, reverse=True)
    assert 1 < len({str(each.tree) for each in alternatives}) == len(alternatives) <= 3
    assert len(nlp.get_pipe("spectral_parser").k_best(next(doc.sents), 1)) == 1


def test_k_best_trees_of_a_document_of_one_sentence(nlp) -> None:
    pipe = nlp.get_pipe("spectral_parser")
    doc = nlp("The lamp is ready.")
    assert pipe.k_best(doc, 3) == pipe.k_best(next(doc.sents), 3)
    assert pipe.k_best(nlp("The lamp is ready.\n\n"), 3)[0].tree.words() == [
        "The",
        "lamp",
        "is",
        "ready",
        ".",
    ]
    for text, found in ((TEXT, 3), (" ", 0), ("", 0)):
        with pytest.raises(ComponentError, match=rf"\[SN016\].* there are {found}\."):
            pipe.k_best(nlp(text))


def test_batches_and_processes_give_the_same(nlp) -> None:
    texts = [TEXT, "", "The lamp is ready.", TEXT] * 3
    one = [doc.to_bytes() for doc in map(nlp, texts)]
    assert [doc.to_bytes() for doc in nlp.pipe(texts, batch_size=5)] == one
    assert [doc.to_bytes() for doc in nlp.pipe(texts, n_process=2, batch_size=4)] == one


def test_an_error_goes_to_the_error_handler(nlp, monkeypatch) -> None:
    pipe = nlp.get_pipe("spectral_parser")
    predict = pipe.predict
    failed = []

    def fragile(docs):
        if any("lamp" in doc.text for doc in docs):
            raise RuntimeError("no lamp, please")
        return predict(docs)

    monkeypatch.setattr(pipe, "predict", fragile)
    pipe.set_error_handler(lambda name, proc, docs, error: failed.append(str(error)))
    docs = list(nlp.pipe(["The lamp is ready.", "They walk."], batch_size=1))
    assert [doc.text for doc in docs] == ["They walk."]
    assert failed == ["no lamp, please"]


def test_documents_travel(nlp) -> None:
    doc = nlp(TEXT)
    docs = list(DocBin(docs=[doc]).get_docs(nlp.vocab))
    assert strings(docs[0]) == strings(doc)
    assert docs[0][0:2]._.confidence == doc[0:2]._.confidence


def test_displacy_draws_the_spans(nlp) -> None:
    html = spacy.displacy.render(nlp(TEXT), style="span", options={"spans_key": "constituents"})
    assert "NP" in html


def test_components_can_be_switched_off(nlp, tmp_path) -> None:
    with nlp.select_pipes(disable="spectral_parser"):
        assert "constituents" not in nlp(TEXT).spans
    nlp.to_disk(tmp_path / "nlp")
    for switched in (
        {"exclude": ["spectral_parser"]},
        {"enable": ["sentencizer"]},
        {"disable": ["spectral_parser"]},
    ):
        assert "constituents" not in spacy.load(tmp_path / "nlp", **switched)(TEXT).spans


def test_a_prefix_keeps_names_apart(parser_folder) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    config = {"model": str(parser_folder), "prefix": "mine_", "spans_key": "mine"}
    nlp.add_pipe("spectral_parser", config=config)
    doc = nlp("The lamp is ready.")
    assert doc[0:2]._.mine_labels == ("NP",)
    with pytest.raises(ComponentError, match="SN013"):
        nlp.add_pipe("spectral_parser", "again", config={**config, "spans_key": "other"})


def test_two_parsers_need_two_places(nlp, parser_folder) -> None:
    with pytest.raises(ComponentError, match=r"\[SN006\].*'again' and 'spectral_parser'.*spans_key"):
        nlp.add_pipe("spectral_parser", "again", config={"model": str(parser_folder)})
    config = {
        "model": str(parser_folder),
        "spans_key": "viterbi",
        "prefix": "viterbi_",
        "decoder": "max-rule",
    }
    nlp.add_pipe("spectral_parser", "again", config=config)
    doc = nlp("The lamp is ready.")
    assert set(doc.spans) == {"constituents", "viterbi"}


# ---------------------------------------------------------------------------------------------------------
# Training


def examples_of(docs):
    return [Example(Doc(doc.vocab, words=[token.text for token in doc]), doc) for doc in docs]


def test_initialize_trains_what_the_core_trains(gold_docs, own_treebank) -> None:
    from spectralnlp import registry

    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("spectral_parser", config={"model": None, "settings": {"preset": "fast"}})
    assert pipe.labels == ()
    nlp.initialize(lambda: examples_of(gold_docs(nlp.vocab)))
    task = registry.tasks.get("parsing")()
    estimator = registry.estimators.get("lpcfg").from_preset("fast")
    core = task.train(estimator, task.read([own_treebank / "train.mrg"]))
    doc = nlp(own_tokens(nlp, *SENTENCES))
    assert [f"(TOP {each})" for each in strings(doc)] == [
        str(core.parse_tokens(words).tree) for words in SENTENCES
    ]
    assert {"NP", "S", "VP"} <= set(pipe.labels)
    assert not any(label.startswith("@") for label in pipe.labels)


def test_update_does_nothing_and_says_so(nlp, gold_docs) -> None:
    pipe = nlp.get_pipe("spectral_parser")
    before = pipe.to_bytes()
    losses = nlp.update(examples_of(gold_docs(nlp.vocab)[:5]), sgd=nlp.create_optimizer())
    assert losses == {"spectral_parser": 0.0}
    assert pipe.is_trainable
    assert pipe.to_bytes() == before


def test_scores_are_evalbs(nlp, gold_docs, own_treebank, parser_folder) -> None:
    from spectralnlp import registry

    task = registry.tasks.get("parsing")()
    report = task.evaluate(spectralnlp.load(parser_folder), task.read([own_treebank / "dev.mrg"]))
    examples = []
    for doc in gold_docs(nlp.vocab, "dev.mrg"):
        words = [token.text for token in doc]
        examples.append(
            Example(Doc(nlp.vocab, words=words, sent_starts=[True, *[False] * (len(words) - 1)]), doc)
        )
    with nlp.select_pipes(disable="sentencizer"):
        scores = nlp.evaluate(examples)
    assert scores["evalb_f"] == pytest.approx(report.overall.f1 / 100, abs=1e-12)
    assert scores["evalb_errors"] == 0
    assert 0.9 < scores["constituents_f"] <= 1
    assert "NP" in scores["constituents_per_type"]


def test_scores_without_gold_constituents_are_unknown(nlp) -> None:
    example = Example.from_dict(nlp.make_doc("The lamp is ready."), {})
    assert nlp.evaluate([example])["evalb_f"] is None


# ---------------------------------------------------------------------------------------------------------
# Bad input


NEEDS = r"\[SN003\] The component 'spectral_parser' needs examples with constituents.*frozen_components"


def test_initialize_says_what_it_needs() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("spectral_parser")
    with pytest.raises(ComponentError, match=NEEDS):
        nlp.initialize(lambda: [Example.from_dict(nlp.make_doc("The lamp is ready."), {})])
    nlp.get_pipe("spectral_parser").source = None
    with pytest.raises(ComponentError, match=NEEDS):
        nlp.initialize()


def test_initialize_without_examples_keeps_a_model_that_is_named(nlp) -> None:
    nlp.initialize()
    assert next(nlp(TEXT).sents)._.labels == ("S",)


def test_gold_constituents_without_tags_are_refused() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("spectral_parser")
    doc = nlp.make_doc("The lamp is ready.")
    spans = {"spans": {"constituents": [(0, 18, "S"), (0, 8, "NP")]}}
    with pytest.raises(ComponentError, match=r"\[SN015\].*The lamp is ready"):
        nlp.initialize(lambda: [Example.from_dict(doc, spans)])


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"model": "no-such-grammar"},
            r"\[SN001\].*'spectral_parser' cannot load the model 'no-such-grammar'",
        ),
        ({"model": "en_biomedical"}, r"\[SN001\].*did you mean en-biomedical\?"),
        ({"model": "en-tagger"}, r"\[SN004\].*'tagging'"),
        ({"decoder": "nonsense"}, r"\[SN019\] 'spectral_parser': no decoder is called 'nonsense'"),
    ],
)
def test_a_misspelt_model_or_decoder_fails_at_once(config, message) -> None:
    with pytest.raises(ComponentError, match=message):
        spacy.blank("en").add_pipe("spectral_parser", config=config)


def test_a_component_without_a_model_says_so() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("spectral_parser", config={"model": None})
    with pytest.raises(ComponentError, match=r"\[SN002\]"):
        nlp("Hi there")


def test_a_model_of_another_version_is_refused(nlp, tmp_path) -> None:
    nlp.to_disk(tmp_path / "nlp")
    header = tmp_path / "nlp" / "spectral_parser" / "model" / "model.json"
    header.write_text(re.sub(r'"format_version": \d+', '"format_version": 99', header.read_text()))
    with pytest.raises(ComponentError, match=r"\[SN001\].*model format 99.*upgrade"):
        spacy.load(tmp_path / "nlp")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"estimator": "no-such"}, r"\[SN005\].*no estimator is called"),
        ({"estimator": "hmm"}, r"\[SN007\].*'hmm'"),
        ({"settings": {"n_states": "many"}}, r"\[SN005\].*n_states"),
    ],
)
def test_settings_that_make_no_sense_are_named(config, message, gold_docs) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("spectral_parser", config=config)
    with pytest.raises(ComponentError, match=message):
        nlp.initialize(lambda: examples_of(gold_docs(nlp.vocab)[:3]))


def test_a_length_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(ComponentError, match=r"\[SN008\].*at least 1, not 0"):
        spacy.blank("en").add_pipe("spectral_parser", config={"max_length": 0})
