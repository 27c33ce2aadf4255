"""Updates, unlearning and merging of treebanks that count more, or whose labels are renamed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from change_runs import Run

import spectralnlp
from spectralnlp import InMemoryCorpus, changes, registry
from spectralnlp.errors import ConfigError
from spectralnlp.trees import read_trees


def arrays(model: Path) -> bytes:
    return (model / "arrays.safetensors").read_bytes()


@pytest.fixture(params=["pcfg", "pcfg with components", "lpcfg"])
def learner(request: pytest.FixtureRequest) -> list[str]:
    if request.param == "pcfg":
        return ["pcfg"]
    if request.param == "pcfg with components":
        return ["pcfg", "--set", "sentence_ends=true"]  # keeps the trees
    return ["lpcfg", "--set", "preset=fast", "--set", "em_iterations=0", "--set", "span_scorer=false"]


def test_update_forget_and_merge_know_weights(
    run: Run, trees: list[Path], learner: list[str], tmp_path: Path
) -> None:
    first, second, third = trees

    def train(name: str, *inputs: str | Path) -> Path:
        status, _, err = run("train", *learner, *inputs, "--keep-moments", "-o", tmp_path / name)
        assert status == 0, err
        return tmp_path / name

    both = train("both", first, second, "--weight", f"{second}=2")
    alone, heavy = train("alone", first), train("heavy", second, "--weight", f"{second}=2")
    assert run("update", alone, second, "--weight", f"{second}=2", "-o", tmp_path / "updated").status == 0
    assert arrays(tmp_path / "updated") == arrays(both)
    assert run("merge", alone, heavy, "-o", tmp_path / "merged").status == 0
    assert arrays(tmp_path / "merged") == arrays(both)
    # What is forgotten is gone, however often it counted; nobody has to say it again.
    assert run("forget", both, second, "-o", tmp_path / "forgot").status == 0
    assert arrays(tmp_path / "forgot") == arrays(alone)
    assert run("update", tmp_path / "forgot", third, "-o", tmp_path / "further").status == 0
    assert arrays(tmp_path / "further") == arrays(train("further-anew", first, third))


def test_more_trees_are_renamed_as_the_first_were(run: Run, trees: list[Path], tmp_path: Path) -> None:
    table, model = tmp_path / "my.map", tmp_path / "model"
    table.write_text("label\tNP\tNOM\n")
    assert run("train", "pcfg", trees[0], "--map", table, "--keep-moments", "-o", model).status == 0
    assert run("update", model, trees[1], "-o", tmp_path / "updated").status == 0
    run("train", "pcfg", *trees[:2], "--map", table, "-o", tmp_path / "at-once")
    assert arrays(tmp_path / "updated") == arrays(tmp_path / "at-once")
    assert run("forget", tmp_path / "updated", trees[1]).status == 0
    assert arrays(tmp_path / "updated") == arrays(model)
    run("train", "pcfg", trees[1], "--keep-moments", "-o", tmp_path / "plain")
    status, _, err = run("merge", model, tmp_path / "plain", "-o", tmp_path / "merged")
    assert status == 2
    assert "differ in map" in err


def test_another_language_is_warned_of(run: Run, trees: list[Path], tmp_path: Path) -> None:
    model, other = tmp_path / "model", tmp_path / "other.mrg"
    other.write_text("(S (NP (ART der) (N Hund)) (VP (V bellt)))\n")
    assert run("train", "pcfg", trees[0], "--keep-moments", "-o", model).status == 0
    status, out, _ = run("update", model, other)
    assert status == 0
    assert "100 % of the added words are unknown to the model" in out


def test_a_parser_keeps_its_tagger_when_it_changes_in_python(trees: list[Path], tmp_path: Path) -> None:
    first, second = (list(read_trees(path)) for path in trees[:2])
    change = changes.train("pcfg", registry.estimators.get("pcfg")(), InMemoryCorpus(first))
    named = replace(change, model=replace(change.model, tagger="harbour-tags"))
    named.save(tmp_path / "m")
    parser = spectralnlp.load(tmp_path / "m")
    more = parser.update(second)
    assert (parser.tagger, more.tagger) == ("harbour-tags", "harbour-tags")
    assert more.forget(second).tagger == "harbour-tags"
    # So does one that was given a tagger by hand, which may still change.
    tagger = spectralnlp.train("tagger", [(each.words(), each.tags()) for each in first + second], epochs=1)
    listening = more.with_tagger(tagger)
    assert listening.forget(second).tag_evidence is listening.tag_evidence
    assert replace(more, max_length=20).forget(second).max_length == 20
    # One with other settings of training is another parser, of which nothing was kept.
    with pytest.raises(ConfigError, match="altered since"):
        replace(more, decoder="viterbi").save(tmp_path / "other", keep_moments=True)
    assert not (tmp_path / "other").exists()
