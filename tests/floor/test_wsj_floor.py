"""Floors of F1 on a part of the WSJ sample: what a change must not lose unnoticed.

Raw words, default settings, EVALB with COLLINS.prm and gold tags for punctuation only.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from spectralnlp.estimator import Estimator
from spectralnlp.estimators.lpcfg import LPCFG
from spectralnlp.estimators.pcfg.estimator import PCFG
from spectralnlp.runtime import InMemoryCorpus
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.trees import Tree

pytestmark = pytest.mark.corpus

N_TRAIN, N_DEV = 1200, 200


@pytest.fixture(scope="module")
def wsj(shared: Path) -> tuple[InMemoryCorpus[Tree], InMemoryCorpus[Tree]]:
    task, root = ParsingTask(), shared / "corpora" / "treebanks" / "wsj"
    train, dev = task.read([root / "train"]), task.read([root / "dev"])
    return InMemoryCorpus(islice(train, N_TRAIN)), InMemoryCorpus(islice(dev, N_DEV))


@pytest.mark.parametrize(
    ("make", "floor"),
    [
        pytest.param(lambda: PCFG.from_preset("plain"), 65.5, id="plain pcfg"),
        pytest.param(PCFG, 76.5, id="pcfg"),
        pytest.param(LPCFG, 84.5, id="lpcfg"),
    ],
)
def test_f1_stays_above_its_floor(
    make: Callable[[], Estimator], floor: float, wsj: tuple[InMemoryCorpus[Tree], InMemoryCorpus[Tree]]
) -> None:
    train, dev = wsj
    task = ParsingTask()
    scores = task.evaluate(task.train(make(), train), dev).to_flat_dict()
    assert scores["f1"] > floor
    assert scores["failures"] <= 0.02 * N_DEV
