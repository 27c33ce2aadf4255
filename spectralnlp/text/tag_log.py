"""Store of tagged training sentences (a log), as integer ids of words and tags."""

from __future__ import annotations

from typing import Any, ClassVar

from spectralnlp.errors import InputError
from spectralnlp.runtime import ExampleLog, Items, symbol_names, symbols_named
from spectralnlp.text.conll import TaggedSentence


class TagLog(ExampleLog[TaggedSentence]):
    """Store of tagged sentences for training, in the order of documents and of sentences within them.

    Examples:
        >>> from spectralnlp import InMemoryCorpus
        >>> from spectralnlp.runtime import accumulate
        >>> from spectralnlp.text.tag_log import TagLog
        >>> log = accumulate(TagLog(), InMemoryCorpus([(["a", "dog"], ["DT", "NN"])]))
        >>> list(log.corpus())
        [(('a', 'dog'), ('DT', 'NN'))]
    """

    columns: ClassVar = {"tag": "tags", "word": "words"}

    @classmethod
    def items_of(cls, example: TaggedSentence) -> Items:
        """Return the names of an example's tags and words, in the order in which the log stores them.

        Raises what `tagged_names` raises.
        """
        words, tags = tagged_names(example)
        return tags, words

    @classmethod
    def example_of(cls, items: Items) -> TaggedSentence:
        """Return a stored sentence (tags, words) as an example (words, tags)."""
        tags, words = (symbols_named(map(str, names)) for names in items)
        return words, tags


def tagged_names(example: Any) -> tuple[list[str], list[str]]:
    """Return the names (`spectralnlp.runtime.symbol_names`) of the words and of the tags of an example.

    Raises:
        InputError: the example is not a pair of words and tags; their numbers differ; or one of them is
            neither a string nor an integer, such as a missing value. The message has its position.
    """
    if not isinstance(example, tuple | list) or len(example) != 2:
        what = f"{type(example).__name__} where words and their tags are expected"
        raise InputError(what, hint="give a pair of lists")
    words, tags = symbol_names(example[0], "word"), symbol_names(example[1], "tag")
    if len(words) != len(tags):
        what = f"{len(words)} words and {len(tags)} tags: {' '.join(words[:8])} …"
        raise InputError(what, hint="give each word one tag")
    return words, tags
