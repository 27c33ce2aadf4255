"""Baseline tagger: CRFsuite's averaged perceptron, with the usual features and with word vectors."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

from spectralnlp.models.vectors import Vectors
from spectralnlp.text.conll import TaggedSentence, read_annotated

EPOCHS = 8


def shape(word: str) -> str:
    """Return the shape of a word: ``Xx-9`` for ``Abc-123``."""
    for pattern, sign in ((r"[a-z]", "x"), (r"[A-Z]", "X"), (r"\d", "9")):
        word = re.sub(pattern, sign, word)
    return re.sub(r"(.)\1+", r"\1", word)


def plain_features(words: Sequence[str]) -> list[dict[str, float]]:
    """Return the usual features of each token: words within ±2, bigrams, affixes, shapes and flags."""
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
    """Return the features of each token: plain ones, and vectors of the word and its neighbours.

    Args:
        words: words of a sentence.
        vectors: word vectors; None for plain features only.
        how: ``words``, ``tokens`` (adds the context's vector) or ``clusters`` (instead of vectors).
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


class CRFsuite:
    """Tagger: CRFsuite's averaged perceptron over `sentence_features`; spans are tags like any others.

    Args:
        vectors, how: arguments of `sentence_features`.
    """

    def __init__(self, vectors: Vectors | None = None, how: str = "words") -> None:
        import pycrfsuite

        self.vectors, self.how = vectors, how
        self._tagger = pycrfsuite.Tagger()

    def fit(self, sentences: Iterable[TaggedSentence]) -> Self:
        """Train the tagger on sentences of words with their tags."""
        import pycrfsuite

        trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
        trainer.set_params({"max_iterations": EPOCHS})
        for words, tags in sentences:
            trainer.append(sentence_features(words, self.vectors, self.how), list(tags))
        with tempfile.TemporaryDirectory() as folder:
            trainer.train(str(Path(folder) / "tagger"))
            self._tagger.open(str(Path(folder) / "tagger"))
        return self

    def tag(self, sentences: Iterable[Sequence[str]]) -> list[list[str]]:
        """Return the tags of each sentence, one for each word."""
        return [self._tagger.tag(sentence_features(words, self.vectors, self.how)) for words in sentences]


def accuracy(train: Path, dev: Path, vectors: Vectors | None, how: str = "words") -> tuple[float, float]:
    """Train the baseline tagger, and return its accuracy on all tokens and on words not in ``train``.

    Args:
        train, dev: CoNLL-U files.
        vectors: word vectors; None for none.
        how: use of the vectors, as for `sentence_features`.

    Returns:
        Both accuracies on ``dev``, in percent.
    """
    learn, gold = ([each.tagged("upos") for each in read_annotated(path)] for path in (train, dev))
    found = CRFsuite(vectors, how).fit(learn).tag([words for words, _ in gold])
    known = {word.lower() for words, _ in learn for word in words}
    outcomes = [
        (ours == tag, word.lower() in known)
        for (words, tags), own in zip(gold, found, strict=True)
        for word, tag, ours in zip(words, tags, own, strict=True)
    ]
    unknown = [right for right, is_known in outcomes if not is_known]
    right = sum(right for right, _ in outcomes)
    return 100 * right / len(outcomes), 100 * sum(unknown) / max(len(unknown), 1)
