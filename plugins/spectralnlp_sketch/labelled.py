"""Labelled and unlabelled texts as training examples: conversion of arguments of ``fit``, and corpora."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.runtime import (
    LABEL_NAMES,
    Corpus,
    InMemoryCorpus,
    as_record_corpus,
    each_row,
    items_of,
    take_text,
)
from spectralnlp_sketch.errors import TextError
from spectralnlp_sketch.hashing.ngrams import checked_texts

# Maximum number of characters of unlabelled texts in memory (about a million queries or 50,000 reviews), and
# of the sample that replaces a larger set (about 45,000 queries).
MAX_CHARACTERS, SAMPLE_CHARACTERS = 2**26, 2**21

# First examples that show whether texts and labels are swapped: how many are looked at, the fewest that show
# it, if texts recur or not, and the share of them whose label is new.
SAMPLED, _FEWEST, _MANY, _NEW = 1000, 4, 20, 0.8


class Example(NamedTuple):
    """Text with its label.

    Args:
        text: text as a string.
        label: the label, or None for an unlabelled text.
    """

    text: str
    label: Any = None


class TextInput:
    """Mixin for estimators of texts, which tells scikit-learn that the input is text, not matrices."""

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit to texts, and transform them; see ``fit`` and ``transform``."""
        # scikit-learn's method reads the texts twice, and an iterator would be empty at the second time.
        return super().fit_transform(list(X) if isinstance(X, Iterator) else X, y)  # type: ignore[misc]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def with_unlabelled(
    texts: Iterable[str], labels: Iterable[Any], unlabelled: Iterable[str]
) -> tuple[list[str], list[Any]]:
    """Append unlabelled texts to labelled texts, and return the two arguments of ``fit``.

        IntentClassifier().fit(*with_unlabelled(texts, labels, queries))

    Args:
        texts: labelled texts.
        labels: labels of the texts.
        unlabelled: unlabelled texts, which get the label None.

    Returns:
        All texts, and all labels.

    Examples:
        >>> from spectralnlp_sketch import IntentClassifier, with_unlabelled
        >>> texts = ["how much is it", "what does it cost", "when does it leave", "at what hour is the boat"]
        >>> labels = ["price", "price", "times", "times"]
        >>> model = IntentClassifier().fit(*with_unlabelled(texts, labels, ["is there a boat on sunday"]))
        >>> model.classes_.tolist()
        ['price', 'times']
    """
    more = checked_texts(unlabelled)
    return [*checked_texts(texts), *more], [*_labels(labels), *[None] * len(more)]


def _labels(labels: Any) -> list[Any]:
    hint = "give a list with a label for each text"
    return list(items_of(labels, "labels are expected", hint=hint, error=TextError))


def labelled_corpus(X: Any, y: Any = None) -> Corpus[Example]:
    """Convert texts and labels in any of several forms to a corpus of examples.

    Args:
        X: texts; or (text, label) pairs, as a corpus or a list; or records with ``text`` and ``label``, as an
            iterable, a mapping of columns or a data frame.
        y: labels of the texts, of any type, with None or NaN for unlabelled texts; None if X holds pairs or
            all texts are unlabelled.

    Raises:
        TextError: the numbers of labels and texts differ, an element is not a text, X has labels already, or
            texts and labels seem to be swapped.
    """
    if isinstance(X, Corpus):
        if y is not None:
            raise TextError("labels given with a corpus", hint="examples of a corpus hold their labels")
        return X
    if y is None and not isinstance(X, str | bytes):
        examples = as_record_corpus(X, lambda each: from_record(each) if isinstance(each, Mapping) else each)
        found = [as_example(each, number) for number, each in enumerate(examples, 1)]
    else:
        texts, labels = checked_texts(X), _labels(y)
        if len(texts) != len(labels):
            raise TextError(f"{len(texts)} texts and {len(labels)} labels")
        found = list(map(Example, texts, map(plain_label, labels)))
    if what := fault_of_swapped(found[:SAMPLED]):
        raise TextError(what, hint="texts come first, labels second")
    return InMemoryCorpus(found)


def fault_of_swapped(examples: Iterable[Example]) -> str | None:
    """Return what is wrong if texts and labels seem to be swapped; None if they do not.

    They do if almost every label is new and labels are longer than texts, if texts recur or there are many.

    Args:
        examples: the first examples of a corpus, up to `SAMPLED`.
    """
    pairs = [each for each in examples if isinstance(each.label, str)]
    texts, labels = {each.text for each in pairs}, {each.label for each in pairs}
    longer = sum(len(each.label.split()) - len(each.text.split()) for each in pairs)
    are_new = len(pairs) >= _FEWEST and len(labels) >= _NEW * len(pairs)
    if are_new and longer > 0 and (len(texts) < len(labels) or len(pairs) >= _MANY):
        return f"{len(labels)} labels of {len(texts)} texts: they seem to be swapped"
    return None


def plain_label(label: Any) -> Any:
    """Return a label as a plain Python value, or None for a missing label (None, NaN, pandas' NA).

    Raises:
        TextError: the label is a collection.
    """
    if hasattr(label, "__len__") and not isinstance(label, str | bytes):
        what = f"a label is {type(label).__name__}, not text or a number"
        raise TextError(what, hint="give each text one label")
    if isinstance(label, np.generic):
        label = label.item()
    # NaN and NaT are not equal to themselves, NA is equal to nothing.
    is_missing = label is None or type(label).__name__ in ("NAType", "NaTType") or label != label
    return None if is_missing else label


def from_record(record: Mapping[str, Any]) -> Example:
    """Make an example from a record's ``text`` and ``label``; the label may be missing.

    Raises:
        InputError: the record has no text, or it is not a string.
    """
    label = next((record[name] for name in LABEL_NAMES if name in record), None)
    return Example(take_text(record), plain_label(label))


def as_example(each: Any, number: int | None = None) -> Example:
    """Make an example from a text or a (text, label) pair.

    Args:
        each: the text or the pair.
        number: number of the example for the error message; None if it is unknown.

    Raises:
        TextError: the value is neither a text nor such a pair.
    """
    if isinstance(each, str):
        return Example(each)
    text, label = each if isinstance(each, tuple | list) and len(each) == 2 else (each, None)
    if not isinstance(text, str):
        which = "an example" if number is None else f"text {number}"
        raise TextError(f"{which} is {type(text).__name__}, not text")
    return Example(text, plain_label(label))


class LabelledTexts(NamedTuple):
    """Texts of a corpus in memory: all labelled texts, and all or a sample of the unlabelled ones.

    Args:
        texts: labelled texts.
        labels: labels of the texts.
        unlabelled: unlabelled texts; if they exceed `MAX_CHARACTERS` in total, only every 2nd, 4th or 8th
            of them, and so on, until at most `SAMPLE_CHARACTERS` remain.
        n_unlabelled: number of unlabelled texts in the corpus.
    """

    texts: list[str]
    labels: list[Any]
    unlabelled: list[str]
    n_unlabelled: int

    @property
    def is_all(self) -> bool:
        """Whether ``unlabelled`` holds all unlabelled texts of the corpus, not a sample."""
        return self.n_unlabelled == len(self.unlabelled)


def split_by_label(corpus: Iterable[Any]) -> LabelledTexts:
    """Read the labelled texts of a corpus, and all or a sample of the unlabelled ones, into memory.

    The order of the corpus is kept.

    Args:
        corpus: examples, pairs of a text and its label or None.
    """
    texts: list[str] = []
    labels: list[Any] = []
    kept: list[str] = []
    n = size = 0
    step = 1
    for text, label in each_row(as_example, corpus):
        if label is not None:
            texts.append(text)
            labels.append(label)
            continue
        if n % step == 0:
            kept.append(text)
            size += len(text)
        n += 1
        while size > (MAX_CHARACTERS if step == 1 else SAMPLE_CHARACTERS) and len(kept) > 1:
            step, kept = 2 * step, kept[::2]
            size = sum(map(len, kept))
    return LabelledTexts(texts, labels, kept, n)


def distinct_labels(labels: Sequence[Any]) -> NDArray[Any]:
    """Return the labels of texts, each once and sorted, (n_labels,).

    Raises:
        TextError: there are fewer than two, or they are of types that are confused or cannot be sorted.
    """
    kinds = {type(label).__name__ for label in labels}
    try:
        if "bool" in kinds and len(kinds) > 1:
            raise TypeError("True is 1")
        distinct = np.array(sorted(set(labels)))
    except TypeError as error:
        what = f"labels of the types {' and '.join(sorted(kinds))}"
        raise TextError(what, hint="give labels of one type") from error
    if len(distinct) < 2:
        what = f"only the label {labels[0]!r}" if labels else "no labelled texts"
        raise TextError(what, hint="give texts of two labels or more")
    return distinct
