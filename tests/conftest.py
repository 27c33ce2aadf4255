"""Fixtures that all tests share: where the corpora are, and how hypothesis runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

REPOSITORY = Path(__file__).resolve().parent.parent

# Kernels compile at their first call, so a first example may take seconds.
settings.register_profile("spectralnlp", deadline=None)
settings.load_profile("spectralnlp")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse tests that read the shared corpora without saying so."""
    for item in items:
        if "shared" in getattr(item, "fixturenames", ()) and item.get_closest_marker("corpus") is None:
            raise pytest.UsageError(
                f"{item.nodeid} uses the fixture 'shared': mark it with pytest.mark.corpus"
            )


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of corpora and golden files beside the repository; only for tests marked ``corpus``."""
    root = Path(os.environ.get("SPECTRALNLP_SHARED", REPOSITORY.parent / "shared"))
    if not (root / "corpora").is_dir():
        pytest.skip(f"no corpora under {root}; set SPECTRALNLP_SHARED to the folder that holds corpora/")
    return root


@pytest.fixture(scope="session")
def own_corpora() -> Path:
    """The small corpora written for this project."""
    return REPOSITORY / "corpora"


@pytest.fixture(scope="session")
def own_treebank(own_corpora: Path) -> Path:
    """The folder of our own treebank: ``train.mrg``, ``dev.mrg`` and ``spanish.mrg``."""
    return own_corpora / "treebank"


@pytest.fixture(scope="session")
def scheduler() -> Iterator[str]:
    """The address of a Dask scheduler with two workers on this machine, one for all tests."""
    pytest.importorskip("distributed")
    from spectralnlp_dask.cluster import quiet, start_local

    with quiet(), start_local(2) as cluster:
        yield str(cluster.scheduler_address)
