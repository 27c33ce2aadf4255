"""Replace rare words by made-up words (pseudo-words), so that kept moments do not reveal the rare words.

A pseudo-word looks like the rare word: each letter is replaced by a random one of its case and script, each
digit by a random digit. Punctuation stays, and so do the last two or three letters of longer words, which
determine their signatures (spelling classes). The pseudo-word of a word depends on a secret key, which is not
stored. Without the key, nobody can compute the pseudo-word of a guessed word and look for it in the moments.
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

# A character's class, and for each class the characters that may replace each other.
Kind = tuple[str, str]
Pools = Mapping[Kind, Sequence[str]]

# Number of pseudo-words tried before one more letter of the word is kept.
_TRIES = 20


def without_rare_words(task: Task, corpus: Corpus[Any], most: int, key: bytes) -> Corpus[Any]:
    """Return a corpus with rare words replaced by pseudo-words; reads the corpus once to count words.

    Args:
        task: task of the examples, which finds their words.
        corpus: examples from `Task.examples`.
        most: maximum count of a rare word.
        key: secret key, at most 64 bytes; the same key gives the same pseudo-words.

    Raises:
        ConfigError: examples of the task have no words to rename.
        InputError: a word is not a string.
    """
    counts = Counter(word for words in MappedCorpus(corpus, task.words_in) for word in words)
    names = pseudo_words(counts, most, key)
    return MappedCorpus(corpus, partial(_renamed, task=task, names=names))


def times_or_less(most: int) -> str:
    """Return a phrase for the maximum count of rare words, such as "5 times or less"."""
    return "once" if most == 1 else f"{most} times or less"


def _renamed(example: Any, task: Task, names: Mapping[str, str]) -> Any:
    return task.with_words(example, [names.get(word, word) for word in task.words_in(example)])


def pseudo_words(counts: Mapping[str, int], most: int, key: bytes) -> dict[str, str]:
    """Return a mapping of rare words to pseudo-words; no two rare words have the same pseudo-word.

    Symbols such as ``-LRB-`` are not replaced. Neither are words for which no unused pseudo-word is found.

    Args:
        counts: counts of words.
        most: maximum count of a rare word.
        key: secret key; see `without_rare_words`.
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
    """Return an unused word with the same signatures (spelling classes), or None if none was found.

    Args:
        word: the word to replace.
        pools: characters of each category and script (`_kind`), from which replacements are drawn.
        taken: words that must not be returned.
        random: random generator.
    """
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
    """Return a word's signatures (spelling classes) at the start of a sentence and elsewhere."""
    return tuple(look(word, place) for look in (english_signature, neutral_signature) for place in (0, 1))


@cache
def _kind(character: str) -> Kind:
    """Return the category and the script of a character, such as upper-case Latin or lower-case Greek."""
    return unicodedata.category(character), unicodedata.name(character, "").partition(" ")[0]
