"""A small parser of our own, and pipelines with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def parser_folder(tmp_path_factory: pytest.TempPathFactory, own_treebank: Path) -> Path:
    """A model folder of the core, trained on our own treebank, with its moments."""
    from spectralnlp import changes, read_treebank, registry

    folder = tmp_path_factory.mktemp("models") / "parser"
    estimator = registry.estimators.get("lpcfg").from_preset("fast")
    changes.train("lpcfg", estimator, read_treebank(own_treebank / "train.mrg")).save(folder)
    return folder


@pytest.fixture
def nlp(parser_folder: Path) -> Any:
    """A blank English pipeline with ``spectral_parser`` behind spaCy's rule-based sentences."""
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("spectral_parser", config={"model": str(parser_folder)})
    return nlp


@pytest.fixture(scope="session")
def gold_docs(own_treebank: Path) -> Any:
    """Documents of one sentence with gold constituents, by hand: (vocab) -> list of Doc."""
    from spacy.tokens import Doc
    from spectralnlp_spacy.constituents import brackets_of, write_constituents

    from spectralnlp.trees import clean, read_trees

    def make(vocab: Any, name: str = "train.mrg") -> list[Doc]:
        docs = []
        for tree in filter(None, map(clean, read_trees(own_treebank / name))):
            doc = Doc(vocab, words=tree.words(), tags=tree.tags())
            doc[0].is_sent_start = True
            for token in doc[1:]:
                token.is_sent_start = False
            write_constituents(doc, "constituents", list(brackets_of(tree, range(len(doc)))), tree.tags())
            docs.append(doc)
        return docs

    return make
