"""Name the values that a span scorer's features combine, such as words, tags, heads and nearby brackets.

A value is one number, either a hash or a small count; 0 stands for an absent value, such as the last verb
before a span that no verb precedes. ``span_values.py`` computes them.
"""

from __future__ import annotations

from enum import IntEnum, auto
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.parameters import Ints

Hashes = NDArray[np.uint64]

# Properties of a token, as bits.
COMMA, QUOTE, OPENS, CLOSES, VERB, NOUN, CONJUNCTION = (1 << bit for bit in range(7))

MARGIN = 3  # padding entries before the first token and after the last
NOTHING = 0  # an absent value
NOT_ANNOTATED = -2  # governor of the tokens of a sentence without annotations; -1 is that of a root


class Value(IntEnum):
    """Names of the values from which features of an option (a candidate label of a span) are made.

    BEFORE, FIRST, LAST and AFTER are the tokens at the borders of the span.
    """

    WORD_BEFORE_2 = 0
    WORD_BEFORE = auto()
    WORD_FIRST = auto()
    WORD_FIRST_2 = auto()
    WORD_LAST_2 = auto()
    WORD_LAST = auto()
    WORD_AFTER = auto()
    WORD_AFTER_2 = auto()
    TAG_BEFORE_3 = auto()
    TAG_BEFORE_2 = auto()
    TAG_BEFORE = auto()
    TAG_FIRST = auto()
    TAG_FIRST_2 = auto()
    TAG_LAST_2 = auto()
    TAG_LAST = auto()
    TAG_AFTER = auto()
    TAG_AFTER_2 = auto()
    TAG_AFTER_3 = auto()
    SHAPE_FIRST = auto()
    SHAPE_LAST = auto()
    COARSE_BEFORE = auto()  # COARSE and FINE: word clusters, from a small and a large number of clusters
    COARSE_FIRST = auto()
    COARSE_LAST = auto()
    COARSE_AFTER = auto()
    FINE_BEFORE = auto()
    FINE_FIRST = auto()
    FINE_LAST = auto()
    FINE_AFTER = auto()
    LENGTH = auto()
    PLACE = auto()  # whether the span begins or ends the sentence
    TAGS = auto()  # all tags of a short span
    COMMAS = auto()  # number inside the span, and whether one stands before or after it
    QUOTES = auto()  # whether quotes and brackets are balanced
    LAST_VERB = auto()  # last verb before the span, which the span may attach to
    LAST_VERB_TAG = auto()
    LAST_VERB_FAR = auto()  # the verb and its distance
    LAST_VERB_COARSE = auto()
    LAST_VERB_FINE = auto()
    LAST_NOUN = auto()
    LAST_NOUN_TAG = auto()
    LAST_NOUN_COARSE = auto()
    LAST_NOUN_FINE = auto()
    CONJUNCTION = auto()  # the last conjunction inside the span, and the tags around it
    CONJUNCTION_BEFORE = auto()
    CONJUNCTION_AFTER = auto()
    LAST_CHILD = auto()  # label of the longest likely bracket, or tag, that ends where the span does
    LAST_CHILD_HEAD = auto()
    LAST_CHILD_TAG = auto()
    LAST_CHILD_WORD = auto()  # its first word, which may be a preposition
    LAST_CHILD_COARSE = auto()
    LAST_CHILD_FINE = auto()
    FIRST_CHILD = auto()
    FIRST_CHILD_TAG = auto()
    PARENT = auto()  # label of the shortest likely bracket around it
    PARENT_MARGINS = auto()
    LEFT = auto()  # label of the longest likely bracket, or tag, that ends before the span
    RIGHT = auto()
    POSTERIOR = auto()
    SPREAD = auto()  # how much the grammars' posteriors differ
    RANK = auto()
    HEAD = auto()
    HEAD_TAG = auto()
    HEAD_BEFORE = auto()
    HEAD_AFTER = auto()
    HEAD_MARGINS = auto()
    HEAD_COARSE = auto()
    HEAD_FINE = auto()
    # Values of a dependency parse, absent without annotations. The top is the span's first token whose head
    # is outside the span, and the governor is that head.
    OUTWARD = auto()  # number of the span's tokens whose head is outside: 1 if a single subtree
    INWARD = auto()  # number of tokens outside whose head is in the span: 0 if whole subtrees
    TOP_RELATION = auto()
    TOP_TAG = auto()
    TOP_WORD = auto()
    TOP_MARGINS = auto()
    TOP_IS_HEAD = auto()  # whether the option's own head is the top
    GOVERNOR_PLACE = auto()  # whether it is to the left or the right, and how far; or the top is a root
    GOVERNOR_RELATION = auto()
    GOVERNOR_TAG = auto()
    DEPENDENT_LEFT = auto()  # relation of the nearest token outside whose head is in the span
    DEPENDENT_RIGHT = auto()
    ANNOTATED_BEFORE = auto()  # tags of the annotations
    ANNOTATED_FIRST = auto()
    ANNOTATED_LAST = auto()
    ANNOTATED_AFTER = auto()
    RELATION_BEFORE = auto()
    RELATION_FIRST = auto()
    RELATION_LAST = auto()
    RELATION_AFTER = auto()


N_VALUES = len(Value)


class TokenValues(NamedTuple):
    """Feature values of a sentence's tokens.

    All arrays except ``tag_number`` and ``governor`` have MARGIN (3) padding entries before the first token,
    and as many after the last.

    Attributes:
        word: uint64 (n_tokens + 6,); hash of the word, or of the shape and ending of a rare word.
        shape: uint64 (n_tokens + 6,); hash of the word's shape and ending.
        tag: uint64 (n_tokens + 6,); hash of the most probable tag's name.
        coarse, fine: uint64 (n_tokens + 6,); clusters of the word.
        kind: int32 (n_tokens + 6,); bits COMMA, QUOTE, ….
        relation, annotated_tag: uint64 (n_tokens + 6,); hashes of the annotations' labels and tags; NOTHING
            without annotations.
        tag_number: int32 (n_tokens,); label id of the most probable tag.
        governor: int32 (n_tokens,); the head in the annotations, ROOT for none; all NOT_ANNOTATED without
            annotations.
    """

    word: Hashes
    shape: Hashes
    tag: Hashes
    coarse: Hashes
    fine: Hashes
    kind: Ints
    relation: Hashes
    annotated_tag: Hashes
    tag_number: Ints
    governor: Ints


class LabelValues(NamedTuple):
    """Feature values of labels X, followed by those of pairs (A, X) of labels in unary rules A → X.

    Attributes:
        name: uint64 (n_labels + n_pairs,); hash of the name of X, or of the names of A and X.
        bottom: int32 (n_labels + n_pairs,); the id of X.
        head_score: float32 (n_labels, n_labels); score of a tag (column) as head of a phrase (row).
        head_is_last: bool (n_labels, n_labels); whether the last of several such tags is the head.
    """

    name: Hashes
    bottom: Ints
    head_score: NDArray[np.float32]
    head_is_last: NDArray[np.bool_]


class Brackets(NamedTuple):
    """The likely brackets of a sentence, which serve as context features of other brackets.

    Attributes:
        start, end: int32 (n_brackets,); tokens, end exclusive.
        label: int32 (n_brackets,); the most probable label, numbered as in `SpanOptions`.
        head: int32 (n_brackets,); the head token.
    """

    start: Ints
    end: Ints
    label: Ints
    head: Ints
