"""No benchmark trains on what it is scored on: texts of ``dev`` that ``train`` has as well, word for word.

Short texts, up to a dozen words, are not counted: people ask the same question twice, and headings repeat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pytest

from benchmarks import cca, hmm, report, rhmm, taggers, topics, training_order
from benchmarks.intents_small import SMALL
from benchmarks.labelled import corpus
from benchmarks.languages import TREEBANKS
from benchmarks.peers import treebank

pytestmark = pytest.mark.corpus

SHORT = 12  # words
SHARE = 0.02  # of dev, what two parts of one source have in common: messages sent twice, formulas
MORE = {
    "sms_spam": 0.08,  # the same spam was sent to many
    "spanish": 0.08,  # the official parts share datelines, and passages of agency reports
}

Texts = Iterable[Sequence[str]]
Parts = tuple[Texts, Texts]


def labelled(name: str) -> Parts:
    data = corpus(name)
    return map(str.split, data.texts), map(str.split, data.dev_texts)


def tagged(read: Callable[[str], Iterable[tuple[Sequence[str], object]]]) -> Parts:
    train, dev = ([words for words, _ in read(part)] for part in ("train", "dev"))
    return train, dev


def brown(kind: str) -> Parts:
    data = hmm.Data.read(kind)
    return data.train, data.dev


def bodies() -> Parts:
    train, test = cca.stories(report.CORPORA)
    return (body for _, body in train), (body for _, body in test)


def trees(name: str) -> Parts:
    folder = report.CORPORA / "treebanks" / name
    train, dev = ([tree.words() for tree in treebank(folder / part)] for part in ("train", "dev"))
    return train, dev


LOADERS: dict[str, Callable[[], Parts]] = {
    **{name: lambda name=name: labelled(name) for name in SMALL},  # type: ignore[misc]
    **{name: lambda task=task: tagged(task.read) for name, task in taggers.TASKS.items()},  # type: ignore[misc]
    "rhmm": lambda: tagged(lambda part: rhmm.read(part, "upos")),
    "training_order": lambda: tuple(training_order.read_sst(part)[0] for part in ("train", "dev")),  # type: ignore[return-value]
    "brown, tags": lambda: brown("tags"),
    "brown, words": lambda: brown("words"),
    "topics": topics.reuters,
    "cca": bodies,
    **{name: lambda name=name: trees(name) for name in TREEBANKS},  # type: ignore[misc]
}


@pytest.mark.parametrize("name", LOADERS)
def test_dev_is_not_in_train(name: str, shared: object) -> None:
    train, dev = (list(map(tuple, texts)) for texts in LOADERS[name]())
    known = set(train)
    repeated = [text for text in dev if len(text) > SHORT and text in known]
    assert len(repeated) <= MORE.get(name, SHARE) * len(dev), [" ".join(text) for text in repeated[:5]]
