"""The benchmark of word vectors on a few words: that it runs, and reads and samples what it says."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from benchmarks import eigenwords, tagging

CONLLU = "".join(
    f"{i}\t{word}\t_\t{tag}\t" + "_\t" * 5 + "_\n"
    for i, (word, tag) in enumerate(
        [("The", "DET"), ("cat", "NOUN"), ("sat", "VERB"), (".", "PUNCT")], start=1
    )
)


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    for name in (eigenwords.TRAIN, eigenwords.DEV):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# sent_id = 1\n{CONLLU}\n" * 20)
    (tmp_path / "text").mkdir()
    with gzip.open(tmp_path / eigenwords.ENGLISH, "wt") as file:
        file.write("The cat sat .\nA dog sat .\nThe dog ran .\n" * 40)
    return tmp_path


def test_learning_and_quality(corpora: Path, tmp_path: Path) -> None:
    pytest.importorskip("pycrfsuite")
    setting = "dimensions=2,min_count=2"
    learned = eigenwords.learn(setting, [corpora / eigenwords.ENGLISH], tmp_path)
    assert learned.tokens == 480
    assert learned.peak_mb > 0
    nearest, ten, tags, _ = eigenwords.quality(learned, corpora, "tokens")
    assert 0 <= float(ten) <= float(nearest) + 100
    assert float(tags) == 100


def test_samples_are_every_so_manieth_line(corpora: Path, tmp_path: Path) -> None:
    (path,) = eigenwords.sample(corpora, 5.15, tmp_path)
    assert len(path.read_text().splitlines()) == 60
    assert eigenwords.sample(corpora, 10, tmp_path) == [corpora / eigenwords.ENGLISH]


def test_features_of_the_tagger() -> None:
    assert tagging.shape("Abc-1234") == "Xx-9"
    first = tagging.plain_features(["The", "cat"])[0]
    assert {"w0=the", "w1=cat", "b+=the cat", "c=The", "s2=he", "capital"} <= set(first)
