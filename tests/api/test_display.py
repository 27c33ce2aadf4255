"""Whatever is public shows itself in one line, reports as tables, models as cards, results as data frames."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import pydoc
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import spectralnlp
from spectralnlp.display import exact
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.trees import read_brackets

pytest.importorskip("sklearn")

PACKAGES = [
    *(f"spectralnlp{name}" for name in ("", ".changes", ".trees", ".scoring", ".parameters", ".runtime")),
    *(f"spectralnlp.{name}" for name in ("models", "storage", "testing", "linalg", "render")),
    *(f"spectralnlp_{name}" for name in ("sketch", "trees")),
]
PLUGINS = ["annotate", "dask", "nltk", "sketch", "spacy", "trees", "web"]
MOST = 200


def public_classes() -> list[type]:
    found = set()
    for package in PACKAGES:
        module = importlib.import_module(package)
        found |= {value for name in module.__all__ if inspect.isclass(value := getattr(module, name, None))}
    return sorted(found, key=lambda each: each.__name__)


def values_in(value: Any) -> Iterator[Any]:
    """A value, and those of its fields that are of this project, at any depth."""
    yield value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            inner = getattr(value, field.name)
            for each in inner[:3] if isinstance(inner, list | tuple) else [inner]:
                if type(each).__module__.startswith("spectralnlp"):
                    yield from values_in(each)


@pytest.fixture(scope="module")
def parser(own_treebank: Path) -> spectralnlp.Parser:
    return spectralnlp.train("pcfg", own_treebank / "train.mrg", vertical=0)


@pytest.fixture(scope="module")
def classifier() -> Any:
    return spectralnlp.train("intent", "corpora/intents/train.tsv")


@pytest.mark.parametrize("kind", public_classes(), ids=lambda each: each.__name__)
def test_no_public_dataclass_shows_all_its_fields(kind: type) -> None:
    # What dataclasses write by themselves is wrapped against recursion.
    assert not (dataclasses.is_dataclass(kind) and hasattr(kind.__repr__, "__wrapped__"))


def test_every_value_is_shown_in_one_line(
    parser: spectralnlp.Parser, classifier: Any, own_treebank: Path
) -> None:
    sentences = [["tick", "tock", "a", "b", "tick", "c"] * 200] * 20
    shown = [
        parser,
        classifier,
        spectralnlp.load("en-upos"),
        spectralnlp.train("hmm", sentences, n_states=1),
        spectralnlp.train("eigenwords", sentences, dimensions=2, min_count=1),
        spectralnlp.evaluate(parser, own_treebank / "dev.mrg"),
        spectralnlp.evaluate(classifier, "corpora/intents/dev.tsv"),
        *parser.parse("The tower is high. The keeper climbs the stairs of the tower every evening."),
        *spectralnlp.load("en-upos").tag("The tower is high."),
        classifier.classify("how much is a ticket"),
        classifier.explain("how much is a ticket"),
        *parser.inspect("NP"),
        *list(spectralnlp.read_treebank(own_treebank / "train.mrg"))[:40],
        spectralnlp.LPCFG(grammars="tensors+" * 100),
        next(spectralnlp.InMemoryCorpus(sentences).batches(10)),
    ]
    for value in (each for outer in shown for each in values_in(outer)):
        text = repr(value)
        assert len(text) < MOST, text
        assert "\n" not in text


def test_models_name_themselves_and_their_size(parser: spectralnlp.Parser, tmp_path: Path) -> None:
    assert repr(parser).startswith("<Parser PCFG: 1 grammar, ")
    parser.save(tmp_path / "harbour")
    assert repr(spectralnlp.load(tmp_path / "harbour")).startswith("<Parser harbour: ")
    assert re.search(r", \d+ kB>$", repr(spectralnlp.load(tmp_path / "harbour")))
    assert re.fullmatch(r"<Tagger en-tagger: .*, \d+ MB>", repr(spectralnlp.load("en-tagger")))
    card = parser._repr_html_()
    assert card.startswith("<table>")
    assert "training trees" in card


def test_saving_overwrites_no_model_silently(parser: spectralnlp.Parser, tmp_path: Path) -> None:
    parser.save(tmp_path / "model")
    with pytest.raises(ConfigError, match="a model is here already"):
        parser.save(tmp_path / "model")
    parser.save(tmp_path / "model", overwrite=True)


def test_reports_are_tables_with_attributes(parser: spectralnlp.Parser, own_treebank: Path) -> None:
    report = spectralnlp.evaluate(parser, own_treebank / "dev.mrg")
    flat = report.to_flat_dict()
    assert str(report) == report.to_table()
    assert flat.keys() <= set(dir(report))
    assert all(getattr(report, name) == value for name, value in flat.items())
    assert f"<td>{flat['f1']:.2f}</td>" in report._repr_html_()
    with pytest.raises(AttributeError, match="no attribute 'f2'"):
        report.f2  # noqa: B018


def test_results_are_data_frames(parser: spectralnlp.Parser, classifier: Any, own_treebank: Path) -> None:
    pandas = pytest.importorskip("pandas")
    (parse,) = parser.parse("The tower is high.")
    frame = parse.to_frame()
    assert list(frame.columns) == ["label", "start", "end", "posterior", "text"]
    assert frame.text[0] == "The tower is high ."
    assert list(spectralnlp.load("en-upos").tag("It is.")[0].to_frame().word) == ["It", "is", "."]
    report = spectralnlp.evaluate(parser, own_treebank / "dev.mrg")
    assert report.to_frame().f1[0] == report.f1
    found = classifier.classify("how much is a ticket")
    assert found.to_frame().label[0] == found.label
    assert found.to_frame().probability.sum() == pytest.approx(1, abs=1e-5)
    rows = pandas.DataFrame(classifier.classify_many(["how much is a ticket", "when does it leave"]))
    assert rows.label[0] == found.label


@pytest.mark.parametrize("name", ["spectralnlp", *(f"spectralnlp_{each}" for each in PLUGINS)])
def test_completion_knows_the_public_names_before_they_are_used(name: str) -> None:
    pytest.importorskip(name)
    script = f"import json, {name} as it; print(json.dumps([dir(it), it.__all__]))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    names, public = json.loads(done.stdout)
    assert sorted(names) == sorted(public)


def test_help_is_a_short_signature_and_the_settings() -> None:
    text = pydoc.render_doc(spectralnlp.LPCFG, renderer=pydoc.plaintext)
    assert "Doc(" not in text.partition("Data and other attributes")[0]
    assert "n_states=24" in text.splitlines()[3]
    assert "n_states: int, 1 or more, at most 1000000. Maximum number of states per symbol (m)." in text


def test_leading_settings_may_be_positional() -> None:
    from spectralnlp_sketch import CCA, SENT, CountSketch, FrequentDirections, HashedNgrams

    assert FrequentDirections(80).sketch_size == CountSketch(80).sketch_size == SENT(80).sketch_size == 80
    assert CCA(3).n_components == spectralnlp.HMM(3).n_states == spectralnlp.TopicModel(3).n_topics == 3
    assert HashedNgrams(2**10).n_features == 2**10
    assert spectralnlp.LPCFG(4).n_states == spectralnlp.Eigenwords(4).dimensions == 4
    with pytest.raises(TypeError):
        FrequentDirections(80, 5)  # type: ignore[call-arg, misc]


def test_trees_are_read_from_a_string() -> None:
    text = "(S (NP (NNS Gulls)) (VP (VBP fly)))"
    (tree,) = read_brackets([text])
    assert spectralnlp.Tree.from_string(f" {text}\n") == tree
    for wrong in ("(S (NP", "", "(A b) (C d)", "gulls"):
        with pytest.raises(InputError):
            spectralnlp.Tree.from_string(wrong)
    with pytest.raises(ValueError, match=r"Tree\.from_string reads brackets"):
        spectralnlp.Tree(text)


def test_models_are_loaded_as_what_they_are(tmp_path: Path, classifier: Any) -> None:
    from spectralnlp_sketch import load_classifier

    classifier.save(tmp_path / "model")
    assert load_classifier(tmp_path / "model").labels == classifier.labels
    assert isinstance(spectralnlp.load_tagger("en-upos"), spectralnlp.Tagger)
    with pytest.raises(spectralnlp.SpectralError, match="a model for intents, not a parser"):
        spectralnlp.load_parser(tmp_path / "model")


def test_type_checkers_know_what_ships(tmp_path: Path) -> None:
    from spectralnlp import api

    source = inspect.getsource(api)
    shipped = {entry.name.partition(".v")[0] for entry in spectralnlp.registry.models.describe()}
    for name in shipped & {"en", "en-biomedical", "is", "en-tagger", "en-upos", "is-tagger"}:
        assert f'"{name}"' in source


def test_digests_see_what_a_line_leaves_out() -> None:
    trees = [spectralnlp.Tree("S", [spectralnlp.Tree("N", word=w) for w in ["a"] * 100 + [w]]) for w in "bc"]
    assert repr(trees[0]) == repr(trees[1])
    one, other = (exact(partial(print, [tree], end=spectralnlp.PCFG())) for tree in trees)
    assert one != other
