"""A parser of nothing but what the annotator accepts, for a language or a scheme that no model knows.

It is learned anew each time, of all accepted trees. Before there are any, every sentence is flat: its words,
of which nothing is known, under one label.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

import spectralnlp
from spectralnlp import InMemoryCorpus, Parser
from spectralnlp.trees import Tree

# The model to begin with where there is none.
NOTHING = "none"
# What all sentences, and all words, are before anything is known.
SENTENCE, WORD = "S", "X"
_MOST_FLAT = 100


def learn_anew(trees: Sequence[Tree], *, in_full: bool) -> Parser:
    """Learn a parser of trees alone.

    Args:
        trees: cleaned ones, one or more.
        in_full: with a span scorer, which takes most of the time.
    """
    parser = spectralnlp.train(
        "lpcfg", InMemoryCorpus(trees), preset="fast", span_scorer=in_full, sentence_ends=False
    )
    assert isinstance(parser, Parser)
    return parser


def untaught_parser(sentences: Iterable[Sequence[str]]) -> Parser:
    """Return a parser that makes every sentence flat.

    Args:
        sentences: words of some, one or more.

    Examples:
        >>> from spectralnlp_annotate.anew import untaught_parser
        >>> print(untaught_parser([["Das", "Meer", "steigt"]]).parse_tokens(["Es", "fällt"]).tree)
        (TOP (S (X Es) (X fällt)))
    """
    some = islice(sentences, _MOST_FLAT)
    flat = [Tree(SENTENCE, [Tree(WORD, word=word) for word in words]) for words in some]
    return learn_anew(flat, in_full=False)
