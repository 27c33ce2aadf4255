"""Every package says what of it is public."""

from __future__ import annotations

import importlib
import pkgutil

import pytest
import spectralnlp_sketch
import spectralnlp_spacy
import spectralnlp_trees

import spectralnlp

PACKAGES = [
    found.name
    for root in (spectralnlp, spectralnlp_sketch, spectralnlp_spacy, spectralnlp_trees)
    for found in pkgutil.walk_packages(root.__path__, f"{root.__name__}.")
    if found.ispkg
]


@pytest.mark.parametrize("name", PACKAGES)
def test_public_names_are_there(name: str) -> None:
    package = importlib.import_module(name)
    for public in package.__all__:
        if not hasattr(package, public):
            importlib.import_module(f"{name}.{public}")
