"""Tasks whose models cut raw text into tokens as their training data does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, ClassVar, cast

from spectralnlp.estimator import Estimator
from spectralnlp.runtime import Corpus, Counts, Joint, Key
from spectralnlp.tasks.task import Task
from spectralnlp.text.conventions import Conventions, token_boundaries
from spectralnlp.text.cut_words import is_cut

CONVENTION_EXAMPLES = 5000  # trees or sentences that are enough to see how words are written
CUT_WORD_EXAMPLES = 50_000  # that are enough to learn which words are cut
# Share of unknown words from which data is likely to be of another language.
MANY_UNKNOWN = 0.5
_BOUNDARIES = "seams"  # the name of these counts in files of kept moments


class TokenBoundaries(Counts[Any]):
    """Counts of words, and of tokens that may be one word split: conventions are learned from them.

    An example is words with their tags; a subclass says what else has words.
    """

    @staticmethod
    def words_of(example: Any) -> Sequence[str]:
        """Return the words of an example."""
        words: Sequence[str] = example[0]
        return words

    def is_key(self, key: Key) -> bool:
        """Whether a key is a word, or tokens that may be one."""
        return isinstance(key, str) or len(key) == 3 or is_cut(key)

    def events(self, example: Any) -> Iterator[Key]:
        """Return the words of an example, and tokens that may be one."""
        return token_boundaries(self.words_of(example))


class TokenTask(Task):
    """A task of sentences of tokens; its models have a field ``conventions``.

    Class attributes:
        boundaries: the counts of its examples.
    """

    boundaries: ClassVar[type[TokenBoundaries]] = TokenBoundaries

    def train(self, estimator: Estimator[Any], corpus: Corpus[Any], **reporting: Any) -> Any:
        """Train as `Task.train` does; conventions are learned from the first examples.

        They are learned before the passes: the first examples of an iterator are buffered, so that one that
        can be read only once is enough for methods of one pass.
        """
        estimator.validate()  # before anything is read
        conventions = self._conventions(estimator, corpus, CONVENTION_EXAMPLES)
        if conventions.cut_words:
            conventions = self._conventions(estimator, corpus, CUT_WORD_EXAMPLES)
        model = super().train(estimator, corpus, **reporting)
        return replace(model, conventions=conventions)

    def _conventions(self, estimator: Estimator[Any], corpus: Corpus[Any], most: int) -> Conventions:
        """Learn from so many examples at most."""
        examples = islice(self.examples(estimator, corpus), most)
        return Conventions.learn(word for example in examples for word in self.boundaries.words_of(example))

    def words_in(self, example: Any) -> Sequence[str]:
        """Return the tokens."""
        return self.boundaries.words_of(example)

    def with_words(self, example: Any, words: Sequence[str]) -> Any:
        """Return an example with other tokens, under the same tags."""
        return tuple(words), *example[1:]

    def init_kept_moments(self, estimator: Estimator[Any], corpus: Corpus[Any]) -> Joint[Any]:
        """Return empty moments of the estimator, and counts of token boundaries."""
        own = super().init_kept_moments(estimator, corpus)
        return Joint({"estimator": own, _BOUNDARIES: self.boundaries()})

    def remarks_on_more(self, moments: Joint[Any], more: Joint[Any]) -> list[str]:
        """Say so where most of the words are unknown, as those of another language are."""
        known, words = (
            {key: n for key, n in cast(TokenBoundaries, each.parts[_BOUNDARIES]).items() if type(key) is str}
            for each in (moments, more)
        )
        unknown = unknown_share(words, known)
        if unknown <= MANY_UNKNOWN:
            return []
        what = f"{100 * unknown:.0f} % of the words that are added are unknown to the model"
        return [f"{what}: train a model of their own if they are of another language"]

    def solve(self, estimator: Estimator[Any], moments: Joint[Any], **reporting: Any) -> Any:
        """Solve as `Task.solve` does; conventions are learned from all words."""
        model = super().solve(estimator, moments.parts["estimator"], **reporting)
        return replace(model, conventions=conventions_of(moments))


def conventions_of(*moments: Joint[Any]) -> Conventions:
    """Return the conventions of all words in moments, those that `TokenTask.init_kept_moments` began."""
    counts: Counter[Any] = Counter()
    for each in moments:
        boundaries: Any = each.parts[_BOUNDARIES]
        counts.update(dict(boundaries.items()))
    return Conventions.of_counts(counts)


def unknown_share(words: Mapping[Any, int], known: Mapping[Any, int]) -> float:
    """Return what part of counted words are not among others, in [0, 1]."""
    return sum(n for word, n in words.items() if word not in known) / max(sum(words.values()), 1)
