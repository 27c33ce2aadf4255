from __future__ import annotations

from pathlib import Path

import pytest

from spectralnlp.estimators.lpcfg import LPCFG
from spectralnlp.estimators.pcfg.estimator import PCFG
from spectralnlp.models.parser import Parser
from spectralnlp.tasks.parsing import ParsingTask

ESTIMATORS = {
    "pcfg": PCFG,
    "plain pcfg": lambda: PCFG.from_preset("plain"),
    "lpcfg": lambda: LPCFG(n_states=6, nodes_per_state=10.0),
    "tutorial": lambda: LPCFG.from_preset("tutorial", n_states=4),
}


@pytest.fixture(scope="session")
def parsers(own_treebank: Path) -> dict[str, Parser]:
    """Parsers trained on our own treebank, by name of what they were trained with."""
    task = ParsingTask()
    corpus = task.read([own_treebank / "train.mrg"])
    return {name: task.train(make(), corpus) for name, make in ESTIMATORS.items()}


@pytest.fixture(params=ESTIMATORS)
def parser(request: pytest.FixtureRequest, parsers: dict[str, Parser]) -> Parser:
    return parsers[request.param]
