"""Every public name has an example in its docstring, and the example runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

for needed in ("spacy", "sklearn", "nltk", "distributed", "snowballstemmer"):
    pytest.importorskip(needed)

ROOT = Path(__file__).parents[2]
PACKAGES = [
    "spectralnlp",
    "spectralnlp.testing",
    "spectralnlp.changes",
    "spectralnlp.scoring",
    "spectralnlp.trees",
    "spectralnlp.models",
    "spectralnlp.render",
    "spectralnlp.linalg",
    *(f"spectralnlp.estimators.{name}" for name in importlib.import_module("spectralnlp.estimators").__all__),
    "spectralnlp_sketch",
    "spectralnlp_spacy",
    "spectralnlp_trees",
    "spectralnlp_nltk",
    "spectralnlp_dask",
]
TYPES = {
    "Direction",
    "PlacedTree",
    "TagSource",
    "TaggedSentence",
    "Unaries",
}  # aliases of types have no docstring
NAMES = [
    f"{package}.{name}"
    for package in PACKAGES
    for name in importlib.import_module(package).__all__
    if name not in TYPES
]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def docstring_of(name: str) -> str:
    """The docstring of a name; or that of its package, if the name is in the example there."""
    package, _, attribute = name.rpartition(".")
    module = importlib.import_module(package)
    value = getattr(module, attribute)
    own = (inspect.getdoc(value) or "") if inspect.isclass(value) or inspect.isroutine(value) else ""
    if ">>> " in own:
        return own
    shared = inspect.getdoc(module) or ""
    return shared if attribute in shared.partition(">>> ")[2] else ""


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(ROOT)
    with warnings.catch_warnings():
        yield


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_an_example_that_runs(name: str) -> None:
    examples = doctest.DocTestParser().get_doctest(docstring_of(name), {}, name, None, None)
    assert examples.examples
    report: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(examples, out=report.append)
    assert not report, "".join(report)
