"""A parser, an estimator and a task that do next to nothing, so that the tests see the commands alone."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from spectralnlp.errors import InputError, ModelError
from spectralnlp.estimator import Estimator
from spectralnlp.models import folder_of as _real_folder_of
from spectralnlp.runtime import Corpus, InMemoryCorpus, expand_inputs
from spectralnlp.scoring import COLLINS, EvalbParameters, ParseReport, compare, score_trees
from spectralnlp.storage import StoredModel, save_model
from spectralnlp.tasks.task import Task
from spectralnlp.text.conventions import Conventions
from spectralnlp.text.tokenizer import Tokenizer
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees.parse import Constituent, Parse
from spectralnlp.trees.readers import read_trees
from spectralnlp.trees.tree import Tree

if TYPE_CHECKING:
    from spectralnlp.parameters import AnnotationScheme


class Outcome(NamedTuple):
    """The exit status of a command, and its output on stdout and stderr."""

    status: int
    out: str
    err: str


Run = Callable[..., Outcome]


def flat_parse(sentence: Sentence) -> Parse:
    """(TOP (S (X ...) (X ...))), a fallback where the word ``underivable`` is seen."""
    tags = sentence.tags or ("X",) * len(sentence)
    words = [Tree(tag, word=form) for tag, form in zip(tags, sentence.forms, strict=True)]
    tree = Tree("TOP", [Tree("S", words)])
    underivable = "underivable" in sentence.words
    return Parse(
        tree,
        sentence,
        None if underivable else math.log(0.5),
        (Constituent("S", 0, len(words), 0.75),),
        "no derivation" if underivable else None,
    )


class FakeParser:
    kind = "parser"
    task = "faking"
    conventions = Conventions()
    tokenizer = Tokenizer(conventions)
    tags = ("B", "NN", ",", "-LRB-", "X")
    annotation_scheme: AnnotationScheme | None = None
    info: ClassVar[Mapping[str, object]] = {"name": "fake", "symbols": 3, "training": {"sentences": 7}}

    def sentences(self, lines: Iterable[str]) -> Iterator[Sentence]:
        for line in lines:
            if line.split():
                yield Sentence.from_words(line.split())

    def parse_many(
        self,
        sentences: Iterable[Sentence | None],
        *,
        decoder: str | None = None,
        k: int = 1,
    ) -> Iterator[Parse | None]:
        for sentence in sentences:
            if sentence is not None and sentence.constraints is not None:
                sentence.constraints.check(len(sentence), ["S"], ["X"])
            yield None if sentence is None else flat_parse(sentence)

    def inspect(self, symbol: str | None) -> list[SimpleNamespace]:
        words, rules = [("cat", 0.5), ("dog", 0.25)], [("NP -> DT NN", 0.125)]
        states = [
            SimpleNamespace(index=0, words=words, rules=[]),
            SimpleNamespace(index=1, words=[], rules=rules),
        ]
        return [SimpleNamespace(symbol=symbol or "NN", n_states=2, states=states, singular_values=(0.5, 0.1))]

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        arrays = {"one": np.ones(1)}
        save_model(path, kind="parser", metadata={}, arrays=arrays, card="# A fake\n", overwrite=overwrite)


FAKES = ("en", "fake", "worse")


def folder_of(name: str) -> Path:
    """Where no moments are kept, of a fake; the folder of any other model."""
    return Path(name) if name in FAKES else _real_folder_of(name)


def load(name: str) -> FakeParser:
    if name not in FAKES:
        raise ModelError("no such model", path=name)
    parser = FakeParser()
    if name == "worse":
        parser.info = {"name": "worse"}
    return parser


@dataclass(kw_only=True, eq=False, repr=False)
class Copycat(Estimator):
    task = "faking"
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {"strong": {"strength": 9.0, "n_states": 4}}

    strength: Annotated[float, Doc("How much ``copying`` there is.")] = 1.0
    n_states: Annotated[int, Ge(1), Doc("States.")] = 1
    trouble: Annotated[str, Doc("Trouble to make.")] = "none"

    def fit(self, corpus: Corpus[Any], y: None = None) -> Copycat:
        return self


class FakingTask(Task):
    name = "faking"

    def read(
        self,
        inputs: Sequence[str],
        *,
        reader: str = "auto",
        on_bad: Callable[[InputError], None] | None = None,
    ) -> Corpus[Tree]:
        trees = [tree for path in expand_inputs(inputs) for tree in read_trees(path, reader, on_bad)]
        if not trees:
            raise InputError("no trees", path=inputs[0])
        return InMemoryCorpus(trees)

    def train(
        self,
        estimator: Copycat,
        corpus: Corpus[Tree],
        *,
        report: Callable[[str], None],
        description: str = "",
    ) -> FakeParser:
        estimator.fit(corpus)
        if estimator.trouble == "interrupt":
            raise KeyboardInterrupt
        if estimator.trouble == "wait":
            report("waiting")
            time.sleep(30)
        report("counts 0.1 s")
        return FakeParser()

    def evaluate(
        self,
        parser: FakeParser,
        corpus: Corpus[Tree],
        *,
        decoder: str | None = None,
        parameters: EvalbParameters = COLLINS,
        predicted_tags: bool = False,
    ) -> ParseReport:
        gold = list(corpus)
        flat = [Tree("TOP", [Tree("X", tree.preterminals())]) for tree in gold]
        predicted = flat if parser.info["name"] == "worse" else gold
        return score_trees(gold, predicted, parameters, tags="predicted" if predicted_tags else "gold")

    def compare(self, report: ParseReport, other: ParseReport) -> Any:
        return compare(report.counts, other.counts)

    def load(self, stored: StoredModel) -> FakeParser:
        return FakeParser()


def greet(name: str = "world") -> None:
    """Say hello."""
    print(f"hello {name}")


def fail() -> None:
    """Go wrong in a user's way."""
    raise InputError("bad", path=os.devnull, line=3)
