"""A small parser of our own, and a server for annotating with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from annotation_server import Running


@pytest.fixture(scope="session")
def parser_folder(tmp_path_factory: pytest.TempPathFactory, own_treebank: Path) -> Path:
    """A model folder, trained on our own treebank."""
    import spectralnlp

    folder = tmp_path_factory.mktemp("models") / "parser"
    spectralnlp.train("lpcfg", own_treebank / "train.mrg", preset="fast").save(folder)
    return folder


@pytest.fixture
def running(parser_folder: Path, tmp_path: Path) -> Iterator[Running]:
    """A server for four sentences, which does not learn."""
    server = Running(parser_folder, tmp_path)
    yield server
    server.stop()
