"""Store of tagged training sentences (a log), as integer ids of words and tags."""

from __future__ import annotations

from typing import ClassVar

from spectralnlp.errors import InputError
from spectralnlp.runtime import ExampleLog, Items
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
        """Return an example (words, tags) as (tags, words), the order in which the log stores them.

        Raises:
            InputError: the numbers of words and tags differ.
        """
        words, tags = example
        if len(words) != len(tags):
            what = f"{len(words)} words and {len(tags)} tags: {' '.join(words[:8])} …"
            raise InputError(what, hint="give each word one tag")
        return tags, words

    @classmethod
    def example_of(cls, items: Items) -> TaggedSentence:
        """Return a stored sentence (tags, words) as an example (words, tags)."""
        tags, words = items
        return tuple(map(str, words)), tuple(map(str, tags))
