"""Fixtures that all tests share, and how hypothesis runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).resolve().parent.parent

# A shell that runs the tests in its background has them ignore interrupts, and so would their children.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Kernels compile at their first call, so a first example may take seconds. Each run draws other examples.
# No test depends on how fast the machine is: neither deadlines nor the check of how long inputs take to make.
settings.register_profile(
    "spectralnlp", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("spectralnlp")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Compile kernels in a fresh clone, before workers begin that would both compile the same ones."""
    if os.environ.get("NUMBA_CACHE_DIR") or any((REPOSITORY / "spectralnlp").rglob("*.nbi")):
        return
    print("compiling kernels, once in a clone")
    command = [sys.executable, "-c", "from spectralnlp.cli import main; raise SystemExit(main())", "warm-up"]
    parsing, training = (
        subprocess.Popen([*command, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for arguments in (["en"], ["en-tagger", "--training"])
    )
    parsing.wait()
    training.wait()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse tests that read the shared corpora unmarked."""
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


@pytest.fixture(scope="module")
def language_models() -> Iterator[None]:
    """The models in ``grammars/LANGUAGE/``, known by name as if those distributions were installed."""
    from spectralnlp import registry

    names = []
    for meta in (REPOSITORY / "grammars").glob("*/spectralnlp_*/*/model.json"):
        name = f"{meta.parent.name.replace('_', '-')}.v1"
        if name not in registry.models:
            registry.models.register(name)(meta.parent)
            names.append(name)
    yield
    for name in names:
        del registry.models._local[name]
    registry.models._forget()


@pytest.fixture(scope="session")
def word_folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Model folders learned from a made-up language of 24 words, for models that take vectors.

    ``words`` are eigenwords with contexts and clusters, ``plain`` come without either from a word2vec file,
    ``states`` is a hidden Markov model.
    """
    import numpy as np

    from spectralnlp.estimators.eigenwords import Eigenwords
    from spectralnlp.estimators.hmm import HMM
    from spectralnlp.models.vectors import Vectors
    from spectralnlp.runtime import InMemoryCorpus
    from spectralnlp.tasks.sequences import SequenceTask
    from spectralnlp.tasks.vectors import VectorsTask

    root, rng = tmp_path_factory.mktemp("words"), np.random.default_rng(0)
    kinds = (["the", "a", "this"], ["cat", "dog", "fox", "hen", "cow", "owl"], ["saw", "bit", "fed", "met"])
    lines = [" ".join(str(rng.choice(kinds[kind])) for kind in (0, 1, 2, 0, 1)) + " ." for _ in range(300)]
    text = root / "text.txt"
    text.write_text("\n".join(lines) + "\n")
    folders = {name: root / name for name in ("words", "plain", "states")}
    task = VectorsTask()
    quiet = {"report": lambda line: None}
    learner = Eigenwords(dimensions=4, min_count=1, clusters=4)
    vectors = task.train(learner, task.read([text]), **quiet)
    vectors.save(folders["words"])
    with (root / "plain.txt").open("w") as file:
        words = vectors.parameters.words
        file.write(f"{len(words)} 3\n")
        file.writelines(f"{word} {' '.join(f'{x:.3f}' for x in rng.normal(size=3))}\n" for word in words)
    Vectors.from_word2vec(root / "plain.txt").save(folders["plain"])
    sequences = InMemoryCorpus([line.split() for line in lines])
    SequenceTask().train(HMM(n_states=3), sequences, **quiet).save(folders["states"])
    return folders


@pytest.fixture(scope="session")
def scheduler() -> Iterator[str]:
    """The address of a Dask scheduler with two workers on this machine, one for all tests."""
    pytest.importorskip("distributed")
    from spectralnlp_dask.cluster import quiet, start_local

    with quiet(), start_local(2) as cluster:
        yield str(cluster.scheduler_address)
