"""List the features by which a linear chain scores the tags of one token, to explain tags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.chains.joint_features import joint_keys, key_slots, look_up
from spectralnlp.inference.chains.templates import (
    FIRST_SLOT,
    HERE,
    INNER_SLOT,
    N_SLOTS,
    OFFSETS,
    TEMPLATES,
    word_keys,
)
from spectralnlp.inference.chains.unlabelled import UnlabelledFeatures
from spectralnlp.inference.chains.word_forms import FORMS, shape_of
from spectralnlp.inference.chains.word_table import Encoded, WordTable
from spectralnlp.parameters import ChainWeights

JOINT = N_SLOTS  # slot number of features of several words
VECTORS = -1  # slot number of word vectors, which are no binary features
_WORDS = ("the word two before", "the word before", "the word", "the word after", "the word two after")
_FLAGS = {
    "digit": "has a digit",
    "hyphen": "has a hyphen",
    "capital": "begins with a capital",
    "capitals": "is written in capitals",
}
# For each feature of several words: offsets of the words it spells out, and of those it takes as clusters.
_JOINT = (
    *(((-1, 0), ()), ((0, 1), ())),
    *(((), (-2, -1, 0)), ((), (-1, 0, 1)), ((), (0, 1, 2))),
    *(((0,), (-1,)), ((0,), (1,)), ((0,), (-1, 1)), ((0,), (1, 2)), ((0,), (-2, -1))),
)


@dataclass(frozen=True)
class TokenFeatures:
    """The features of a token that have non-zero weights.

    Attributes:
        texts: description of each feature.
        slots, columns: int64 (n,); position of the feature in `FeatureKeys`; the slot is `JOINT` for features
            of several words, `VECTORS` for word vectors.
        keys: uint32 (n,); key of each feature; 0 for word vectors.
        scores: float64 (n, n_tags); what each feature adds to the score of each tag.
    """

    texts: Sequence[str]
    slots: NDArray[np.int64]
    columns: NDArray[np.int64]
    keys: NDArray[np.uint32]
    scores: NDArray[np.float64]


class FeatureKeys:
    """The features of the tokens of some sentences, as 32-bit hash keys.

    Args:
        features: vectors and clusters of words.
        sentences: the words of each sentence.

    Attributes:
        table: the word types of the sentences.
        encoded: the sentences as ids of word types.
        of_words: for each slot, uint32 (n_types, n); keys of the features of each word type.
        joint: uint32 (n_tokens, n); keys of the features of several words.
    """

    def __init__(self, features: UnlabelledFeatures, sentences: Sequence[Sequence[str]]) -> None:
        self.table = WordTable(features)
        self.encoded: Encoded = self.table.encode(sentences)
        self.of_words = word_keys(self.table.hashes)
        self.joint = joint_keys(self.table, self.encoded)
        self._places = self.encoded.places
        self._is_first = np.zeros(len(self._places), bool)
        self._is_first[self.encoded.starts[:-1][np.diff(self.encoded.starts) > 0]] = True

    def having(self, slot: int, column: int, key: np.uint32) -> NDArray[np.bool_]:
        """Return a mask of the tokens that have a feature, bool (n_tokens,).

        Args:
            slot, column: position of the feature, as in `TokenFeatures`.
            key: key of the feature.
        """
        if slot == JOINT:
            return np.asarray(self.joint[:, column] == key)
        words = self.of_words[slot][:, column] == key
        offset = 0 if slot in (FIRST_SLOT, INNER_SLOT) else OFFSETS[slot]
        found = words[self.encoded.types[self._places + offset]]
        if slot in (FIRST_SLOT, INNER_SLOT):
            found &= self._is_first == (slot == FIRST_SLOT)
        return np.asarray(found)


def token_features(
    weights: ChainWeights, features: UnlabelledFeatures, words: Sequence[str], token: int
) -> TokenFeatures:
    """Return the features of a token that have non-zero weights.

    Args:
        weights: weights of the chain.
        features: vectors and clusters of words.
        words: the words of the sentence.
        token: index of the token, from 0.
    """
    found = FeatureKeys(features, [words])
    texts, slots, columns, keys = [], [], [], []
    for text, slot, column, key in _present(found, words, token):
        texts.append(text)
        slots.append(slot)
        columns.append(column)
        keys.append(key)
    rows = look_up(np.array(keys, np.uint32).reshape(-1, 1), key_slots(weights.keys))[:, 0]
    scores = np.zeros((len(keys), len(weights.tags)))
    for score, row in zip(scores, rows.tolist(), strict=True):
        if row >= 0:
            part = slice(weights.rows.first[row], weights.rows.first[row + 1])
            score[weights.rows.tags[part]] = weights.rows.weights[part]
    around = found.encoded.types[token + 2 + np.array(OFFSETS)]
    vectors = np.einsum("od,odt->ot", found.table.vectors[around], weights.words, dtype=np.float64)
    texts += [f"the vector of {name}" for name in _WORDS]
    scores = np.vstack([scores, vectors])
    used = np.flatnonzero(scores.any(axis=1))
    n = len(OFFSETS)
    return TokenFeatures(
        texts=[texts[row] for row in used.tolist()],
        slots=np.array([*slots, *[VECTORS] * n], np.int64)[used],
        columns=np.array([*columns, *range(n)], np.int64)[used],
        keys=np.array([*keys, *[0] * n], np.uint32)[used],
        scores=scores[used],
    )


def _present(found: FeatureKeys, words: Sequence[str], token: int) -> Iterator[tuple[str, int, int, int]]:
    """Yield the features of a token, even those to which the model gives no weight.

    Args:
        found: the feature keys of the sentence.
        words: the words of the sentence.
        token: index of the token, from 0.

    Yields:
        For each feature its description in English, and its slot, column and key (see `TokenFeatures`).
    """
    around = found.encoded.types[token + 2 + np.array(OFFSETS)]
    forms: dict[int, list[str]] = {}
    for slot, number in TEMPLATES:
        forms.setdefault(slot, []).append(FORMS[number])
    for slot, of_slot in forms.items():
        if slot == (INNER_SLOT if token == 0 else FIRST_SLOT):
            continue
        place = HERE if slot in (FIRST_SLOT, INNER_SLOT) else slot
        at = token + OFFSETS[place]
        word = words[at] if 0 <= at < len(words) else None
        for column, form in enumerate(of_slot):
            key = int(found.of_words[slot][around[place], column])
            if key:
                yield _in_words(slot, form, word), slot, column, key
    clusters = found.table.clusters[around].tolist()
    for column, key in enumerate(found.joint[token].tolist()):
        yield _several_in_words(column, words, token, clusters), JOINT, column, key


def _in_words(slot: int, form: str, word: str | None) -> str:
    """Describe a feature of one word in English; ``word`` is None for positions outside the sentence."""
    if slot == FIRST_SLOT and form == "any":
        return "the word begins the sentence"
    name = _WORDS[slot] if slot < len(_WORDS) else _WORDS[HERE]
    if word is None:
        return f"there is no {name.removeprefix('the ')}"
    if form == "word":
        return f"{name} is “{word.lower()}”"
    if form == "cased":
        return f"{name} is spelled “{word}”"
    if form == "shape":
        begins = " and begins the sentence" if slot == FIRST_SLOT else ""
        return f"{name} has the shape {shape_of(word)}{begins}"
    if form == "shape+suffix3":
        return f"{name} has the shape {shape_of(word)}, ends in “{word.lower()[-3:]}”, and is not the first"
    if form in _FLAGS:
        return f"{name} {_FLAGS[form]}"
    affix, length = form[:6], int(form[6:])
    if affix == "prefix":
        return f"{name} begins with “{word.lower()[:length]}”"
    return f"{name} ends in “{word.lower()[-length:]}”"


def _several_in_words(column: int, words: Sequence[str], token: int, clusters: Sequence[int]) -> str:
    spelled, in_clusters = _JOINT[column]
    parts = []
    for offset in spelled:
        at = token + offset
        word = f"“{words[at].lower()}”" if 0 <= at < len(words) else "none"
        parts.append(f"{_WORDS[OFFSETS.index(offset)]} is {word}")
    for offset in in_clusters:
        number = clusters[OFFSETS.index(offset)]
        parts.append(
            f"{_WORDS[OFFSETS.index(offset)]} is of {f'cluster {number}' if number >= 0 else 'no cluster'}"
        )
    return ", ".join(parts)
