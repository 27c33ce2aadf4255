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
    "spectralnlp_sketch",
    "spectralnlp_spacy",
    "spectralnlp_nltk",
    "spectralnlp_dask",
]
TYPES = {"PlacedTree", "TagSource"}  # aliases of types have no docstring
NAMES = [
    f"{package}.{name}"
    for package in PACKAGES
    for name in importlib.import_module(package).__all__
    if name not in TYPES
]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def docstring_of(name: str) -> str:
    """The docstring of a name; constants are shown in that of their package."""
    package, _, attribute = name.rpartition(".")
    module = importlib.import_module(package)
    value = getattr(module, attribute)
    is_documented = inspect.isclass(value) or inspect.isroutine(value)
    text = inspect.getdoc(value if is_documented else module) or ""
    return text if is_documented or attribute in text else ""


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
