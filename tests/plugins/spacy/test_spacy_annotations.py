"""Dependencies and tags of documents as evidence for ``spectral_parser``."""

from __future__ import annotations

import warnings
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

pytest.importorskip("spacy")

import spacy
from spacy.tokens import Doc
from spectralnlp_spacy.annotations import annotations_of
from spectralnlp_spacy.errors import ComponentError
from spectralnlp_spacy.sentences import read_sentences, sentence_bounds

import spectralnlp
from spectralnlp.models.parser import Parser
from spectralnlp.parameters import AnnotationScheme
from spectralnlp.text.annotations import Annotations
from spectralnlp.text.conll import read_conllu
from spectralnlp.text.conventions import Conventions
from spectralnlp.text.tokens import Sentence

WORDS = ["Gulls", " ", "cry", ".", "Boats", "sail"]
HEADS, LABELS = [1, 2, 2, 2, 5, 5], ["nsubj", "", "ROOT", "punct", "nsubj", "ROOT"]
TAGS = ["NNS", "_SP", "VBP", ".", "NNS", "VBP"]
STARTS = [True, False, False, False, True, False]
FOUND = [
    Annotations([1, -1, 1], ["nsubj", "ROOT", "punct"], ["NNS", "VBP", "."]),
    Annotations([1, -1], ["nsubj", "ROOT"], ["NNS", "VBP"]),
]


def document(vocab, **columns) -> Doc:
    columns = {"heads": HEADS, "deps": LABELS, "tags": TAGS, **columns}
    return Doc(vocab, words=WORDS, **columns)


def annotations(doc: Doc) -> list[Annotations] | None:
    return annotations_of(read_sentences(doc, sentence_bounds(doc), Conventions()))


def test_annotations_of_a_document() -> None:
    vocab = spacy.blank("en").vocab
    assert annotations(document(vocab)) == FOUND  # "Gulls" depends on the white space, and that on "cry"
    assert annotations(document(vocab, tags=None)) is None
    assert annotations(document(vocab, heads=None, deps=None, sent_starts=STARTS)) is None
    assert annotations(document(vocab, deps=[*LABELS[:5], ""])) is None


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[Sentence]:
    """The sentences that the parser gets."""
    seen: list[Sentence] = []
    plain = Parser.parse_many

    def parse_many(self, items, **options):
        items = list(items)
        seen.extend(items)
        return plain(self, items, **options)

    monkeypatch.setattr(Parser, "parse_many", parse_many)
    return seen


def pipeline(labels: tuple[str, ...], **config):
    """A pipeline whose parser knows annotations with some labels."""
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("spectral_parser", config=config)
    parser = spectralnlp.load("en")
    scorer = replace(parser.components["span_scorer"], annotated=None)
    scheme = AnnotationScheme("pipe 1", labels, tuple(sorted(TAGS)))
    scorer = replace(scorer, annotated=replace(scorer, scheme=scheme))
    pipe.model = replace(parser, components={**parser.components, "span_scorer": scorer})
    return nlp


def test_they_are_used_and_a_warning_says_so_once(parsed: list[Sentence]) -> None:
    nlp = pipeline(("ROOT", "nsubj", "punct"))
    with pytest.warns(UserWarning, match="SW003"):
        doc = nlp(document(nlp.vocab))
    assert [each.annotations for each in parsed] == FOUND
    assert all(sent._.parse_string for sent in doc.sents)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp(document(nlp.vocab))
        pipeline(("ROOT", "nsubj", "punct"), use_dependencies="evidence")(document(nlp.vocab))
        pipeline(("ROOT", "nsubj", "punct"), use_dependencies="none")(document(nlp.vocab))
        nlp(document(nlp.vocab, heads=None, deps=None, sent_starts=STARTS))
    assert [each.annotations for each in parsed[2:]] == [*FOUND, *FOUND, None, None, None, None]


def test_those_of_another_scheme_are_not_used(parsed: list[Sentence]) -> None:
    nlp = pipeline(("root", "nsubj", "punct"))
    with pytest.warns(UserWarning, match=r"SW004.*'ROOT', unlike those of pipe 1"):
        nlp(document(nlp.vocab))
    assert [each.annotations for each in parsed] == [None, None]


def test_a_sentence_with_an_unknown_label_has_no_evidence(parsed: list[Sentence]) -> None:
    nlp = pipeline(("ROOT", "nsubj"), use_dependencies="evidence")
    with pytest.warns(UserWarning, match=r"SW004.*'punct', unlike those of pipe 1"):
        nlp(document(nlp.vocab))
    assert [each.annotations for each in parsed] == [None, FOUND[1]]


def test_an_unknown_use_is_refused() -> None:
    with pytest.raises(ComponentError, match="use_dependencies must be one of auto, evidence, none"):
        spacy.blank("en").add_pipe("spectral_parser", config={"use_dependencies": "always"})


def test_conllu_of_documents_is_read_back(tmp_path: Path, own_treebank: Path) -> None:
    """The script of ``grammars/`` that writes annotations of training sentences."""
    spec = spec_from_file_location("annotate", Path(__file__).parents[3] / "grammars" / "annotate.py")
    assert spec is not None
    assert spec.loader is not None
    annotate = module_from_spec(spec)
    spec.loader.exec_module(annotate)
    (tmp_path / "a.txt").write_text("-LRB- Yes -RRB-\n\n`` No ''\n")
    sentences = list(annotate.sentences([str(tmp_path / "a.txt"), str(own_treebank / "dev.mrg")]))
    assert sentences[:2] == [["(", "Yes", ")"], ['"', "No", '"']]
    assert sentences[2][:3] == ["The", "keeper", "climbs"]
    words = ["Gulls", "cry", "."]
    doc = Doc(
        spacy.blank("en").vocab,
        words=words,
        heads=[1, 1, 1],
        deps=["nsubj", "ROOT", "punct"],
        tags=["NNS", "VBP", "."],
    )
    (read,) = read_conllu(annotate.conllu(doc).splitlines(), "x.conllu")
    assert (list(read.words), read.annotations()) == (words, FOUND[0])
