"""Train a parser on the accepted trees alone, for languages or annotation schemes without a model.

Whenever the parser is trained, it is trained from scratch on all accepted trees. Before the first tree is
accepted, every sentence gets a flat tree, with one label for the sentence and one tag for all words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

import spectralnlp
from spectralnlp import InMemoryCorpus, Parser
from spectralnlp.trees import Tree

# Name that stands for starting without a model.
NO_MODEL = "none"
# Label of all sentences and tag of all words before any tree is accepted.
SENTENCE, WORD = "S", "X"
_MAX_FLAT = 100


def train_from_scratch(trees: Sequence[Tree], *, in_full: bool) -> Parser:
    """Train a parser on the accepted trees alone, without an initial model.

    Args:
        trees: cleaned trees, at least one.
        in_full: whether to train the span scorer too, which takes most of the time.
    """
    parser = spectralnlp.train(
        "lpcfg", InMemoryCorpus(trees), preset="fast", span_scorer=in_full, sentence_ends=False
    )
    assert isinstance(parser, Parser)
    return parser


def flat_parser(sentences: Iterable[Sequence[str]]) -> Parser:
    """Return a parser that gives every sentence a flat tree, for use before any tree is accepted.

    Args:
        sentences: words of at least one sentence; the first hundred are used.

    Examples:
        >>> from spectralnlp_annotate.training import flat_parser
        >>> print(flat_parser([["Das", "Meer", "steigt"]]).parse_tokens(["Es", "fällt"]).tree)
        (TOP (S (X Es) (X fällt)))
    """
    some = list(islice(sentences, _MAX_FLAT))
    # The rules of one to four words derive a sentence of any length.
    some += [[some[0][0]] * length for length in (1, 2, 3, 4)]
    flat = [Tree(SENTENCE, [Tree(WORD, word=word) for word in words]) for words in some]
    return train_from_scratch(flat, in_full=False)
