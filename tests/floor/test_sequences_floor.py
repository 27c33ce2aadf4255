"""Least scores of models of sequences on the Brown corpus; see docs/sequences.md."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from spectralnlp.estimators.hmm import HMM
from spectralnlp.inference.chains.filtering import run_sequences
from spectralnlp.models.sequence_model import SequenceModel
from spectralnlp.runtime import InMemoryCorpus
from spectralnlp.tasks.sequences import SequenceTask

pytestmark = pytest.mark.corpus


def read_lines(folder: Path, kind: str, part: str) -> Iterator[list[str]]:
    with (folder / f"{kind}.{part}.txt").open(encoding="utf-8") as lines:
        yield from map(str.split, lines)


@pytest.mark.parametrize(("kind", "max_symbols", "most"), [("tags", 50_000, 12.3), ("words", 1_000, 42.5)])
def test_perplexity_stays_low_and_every_prediction_is_a_distribution(
    shared: Path, kind: str, max_symbols: int, most: float
) -> None:
    folder = shared / "corpora" / "tagging" / "brown"
    train, dev = list(read_lines(folder, kind, "train")), list(read_lines(folder, kind, "dev"))
    model = SequenceModel(HMM(max_symbols=max_symbols).fit(InMemoryCorpus(train)).filter_)
    assert SequenceTask().evaluate(model, InMemoryCorpus(dev)).perplexity < most

    def visit(which, position, p, states, symbols):  # type: ignore[no-untyped-def]
        assert (p >= 0).all()
        np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-9)

    run_sequences(model.filter, [model.encode(sequence) for sequence in dev[:300]], visit)
