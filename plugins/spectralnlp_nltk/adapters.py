"""Adapters that give spectralnlp models NLTK's interfaces (``pip install "spectralnlp[nltk]"``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from nltk import Tree
from nltk.parse.api import ParserI
from nltk.tag.api import TaggerI

import spectralnlp
from spectralnlp.errors import ConfigError


class SpectralParser(ParserI):
    """Constituency parser with the interface ``nltk.parse.api.ParserI``.

    Args:
        model: a parser, a model folder, or the name of an installed model.
        k: number of trees per sentence that `parse` returns, the best first.

    Raises:
        ConfigError: the model is not a parser.

    Examples:
        >>> from spectralnlp_nltk import SpectralParser
        >>> print(SpectralParser("en").parse_one("Gulls are noisy .".split()))
        (TOP (S (NP (NNS Gulls)) (VP (VBP are) (ADJP (JJ noisy))) (. .)))
    """

    def __init__(self, model: Any = "en", *, k: int = 1) -> None:
        self.model = _loaded(model, "parsing")
        self.k = k

    def parse(self, sent: Sequence[str], *args: Any, **kwargs: Any) -> Iterator[Tree]:
        """Return an iterator over the ``k`` best trees of a tokenised sentence, the best first.

        Raises:
            InputError: the sentence is a string or empty.
        """
        return iter(_trees(self.model.parse_tokens(sent, k=self.k)))

    def parse_sents(
        self, sents: Iterable[Sequence[str]], *args: Any, **kwargs: Any
    ) -> Iterator[Iterator[Tree]]:
        """Parse tokenised sentences lazily; yields for each one an iterator over its ``k`` best trees."""
        return (iter(_trees(parse)) for parse in self.model.parse_many(map(list, sents), k=self.k))

    def raw_parse(self, text: str) -> Iterator[Tree]:
        """Split a text into sentences and parse them; returns an iterator over one tree for each sentence."""
        return (parse.to_nltk() for parse in self.model.parse(text))


class SpectralTagger(TaggerI):
    """Tagger with the interface ``nltk.tag.api.TaggerI``.

    Args:
        model: a tagger, a model folder, or the name of an installed model.

    Raises:
        ConfigError: the model is not a tagger.

    Examples:
        >>> from spectralnlp_nltk import SpectralTagger
        >>> SpectralTagger("en-tagger").tag("Gulls are noisy .".split())
        [('Gulls', 'NNS'), ('are', 'VBP'), ('noisy', 'JJ'), ('.', '.')]
    """

    def __init__(self, model: Any = "en-tagger") -> None:
        self.model = _loaded(model, "tagging")

    def tag(self, tokens: Sequence[str]) -> list[tuple[str, str]]:
        """Tag a tokenised sentence, and return pairs (token, tag).

        Raises:
            InputError: the sentence is a string.
        """
        return [] if not len(tokens) else list(self.model.tag_tokens(tokens))

    def tag_sents(self, sentences: Iterable[Sequence[str]]) -> list[list[tuple[str, str]]]:
        """Tag tokenised sentences, faster than one by one; return pairs (token, tag) for each sentence."""
        listed = [list(each) for each in sentences]
        tagged = self.model.tag_many([each for each in listed if each])
        return [list(next(tagged)) if each else [] for each in listed]


def _trees(parse: Any) -> list[Tree]:
    return [each.tree.to_nltk() for each in parse.alternatives] or [parse.to_nltk()]


def _loaded(model: Any, task: str) -> Any:
    """Return a model for a task, after loading it if a name or folder is given.

    Args:
        model: a model, a model folder, or the name of an installed model.
        task: name of the task, ``parsing`` or ``tagging``.

    Raises:
        ConfigError: the model is for another task.
    """
    loaded = spectralnlp.load(model) if isinstance(model, str | Path) else model
    if loaded.task != task:
        raise ConfigError(f"a model for {loaded.task}, but one for {task} is needed")
    return loaded
