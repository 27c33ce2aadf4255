"""Base class of tasks on tokenised sentences, which learn how their training data are tokenised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any, ClassVar, cast

from spectralnlp.estimator import Estimator
from spectralnlp.runtime import Corpus, Counts, Joint, Key, each_row
from spectralnlp.tasks.task import Task
from spectralnlp.text.conventions import Conventions, token_boundaries
from spectralnlp.text.cut_words import is_cut
from spectralnlp.text.tag_log import tagged_names

CONVENTION_EXAMPLES = 5000  # trees or sentences that are enough to learn tokenisation conventions
CUT_WORD_EXAMPLES = 50_000  # enough to learn which words are split into several tokens
# Share of unknown words above which the data is probably in another language.
MANY_UNKNOWN = 0.5
_BOUNDARIES = "seams"  # name of these counts in moments files


class TokenBoundaries(Counts[Any]):
    """Counts of words, and of adjacent tokens that may be parts of one word, for learning tokenisation.

    An example is a pair of words and tags; subclasses override `words_of` for other examples.
    """

    @staticmethod
    def words_of(example: Any) -> Sequence[str]:
        """Return the words of an example, or their names if they are integers.

        Raises:
            InputError: the example is not a pair of words and tags; see `tagged_names`.
        """
        words, _ = tagged_names(example)
        return words

    def is_key(self, key: Key) -> bool:
        """Return whether a stored key is valid: a word, or adjacent tokens that may be parts of one word."""
        return isinstance(key, str) or len(key) == 3 or is_cut(key)

    def events(self, example: Any) -> Iterator[Key]:
        """Yield what is counted in an example: words, and adjacent tokens that may be parts of one word."""
        return token_boundaries(self.words_of(example))


class TokenTask(Task):
    """Base class of tasks whose examples are tokenised sentences.

    Models of such tasks have a field ``conventions`` with the tokenisation conventions of their training
    data.

    Class attributes:
        boundaries: the class of counts from which the conventions are learned.
    """

    boundaries: ClassVar[type[TokenBoundaries]] = TokenBoundaries

    def train(self, estimator: Estimator[Any], corpus: Corpus[Any], **reporting: Any) -> Any:
        """Train as `Task.train` does, and learn tokenisation conventions from the first examples.

        The conventions are learned before training. The first examples of an iterator are buffered, so a
        one-pass estimator still accepts an iterator that can be read only once.
        """
        estimator.validate()  # before anything is read
        conventions = self._conventions(estimator, corpus, CONVENTION_EXAMPLES)
        if conventions.cut_words:
            conventions = self._conventions(estimator, corpus, CUT_WORD_EXAMPLES)
        model = super().train(estimator, corpus, **reporting)
        return replace(model, conventions=conventions)

    def _conventions(self, estimator: Estimator[Any], corpus: Corpus[Any], most: int) -> Conventions:
        """Learn tokenisation conventions from at most ``most`` examples, which are of the first source."""
        examples = islice(self.examples(estimator, corpus.first_source()), most)
        return Conventions.learn(chain.from_iterable(each_row(self.boundaries.words_of, examples)))

    def words_in(self, example: Any) -> Sequence[str]:
        """Return the tokens of an example."""
        return self.boundaries.words_of(example)

    def with_words(self, example: Any, words: Sequence[str]) -> Any:
        """Return an example with its tokens replaced and its tags kept."""
        return tuple(words), *example[1:]

    def init_kept_moments(self, estimator: Estimator[Any], corpus: Corpus[Any]) -> Joint[Any]:
        """Return empty moments (training statistics) of the estimator, with empty token boundary counts."""
        estimator_moments = super().init_kept_moments(estimator, corpus)
        return Joint({"estimator": estimator_moments, _BOUNDARIES: self.boundaries()})

    def remarks_on_more(self, moments: Joint[Any], more: Joint[Any]) -> list[str]:
        """Return a warning if most added words are unknown, which suggests another language."""
        known, words = (
            {key: n for key, n in cast(TokenBoundaries, each.parts[_BOUNDARIES]).items() if type(key) is str}
            for each in (moments, more)
        )
        unknown = unknown_share(words, known)
        if unknown <= MANY_UNKNOWN:
            return []
        what = f"{100 * unknown:.0f} % of the added words are unknown to the model"
        return [f"{what}: if they are in another language, train a separate model"]

    def solve(self, estimator: Estimator[Any], moments: Joint[Any], **reporting: Any) -> Any:
        """Train a model from kept moments (see `Task.solve`), and learn its tokenisation conventions.

        Conventions are learned from the word counts of all training data, which are part of the moments.
        """
        model = super().solve(estimator, moments.parts["estimator"], **reporting)
        return replace(model, conventions=conventions_of(moments))


def conventions_of(*moments: Joint[Any]) -> Conventions:
    """Return the tokenisation conventions of one or more data sets, learned from their training statistics.

    Args:
        moments: moments of each data set, of the kind that `TokenTask.init_kept_moments` returns.
    """
    counts: Counter[Any] = Counter()
    for each in moments:
        boundaries: Any = each.parts[_BOUNDARIES]
        counts.update(dict(boundaries.items()))
    return Conventions.of_counts(counts)


def unknown_share(words: Mapping[Any, int], known: Mapping[Any, int]) -> float:
    """Return the share of the tokens in ``words`` whose word is not in ``known``, in [0, 1]."""
    return sum(n for word, n in words.items() if word not in known) / max(sum(words.values()), 1)
