"""Texts with and without labels, as the arguments of ``fit`` and as corpora."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from spectralnlp.runtime import (
    LABEL_NAMES,
    TEXT_NAMES,
    Corpus,
    InMemoryCorpus,
    as_record_corpus,
    take_field,
)
from spectralnlp_sketch.errors import TextError
from spectralnlp_sketch.hashing.ngrams import checked_texts

# Characters of unlabelled texts that are held in memory, some million queries or 50,000 reviews; and of the
# texts that stand for more than these, some 45,000 queries.
MOST_CHARACTERS, SAMPLE_CHARACTERS = 2**26, 2**21


class Example(NamedTuple):
    """A text and its label.

    Args:
        text: any text.
        label: None where it is not known.
    """

    text: str
    label: Any = None


class TextInput:
    """A mixin of estimators of texts: tells scikit-learn that they take no matrices."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def with_unlabelled(
    texts: Iterable[str], labels: Iterable[Any], unlabelled: Iterable[str]
) -> tuple[list[str], list[Any]]:
    """Put texts without labels behind texts with labels: the two arguments of ``fit``.

        IntentClassifier().fit(*with_unlabelled(texts, labels, queries))

    Args:
        texts: labelled texts.
        labels: their labels.
        unlabelled: more texts; their label is None.

    Examples:
        >>> from spectralnlp_sketch import IntentClassifier, with_unlabelled
        >>> texts = ["how much is it", "what does it cost", "when does it leave", "at what hour is the boat"]
        >>> labels = ["price", "price", "times", "times"]
        >>> model = IntentClassifier().fit(*with_unlabelled(texts, labels, ["is there a boat on sunday"]))
        >>> model.classes_.tolist()
        ['price', 'times']
    """
    more = list(checked_texts(unlabelled))
    return [*checked_texts(texts), *more], [*labels, *[None] * len(more)]


def labelled_corpus(X: Any, y: Any = None) -> Corpus[Example]:
    """Make a corpus of texts and labels.

    Args:
        X: texts; or pairs of a text and its label, as a corpus or a list; or records with ``text`` and
            ``label``, as an iterable, as columns by name or as a data frame.
        y: labels of the texts, of any type, None or NaN for a text without; None where X is pairs, or has no
            labels.

    Raises:
        TextError: there are not as many labels as texts, something is no text, or X has labels already.
    """
    if isinstance(X, Corpus):
        if y is not None:
            raise TextError("labels beside a corpus", hint="examples of a corpus hold their labels")
        return X
    if y is None and not isinstance(X, str | bytes):
        examples = as_record_corpus(X, from_record)
        return InMemoryCorpus([as_example(each, number) for number, each in enumerate(examples, 1)])
    texts, labels = list(checked_texts(X)), list(y)
    if len(texts) != len(labels):
        raise TextError(f"{len(texts)} texts and {len(labels)} labels")
    return InMemoryCorpus(map(Example, texts, map(plain_label, labels)))


def plain_label(label: Any) -> Any:
    """Return a label as a value of Python's; None for what says that there is none (NaN, pandas' NA)."""
    if isinstance(label, np.generic):
        label = label.item()
    # NaN and NaT are not equal to themselves, NA is equal to nothing.
    is_missing = label is None or type(label).__name__ in ("NAType", "NaTType") or label != label
    return None if is_missing else label


def from_record(record: Mapping[str, Any]) -> Example:
    """Make an example of a record's ``text`` and ``label``, which may be missing.

    Raises:
        InputError: there is no text.
    """
    label = next((record[name] for name in LABEL_NAMES if name in record), None)
    return Example(take_field(record, *TEXT_NAMES), plain_label(label))


def as_example(each: Any, number: int | None = None) -> Example:
    """Make an example of a text, or of a pair of a text and its label.

    Raises:
        TextError: it is neither; with its number, if that is known.
    """
    if isinstance(each, str):
        return Example(each)
    if not isinstance(each, tuple | list) or len(each) != 2 or not isinstance(each[0], str):
        which = "an example" if number is None else f"text {number}"
        raise TextError(f"{which} is {type(each).__name__}, not text")
    text, label = each
    return Example(text, plain_label(label))


class LabelledTexts(NamedTuple):
    """Texts of a corpus in memory: all labelled ones, and unlabelled ones as far as there is room.

    Args:
        texts: labelled texts.
        labels: their labels.
        unlabelled: unlabelled texts: all, or of more than `MOST_CHARACTERS` every 2ᵏ-th.
        n_unlabelled: how many there were.
    """

    texts: list[str]
    labels: list[Any]
    unlabelled: list[str]
    n_unlabelled: int

    @property
    def is_all(self) -> bool:
        """Whether no text was left out."""
        return self.n_unlabelled == len(self.unlabelled)


def split_by_label(corpus: Iterable[Any]) -> LabelledTexts:
    """Read labelled texts, their labels, and unlabelled texts; each in the order of the corpus."""
    texts: list[str] = []
    labels: list[Any] = []
    kept: list[str] = []
    n = size = 0
    step = 1
    for text, label in (Example(*each) for each in corpus):
        if label is not None:
            texts.append(text)
            labels.append(label)
            continue
        if n % step == 0:
            kept.append(text)
            size += len(text)
        n += 1
        while size > (MOST_CHARACTERS if step == 1 else SAMPLE_CHARACTERS) and len(kept) > 1:
            step, kept = 2 * step, kept[::2]
            size = sum(map(len, kept))
    return LabelledTexts(texts, labels, kept, n)
