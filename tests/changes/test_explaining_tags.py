"""Why a tag: features and training sentences, which add up to the tag's log-odds."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from change_runs import Run

import spectralnlp
from spectralnlp import InMemoryCorpus, changes, read_treebank, registry
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.inference.chains.token_features import token_features
from spectralnlp.models.tagger import Tagger

WORDS = ["The", "keeper", "lights", "the", "lamp", "in", "the", "evening", "."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tagger with its examples."""
    path = tmp_path_factory.mktemp("models") / "tagger"
    trees = read_treebank("corpora/treebank/train.mrg")
    examples = [(tuple(tree.words()), tuple(tree.tags())) for tree in trees]
    learner = registry.estimators.get("tagger")(epochs=3)
    changes.train("tagger", learner, InMemoryCorpus(examples)).save(path)
    return path


@pytest.fixture(scope="module")
def tagger(folder: Path) -> Tagger:
    model: Tagger = spectralnlp.load(folder)
    return model


@pytest.mark.parametrize("token", range(len(WORDS)))
def test_parts_add_up_to_the_log_odds(tagger: Tagger, token: int) -> None:
    explained = tagger.tag_tokens(WORDS).explain(token)
    p = dict(zip(tagger.tags, tagger.posteriors(WORDS)[token].tolist(), strict=True))
    assert explained.tag == tagger.tag_tokens(WORDS).tags[token]
    assert p[explained.alternative] == max(p[tag] for tag in p if tag != explained.tag)
    assert explained.log_odds == pytest.approx(
        math.log(p[explained.tag] / p[explained.alternative]), abs=1e-3
    )
    parts = explained.of_features + explained.before + explained.after
    assert parts == pytest.approx(explained.log_odds)


@pytest.mark.parametrize("words", [WORDS, ["Fish"], ["A", "3-year-old", "NATO", "ship"]])
def test_features_add_up_to_the_scores(tagger: Tagger, words: list[str]) -> None:
    emissions, _ = tagger._scorer.emissions([words])
    for token in range(len(words)):
        features = token_features(tagger.weights, tagger.features, words, token)
        np.testing.assert_allclose(features.scores.sum(axis=0), emissions[token], atol=1e-4)


def test_features_are_in_words(tagger: Tagger) -> None:
    texts = token_features(tagger.weights, tagger.features, WORDS, 0).texts
    assert {"the word is “the”", "the word begins the sentence", "there is no word before"} <= {*texts}
    texts = token_features(tagger.weights, tagger.features, WORDS, 2).texts
    assert {"the word ends in “ts”", "the word after is “the”", "the word two before has the shape Xx"} & {
        *texts
    }


def test_sentences_share_the_weights_of_features(tagger: Tagger) -> None:
    explained = tagger.explain(WORDS, 2)
    learned = tagger.learned_sentences
    features = token_features(tagger.weights, tagger.features, WORDS, 2)
    tags = [tagger.tags.index(tag) for tag in (explained.tag, explained.alternative)]
    weights = features.scores[:, tags[0]] - features.scores[:, tags[1]]
    shares = learned.shares(features, weights, *tags)
    assert shares[shares > 0].sum() <= weights[weights > 0].sum() * (1 + 1e-9)
    assert shares[shares > 0].sum() > 0.5 * weights[weights > 0].sum()
    trees = list(read_treebank("corpora/treebank/train.mrg"))
    for each in (*explained.in_favour, *explained.against):
        assert each.words == tuple(trees[each.sentence - 1].words())
        wanted = explained.tag if each.influence > 0 else explained.alternative
        assert each.tags[each.token] == wanted
    assert [each.influence for each in explained.in_favour] == sorted(
        (each.influence for each in explained.in_favour), reverse=True
    )


def test_without_examples_there_are_features_alone(tagger: Tagger) -> None:
    bare = pickle.loads(pickle.dumps(tagger))
    explained = bare.explain(WORDS, 2)
    assert explained.features_in_favour
    assert explained.in_favour == explained.against == ()


def test_spans_are_explained_as_they_were_learned(tmp_path: Path) -> None:
    names = [(("Mr.", "Bell", "met", "Ann"), ("O", "B-PER", "O", "B-PER"))] * 6
    names += [(("Ann", "Bell", "left"), ("B-PER", "I-PER", "O"))] * 6
    learner = registry.estimators.get("tagger")(epochs=3)
    changes.train("tagger", learner, InMemoryCorpus(names)).save(tmp_path / "model")
    explained = spectralnlp.load(tmp_path / "model").explain(["Mr.", "Bell", "left"], 1, "S-PER")
    assert explained.in_favour[0].tags == ("O", "S-PER", "O", "S-PER")
    with pytest.raises(InputError, match="no sequence of tags has the tag at token 0"):
        spectralnlp.load(tmp_path / "model").explain(["Mr."], 0, "E-PER")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda model: model.explain(WORDS, 9), "token 9 is out of range"),
        (lambda model: model.explain(WORDS, -1), "token -1 is out of range"),
        (lambda model: model.explain(WORDS, True), "token is bool, not a whole number"),
        (lambda model: model.explain(WORDS, 1, limit=0), "limit 0 is out of range"),
        (lambda model: model.explain(WORDS, 1, "NOUN"), "no tag 'NOUN'"),
        (lambda model: model.explain(" ".join(WORDS), 1), "a text where tokens are expected"),
        (lambda model: pickle.loads(pickle.dumps(model.tag_tokens(WORDS))).explain(1), "not know its model"),
    ],
)
def test_bad_questions_are_refused(tagger: Tagger, ask: Callable[[Any], Any], message: str) -> None:
    with pytest.raises((InputError, ConfigError), match=message):
        ask(tagger)


def test_the_command_explains_a_tag(run: Run, folder: Path) -> None:
    arguments = ["explain", str(folder), "--tokens", " ".join(WORDS), "--token", "2"]
    status, out, _ = run(*arguments)
    assert status == 0
    assert "features in favour:\n  +" in out
    assert "training sentences in favour:\n  +" in out
    status, out, _ = run(*arguments, "--label", "NNS", "--json", "--limit", "1")
    found = json.loads(out)
    assert (status, found["tag"], len(found["features_in_favour"])) == (0, "NNS", 1)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--tokens", "a b"],
        ["--token", "0"],
        ["--token", "0", "--tokens", " "],
        ["--tokens", "a b", "--token", "5"],
        ["--tokens", "a b", "--token", "0", "--bracket", "0", "1", "NP"],
        ["--tokens", "a b", "--bracket", "0", "1", "NP"],
        ["--tokens", "a b", "--token", "0", "--recount"],
        ["--text", "a b", "--tokens", "a b"],
        ["--text", "a b"],
    ],
)
def test_the_command_refuses_what_means_nothing(run: Run, folder: Path, arguments: list[str]) -> None:
    status, out, err = run("explain", str(folder), *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
