"""A sentence of 2,000 words, by every way in, in 4 GB; SPECTRALNLP_WORDS says another number.

A parser cuts it into pieces of 150 tokens, so that memory is the same for any number of words.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path

import pytest
from children import run_child

from spectralnlp.cli.app import run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="needs bounds on addresses"),
]

N_WORDS = int(os.environ.get("SPECTRALNLP_WORDS", "2000"))
MEGABYTES = 4096

PYTHON = """
import sys, spectralnlp
words = open(sys.argv[2]).read().split()
parse = spectralnlp.load(sys.argv[1]).parse_tokens(words)
assert parse.tree.words() == words
"""

SPACY = """
import sys, spacy, spectralnlp_spacy
from spacy.tokens import Doc
words = open(sys.argv[2]).read().split()
nlp = spacy.blank("en")
nlp.add_pipe("spectral_parser", config={"model": sys.argv[1], "split_sentences": False, "max_length": 20_000})
(tagged,) = nlp.pipe([Doc(nlp.vocab, words=words)])
assert all(token.tag_ for token in tagged)
"""

SERVE = """
import json, sys, threading, urllib.request
from spectralnlp_spacy.serve.limits import Limits
from spectralnlp_spacy.serve.server import Server
text = open(sys.argv[2]).read()
limits = Limits(characters=len(text), tokens=30_000, seconds=600, workers=1)
server = Server([sys.argv[1]], port=0, k=1, limits=limits)
ready = threading.Event()
thread = threading.Thread(target=server.run, args=(ready.set,))
thread.start()
try:
    assert ready.wait(300)
    request = urllib.request.Request(
        server.address + "analyse", json.dumps({"text": text}).encode(), {"Content-Type": "application/json"}
    )
    answer = json.load(urllib.request.urlopen(request))
    assert sum(len(sentence["tokens"]) for sentence in answer["sentences"]) >= len(text.split())
finally:
    server.stop()
    thread.join()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, own_treebank: Path) -> Path:
    """A model, and a sentence as words, with tags, and as a tree."""
    from spectralnlp.trees import read_trees

    root = tmp_path_factory.mktemp("long")
    assert run(["train", "pcfg", str(own_treebank / "train.mrg"), "-o", str(root / "model")]) == 0
    tokens = [
        (node.word, node.label)
        for tree in read_trees(own_treebank / "train.mrg")
        for node in tree.preterminals()
    ]
    sentence = list(islice(cycle(t for t in tokens if t[1].isalpha()), N_WORDS))
    (root / "text").write_text(" ".join(islice(cycle(word for word, _ in tokens if word), N_WORDS)))
    (root / "words").write_text(" ".join(word for word, _ in sentence) + "\n")
    (root / "tagged").write_text(" ".join(f"{word}_{tag}" for word, tag in sentence) + "\n")
    (root / "tree").write_text("(S " + " ".join(f"({tag} {word})" for word, tag in sentence) + ")\n")
    return root


WAYS: dict[str, Callable[[Path], list[object]]] = {
    "tokenized": lambda root: ["parse", "-m", root / "model", root / "words", "--tokenized"],
    "tagged": lambda root: ["parse", "-m", root / "model", root / "tagged", "--tagged"],
    "evaluate": lambda root: ["evaluate", root / "model", root / "tree"],
}


@pytest.mark.parametrize("way", WAYS)
def test_a_command_takes_a_long_sentence(way: str, folder: Path) -> None:
    done = run_child(*WAYS[way](folder), memory=MEGABYTES)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("code", [PYTHON, SPACY, SERVE], ids=["python", "spacy", "serve"])
def test_a_program_takes_a_long_sentence(code: str, folder: Path) -> None:
    if code != PYTHON:
        pytest.importorskip("spacy")
        pytest.importorskip("uvicorn")
    # `serve` splits what it is sent into sentences, and needs some.
    words = folder / ("text" if code == SERVE else "words")
    done = run_child(folder / "model", words, memory=MEGABYTES, main=code)
    assert done.returncode == 0, done.stderr
