"""Rare words under other names, so that what is kept beside a model can travel without them.

A rare word becomes a pseudo-word that looks alike: each letter gives way to another of its case and script,
each digit to another digit; marks stay, and so do the last two or three letters, as far as signatures of
unknown words tell them apart. Who does not have the key, which is not kept, cannot compute the pseudo-word of
a word, and so cannot try guesses.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Container, Mapping, Sequence
from functools import cache, partial
from hashlib import blake2b
from random import Random
from typing import Any

from spectralnlp.runtime import Corpus, MappedCorpus
from spectralnlp.tasks.task import Task
from spectralnlp.text.signatures import english_signature, neutral_signature

# A character's class and the characters of each class, of which one takes its place.
Kind = tuple[str, str]
Pools = Mapping[Kind, Sequence[str]]

# Pseudo-words that are tried before one more letter of the word stays.
_TRIES = 20


def without_rare_words(task: Task, corpus: Corpus[Any], most: int, key: bytes) -> Corpus[Any]:
    """Return a corpus whose rare words are pseudo-words; it is read once for that.

    Args:
        task: says what words its examples have.
        corpus: what `Task.examples` gave.
        most: words that are seen so often or less are rare.
        key: secret, at most 64 bytes; the same key gives the same pseudo-words.

    Raises:
        ConfigError: examples of the task have no words to rename.
    """
    counts = Counter(word for example in corpus for word in task.words_in(example))
    names = pseudo_words(counts, most, key)
    return MappedCorpus(corpus, partial(_renamed, task=task, names=names))


def times_or_less(most: int) -> str:
    """Say how often rare words are seen."""
    return "once" if most == 1 else f"{most} times or less"


def _renamed(example: Any, task: Task, names: Mapping[str, str]) -> Any:
    return task.with_words(example, [names.get(word, word) for word in task.words_in(example)])


def pseudo_words(counts: Mapping[str, int], most: int, key: bytes) -> dict[str, str]:
    """Name the words that are seen so often or less anew, each differently.

    Symbols (also ``-LRB-``) keep their names, and so do the few words for which there is no other: single
    characters, where all others of their kind are words.

    Args:
        counts: of words.
        most: as of `without_rare_words`.
        key: as of `without_rare_words`.
    """
    found: dict[Kind, set[str]] = defaultdict(set)
    for character in set().union(*counts):
        found[_kind(character)].add(character)
    pools = {kind: sorted(characters) for kind, characters in found.items()}
    taken, names = set(counts), {}
    for word in sorted(word for word, count in counts.items() if count <= most):
        seed = blake2b(word.encode("utf-8", "replace"), key=key).digest()
        name = _pseudo_word(word, pools, taken, Random(seed))
        if name is not None:
            names[word] = name
            taken.add(name)
    return names


def _pseudo_word(word: str, pools: Pools, taken: Container[str], random: Random) -> str | None:
    """Return a word of the same signatures that is not taken; None if none was found."""
    signatures = _signatures(word)
    if signatures[0] == "UNK-SYM":
        return None
    for n_stay in range(3 if len(word) >= 6 else 2 if len(word) >= 4 else 0, len(word)):
        changed, stays = word[: len(word) - n_stay], word[len(word) - n_stay :]
        for _ in range(_TRIES):
            letters = (random.choice(pools[_kind(each)]) if each.isalnum() else each for each in changed)
            name = "".join(letters) + stays
            if name not in taken and _signatures(name) == signatures:
                return name
    return None


def _signatures(word: str) -> tuple[str, ...]:
    """Signatures as the first word of a sentence and as another."""
    return tuple(look(word, place) for look in (english_signature, neutral_signature) for place in (0, 1))


@cache
def _kind(character: str) -> Kind:
    """Category and script of a character: capitals of Latin, small letters of Greek, Han, digits."""
    return unicodedata.category(character), unicodedata.name(character, "").partition(" ")[0]
