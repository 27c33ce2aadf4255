"""Floors of speed, memory and quality of eigenwords on a tenth of the English text."""

from __future__ import annotations

import gzip
from pathlib import Path
from time import process_time

import pytest

from spectralnlp.estimators.eigenwords import Eigenwords
from spectralnlp.tasks.vectors import VectorsTask, neighbour_agreement

pytestmark = pytest.mark.corpus


def test_a_million_words_take_seconds_and_lie_beside_their_like(shared: Path, tmp_path: Path) -> None:
    task, path = VectorsTask(), tmp_path / "part.txt"
    with gzip.open(shared / "corpora" / "text" / "english_10m.txt.gz", "rt", encoding="utf-8") as file:
        path.write_text(
            "".join(line for number, line in enumerate(file) if number % 10 == 0), encoding="utf-8"
        )
    corpus = task.read([path])
    task.train(Eigenwords(dimensions=2), corpus, report=lambda line: None)  # compiles
    started = process_time()
    vectors = task.train(Eigenwords(), corpus, report=lambda line: None)
    assert process_time() - started < 15  # 1.6 on a quiet machine
    gold = task.read_gold([shared / "corpora" / "tagging" / "ewt" / "en_ewt-ud-train.conllu"])
    report = neighbour_agreement(vectors, gold)
    assert report.nearest > 66
    assert report.nearest > 2 * report.chance
    assert {"she", "they"} & {word for word, _ in vectors.most_similar("he", 5)}
