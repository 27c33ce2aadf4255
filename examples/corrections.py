"""A loop of corrections: a classifier labels texts, somebody corrects it, and it learns at once.

    python examples/corrections.py corpora/intents/train.tsv corpora/intents/dev.tsv

The second file stands for the person: the classifier asks for the label of the text that it is least sure of,
and `nlp.update` adds it to what it knows, a text of a label that is new to it, too. With `keep_examples` the
pipeline is at any time what all texts at once would have made of it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.training import Example

QUESTIONS = 10


def read(path: str) -> list[tuple[str, str]]:
    """Texts and their labels."""
    pairs = [line.split("\t", 1) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    return [(text, label) for label, text in pairs]


def example(nlp: Language, text: str, label: str) -> Example:
    """A text with its label."""
    return Example.from_dict(nlp.make_doc(text), {"cats": {label: 1.0}})


def accuracy(nlp: Language, pairs: list[tuple[str, str]]) -> float:
    """Percent of texts whose label is found."""
    docs = nlp.pipe(text for text, _ in pairs)
    right = sum(doc._.intent == label for doc, (_, label) in zip(docs, pairs, strict=True))
    return 100 * right / len(pairs)


def main(train: str, dev: str) -> None:
    """Begin with a few texts, and ask about others."""
    known, unknown = read(train)[::5], read(dev)
    nlp = spacy.blank("en")
    nlp.add_pipe("spectral_textcat", config={"keep_examples": True})
    nlp.initialize(lambda: [example(nlp, *each) for each in known])
    print(f"{len(known)} texts: {accuracy(nlp, unknown):.0f} % of {len(unknown)} others are right")
    answers = dict(unknown)
    for _ in range(QUESTIONS):
        docs = list(nlp.pipe(answers))
        least = min(docs, key=lambda doc: max(doc.cats.values()))
        label = answers.pop(least.text)
        print(f"{max(least.cats.values()):.2f} {least._.intent} -> {label}: {least.text}")
        nlp.update([example(nlp, least.text, label)])
    rest = accuracy(nlp, list(answers.items()))
    print(f"{len(known) + QUESTIONS} texts: {rest:.0f} % of the rest are right")


if __name__ == "__main__":
    main(*sys.argv[1:])
