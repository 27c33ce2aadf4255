"""A part-of-speech tagger as a yardstick of word vectors: CRFsuite's averaged perceptron on CoNLL-U files."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spectralnlp.model.vectors import Vectors

EPOCHS = 8
Sentence = list[tuple[str, str]]


def read_conllu(path: Path) -> list[Sentence]:
    """Words with universal parts of speech."""
    sentences: list[Sentence] = [[]]
    for line in path.read_text(encoding="utf-8").splitlines():
        fields = line.split("\t")
        if not line and sentences[-1]:
            sentences.append([])
        elif len(fields) == 10 and fields[0].isdecimal():
            sentences[-1].append((fields[1], fields[3]))
    return [sentence for sentence in sentences if sentence]


def shape(word: str) -> str:
    """``Xx-9`` of ``Abc-123``."""
    for pattern, sign in ((r"[a-z]", "x"), (r"[A-Z]", "X"), (r"\d", "9")):
        word = re.sub(pattern, sign, word)
    return re.sub(r"(.)\1+", r"\1", word)


def plain_features(words: Sequence[str]) -> list[dict[str, float]]:
    """Words two to each side, bigrams, affixes, shapes, flags."""
    low, shapes = [word.lower() for word in words], [shape(word) for word in words]
    padded, padded_shapes = ["", "", *low, "", ""], ["", *shapes, ""]
    features = []
    for i, word in enumerate(words):
        names = [f"w{d}={padded[i + 2 + d]}" for d in range(-2, 3)]
        names += [f"b-={padded[i + 1]} {low[i]}", f"b+={low[i]} {padded[i + 3]}", f"c={word}"]
        names += [f"p{n}={low[i][:n]}" for n in range(1, 5)] + [f"s{n}={low[i][-n:]}" for n in range(1, 5)]
        names += [f"h{d}={padded_shapes[i + 1 + d]}" for d in (-1, 0, 1)]
        flags = (
            ("digit", any(map(str.isdigit, word))),
            ("hyphen", "-" in word),
            ("capital", word[0].isupper()),
        )
        features.append(dict.fromkeys([*names, *(name for name, is_so in flags if is_so)], 1.0))
    return features


def sentence_features(words: Sequence[str], vectors: Vectors | None, how: str) -> Any:
    """Plain features, and those of vectors of the word and its neighbours.

    Args:
        words: a sentence.
        vectors: None for plain features only.
        how: ``words``, ``tokens`` (the vector of the context too) or ``clusters`` (in place of vectors).
    """
    import pycrfsuite

    features = plain_features(words)
    if vectors is not None and how == "clusters":
        clusters = [vectors.cluster(word) for word in words]
        for i, each in enumerate(features):
            for d in (-1, 0, 1):
                if 0 <= i + d < len(words) and clusters[i + d] is not None:
                    each[f"k{d}={clusters[i + d]}"] = 1.0
    elif vectors is not None:
        rows = vectors.vectors(words).tolist()
        contexts = vectors.contexts(words).tolist() if how == "tokens" else None
        for i, each in enumerate(features):
            for d in (-1, 0, 1):
                if 0 <= i + d < len(words):
                    each.update((f"v{d},{j}", value) for j, value in enumerate(rows[i + d]))
            if contexts is not None:
                each.update((f"z{j}", value) for j, value in enumerate(contexts[i]))
    return pycrfsuite.ItemSequence(features)


def accuracy(train: Path, dev: Path, vectors: Vectors | None, how: str = "words") -> tuple[float, float]:
    """Percent of all tokens of ``dev`` right, and of those whose word is not in ``train``."""
    import pycrfsuite

    sentences = read_conllu(train)
    trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
    trainer.set_params({"max_iterations": EPOCHS})
    for sentence in sentences:
        words, tags = zip(*sentence, strict=True)
        trainer.append(sentence_features(words, vectors, how), tags)
    tagger = pycrfsuite.Tagger()
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(str(Path(folder) / "tagger"))
        tagger.open(str(Path(folder) / "tagger"))
    known = {word.lower() for sentence in sentences for word, _ in sentence}
    outcomes = []
    for sentence in read_conllu(dev):
        words, tags = zip(*sentence, strict=True)
        found = tagger.tag(sentence_features(words, vectors, how))
        outcomes += [
            (ours == gold, word.lower() in known) for word, gold, ours in zip(words, tags, found, strict=True)
        ]
    unknown = [right for right, is_known in outcomes if not is_known]
    return 100 * sum(right for right, _ in outcomes) / len(outcomes), 100 * sum(unknown) / max(
        len(unknown), 1
    )
