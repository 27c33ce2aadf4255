"""Moments without the rare words of a site: pseudo-words that look alike stand for them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from change_runs import Run
from hypothesis import given, settings
from hypothesis import strategies as st

import spectralnlp
from spectralnlp import InMemoryCorpus, changes, registry
from spectralnlp.changes.rare_words import pseudo_words
from spectralnlp.errors import ConfigError
from spectralnlp.storage import load_kept_moments
from spectralnlp.text.signatures import english_signature, neutral_signature, signature_chain

KEY = b"key"
RARE = ["Zzyzx", "McDonald", "555-1234", "Müller's", "walking", "gas", "ab", "land$", "Öl", "東京都", "猫"]
COMMON = ["the", "a", "of", "house", "Haus", "1999", ",", ".", "-LRB-", "running", "Ärger", "大阪府", "犬"]


@given(counts=st.dictionaries(st.text(min_size=1, max_size=9), st.integers(1, 4), max_size=12))
@settings(max_examples=40, deadline=None)
def test_pseudo_words_look_like_their_words(counts: dict[str, int]) -> None:
    names = pseudo_words(counts, 2, KEY)
    assert all(counts[word] <= 2 for word in names)
    assert len({*names.values(), *counts}) == len(names) + len(counts)
    for word, name in names.items():
        for signature in (english_signature, neutral_signature):
            for place in (0, 3):
                found = [signature(each, place) for each in (word, name)]
                assert found[0] == found[1]
                coarse = [signature_chain(found[0], each)[-3:] for each in (word, name)]
                assert coarse[0][-1] == coarse[1][-1]


def test_pseudo_words_depend_on_a_key_and_keep_endings_alone() -> None:
    counts = dict.fromkeys(COMMON, 9) | dict.fromkeys(RARE, 1)
    names = pseudo_words(counts, 1, KEY)
    assert names.keys() == set(RARE)
    assert names == pseudo_words(dict(reversed(counts.items())), 1, KEY)
    others = pseudo_words(counts, 1, b"another")
    assert all(names[word] != others[word] for word in RARE if len(word) > 4)
    assert names["walking"][-3:] == "ing"
    assert [i for i, c in enumerate(names["555-1234"]) if c == "-"] == [3]
    assert names["McDonald"][-3:] == "ald"
    assert [c.isupper() for c in names["McDonald"]] == [c.isupper() for c in "McDonald"]
    assert names["land$"][-1] == "$"
    assert pseudo_words({",": 1, "-LRB-": 1, "😀": 1, "x": 1}, 1, KEY) == {}


def trees(verb: str, name: str) -> str:
    line = "(S (NP (DT the) (NN {})) (VP (VBD {}) (NP (NNP {}))))\n"
    return "".join(line.format(noun, verb, name) for noun in ("cat", "dog", "cat", "dog"))


@pytest.fixture
def sites(tmp_path: Path) -> list[Path]:
    """Two files of trees, with a name that is seen once at each."""
    files = []
    for number, (verb, name) in enumerate((("saw", "Featherstone"), ("heard", "Cholmondeley"))):
        path = tmp_path / f"{number}.mrg"
        path.write_text(trees(verb, "Anna") + f"(S (NP (NNP {name})) (VP (VBD slept)))\n")
        files.append(path)
    return files


def words_in(folder: Path) -> str:
    """All text in a folder, that of deflated arrays too."""
    kept = load_kept_moments(folder)
    assert kept is not None
    content = b"\n".join(each.tobytes() for each in kept[1].all().values())
    return (content + b"".join(each.read_bytes() for each in folder.iterdir())).decode("utf-8", "replace")


def refused(outcome: Any, *parts: str) -> None:
    assert (outcome.status, outcome.err.count("\n")) == (2, 1), outcome
    assert all(part in outcome.err for part in parts), outcome.err


@pytest.mark.parametrize("estimator", ["pcfg", "tagger"])
def test_rare_words_do_not_travel(run: Run, sites: list[Path], tmp_path: Path, estimator: str) -> None:
    keep = ("--keep-moments", "--keep-words-above", 1)
    parts = [tmp_path / "a", tmp_path / "b"]
    for file, part in zip(sites, parts, strict=True):
        run("train", estimator, file, "-o", part, *map(str, keep))
    both = tmp_path / "both"
    assert run("merge", *parts, "-o", both).status == 0
    for folder in (*parts, both):
        text = words_in(folder)
        assert not any(name in text for name in ("Feather", "Cholm", "slept"))
        assert "Anna" in text
        assert "rstone" not in text
        assert "words seen once replaced" in run("info", folder).out
    first = {each.name: each.read_bytes() for each in both.iterdir()}
    refused(run("forget", both, sites[0]), "words seen once were replaced", "train again without the data")
    refused(run("update", both, sites[0], "--skip-known"), "cannot be recognised", "leave out --skip-known")
    assert {each.name: each.read_bytes() for each in both.iterdir()} == first
    new = tmp_path / "new.mrg"
    new.write_text(trees("fed", "Bertha") + "(S (NP (NNP Wriothesley)) (VP (VBD slept)))\n")
    assert run("update", both, new).status == 0
    text = words_in(both)
    assert "Bertha" in text
    assert "Wrio" not in text


def test_what_else_is_refused(run: Run, sites: list[Path], tmp_path: Path) -> None:
    train = ("train", "pcfg", sites[0], "-o", tmp_path / "m", "--keep-words-above")
    refused(run(*train, "1"), "--keep-words-above means nothing without --keep-moments")
    assert run(*train, "-1", "--keep-moments").status == 2
    texts = tmp_path / "texts.tsv"
    texts.write_text("".join(f"{label}\tsome words of {label} {n}\n" for label in "ab" for n in range(5)))
    intent = ("train", "intent", texts, "-o", tmp_path / "m", "--keep-examples", "--keep-words-above", "1")
    refused(run(*intent), "rare words cannot be renamed for intents")
    assert not (tmp_path / "m").exists()


def test_joined_models_keep_the_words_of_the_strictest() -> None:
    kind = registry.estimators.get("hmm")
    corpora = [InMemoryCorpus([["a", "b", name], ["b", "a", "a"], ["b", "a"]]) for name in ("Xyz", "Uvw")]
    train = changes.train
    parts = [
        train("hmm", kind(n_states=1), corpus, keep_words_above=above).kept
        for corpus, above in zip(corpora, (0, 2), strict=True)
    ]
    joined = changes.merge(parts)
    assert joined.kept.keep_words_above == 2
    found = Counter(joined.model.symbols)
    assert {"a", "b", "Xyz"} <= found.keys()
    assert "Uvw" not in found
    with pytest.raises(ConfigError, match="words seen 2 times or less were replaced"):
        changes.forget(joined.kept, corpora[0])


def test_python_refuses_to_forget(tmp_path: Path) -> None:
    corpus = InMemoryCorpus([["a", "b"], ["b", "a"], ["b", "Xyz"]])
    kind = registry.estimators.get("hmm")
    changes.train("hmm", kind(n_states=1), corpus, keep_words_above=1).save(tmp_path / "m")
    model = spectralnlp.load(tmp_path / "m")
    assert "Xyz" not in model.symbols
    with pytest.raises(ConfigError, match="words seen once were replaced"):
        model.forget([["a", "b"]])
    assert changes.KeptMoments.load(tmp_path / "m", "update").keep_words_above == 1
