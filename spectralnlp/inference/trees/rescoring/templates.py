"""Feature templates of span scorers: each combines values of a span into one hashed feature of an option.

An option is a candidate label of the span; every feature also includes the option's name. A template gives no
feature if one of its values is absent (NOTHING).
"""

from __future__ import annotations

import numpy as np

from spectralnlp.inference.trees.hashing import mix
from spectralnlp.inference.trees.rescoring.values import NOTHING, Value
from spectralnlp.jit import kernel_part

# Number of buckets that features are hashed into.
BUCKET_BITS = 22
N_BUCKETS = 1 << BUCKET_BITS

# One template per line: names of `Value`, in lower case.
TEMPLATES = """
# What the grammars say
posterior
posterior length
posterior spread
posterior place
rank posterior
length

# Words at the borders of the span
word_first
word_last
word_before
word_after
word_before_2
word_after_2
word_first_2
word_last_2
shape_first
shape_last
word_before word_first
word_last word_after
word_first word_last
word_before word_after
word_first word_first_2
word_last_2 word_last
word_first length
word_last length
word_before length
word_after length

# Tags at the borders of the span
tag_first
tag_last
tag_before
tag_after
tag_before tag_first
tag_last tag_after
tag_first tag_last
tag_before tag_after
tag_before_2 tag_before tag_first
tag_last tag_after tag_after_2
tag_before tag_first tag_first_2
tag_last_2 tag_last tag_after
tag_before tag_first tag_last tag_after
tag_first tag_last length
tag_before tag_after length
tag_before_3 tag_before_2 tag_before
tag_after tag_after_2 tag_after_3
tag_before_2 tag_before tag_after tag_after_2

# Words with tags
word_before tag_first
word_first tag_before
word_last tag_after
word_after tag_last
word_first tag_last
tag_first word_last
word_before tag_after
tag_before word_after
word_first tag_after
tag_before word_last
word_first tag_before tag_after
tag_before tag_after word_last
word_after tag_before tag_first tag_last
word_before tag_first tag_last tag_after

# All of the span: its tags, commas, quotes and brackets
tags
tags tag_before tag_after
commas length
commas tag_before tag_after
commas word_first
quotes
quotes tag_first tag_last
conjunction conjunction_before conjunction_after
conjunction tag_first tag_last
conjunction head_tag conjunction_after

# The head
head
head_tag
head length
head head_before
head head_after
head_tag head_before head_after
head word_before
head word_after
head tag_before tag_after
head word_first
head word_last
head_tag word_first word_last
head_tag head_margins length
head_tag tag_first tag_last tag_before tag_after
head parent

# Attachment: the last verb and noun before the span
last_verb word_first
last_noun word_first
last_verb last_noun word_first
last_verb_tag last_noun_tag word_first
last_verb last_child_head word_first
last_noun last_child_head word_first
last_verb_far word_first
last_verb head
last_noun head
last_verb_tag last_noun_tag tag_first tag_last length

# Children, parent and neighbours
last_child
last_child length
last_child last_child_head
last_child last_child_word
last_child tag_after
last_child head
last_child last_child_tag head_tag
first_child
first_child length
first_child first_child_tag
first_child head
first_child tag_before tag_after
first_child last_child
first_child last_child tag_before tag_after
first_child last_child head_tag
parent
parent length
parent tag_before tag_after
parent word_first
parent head_tag
parent first_child last_child
parent parent_margins
left right
left tag_after parent
right tag_before parent
left parent
right parent
left head_tag
right head_tag

# Clusters of words
coarse_before coarse_first
coarse_last coarse_after
coarse_first coarse_last
coarse_before coarse_after
fine_before fine_first
fine_last fine_after
fine_first fine_last
fine_before fine_after
head_coarse tag_before tag_after
head_coarse coarse_before
head_fine fine_before
head_fine word_before
head_fine word_after
last_verb_coarse last_noun_coarse word_first
last_verb_fine last_noun_fine word_first
last_verb_fine word_first
last_noun_fine word_first
last_verb_coarse last_child_coarse word_first
last_noun_coarse last_child_coarse word_first
last_verb_fine last_child_fine word_first
last_noun_fine last_child_fine word_first
"""

# Further templates, for sentences with annotations.
_COUNTS = "outward inward"
_WITH_COUNTS = """
posterior length parent first_child last_child left right head_tag
word_before word_first word_last word_after
top_relation top_tag top_word top_margins top_is_head governor_place governor_relation governor_tag
dependent_left dependent_right
annotated_before annotated_first annotated_last annotated_after
relation_before relation_first relation_last relation_after
"""
DEPENDENCY_TEMPLATES = "\n".join(
    [
        _COUNTS,
        *(f"{_COUNTS} {name}" for name in _WITH_COUNTS.split()),
        f"{_COUNTS} top_relation top_tag governor_tag",
        f"{_COUNTS} top_relation dependent_left dependent_right",
        f"{_COUNTS} top_relation top_margins governor_place",
        f"{_COUNTS} top_is_head head_tag top_relation",
        f"{_COUNTS} top_relation parent",
        f"{_COUNTS} top_relation length",
        f"{_COUNTS} top_relation posterior",
        f"{_COUNTS} top_tag first_child last_child",
        f"{_COUNTS} left right top_relation",
        f"{_COUNTS} relation_first relation_last",
        "annotated_before annotated_first annotated_last annotated_after",
        "relation_before relation_first relation_last relation_after",
        "relation_first annotated_before annotated_first",
        "relation_last annotated_last annotated_after",
    ]
)


def template_table(text: str = TEMPLATES) -> np.ndarray:
    """Convert templates from text to an array, which kernels read.

    Args:
        text: one template per line, the names of the values that it combines; empty lines and lines that
            begin with # are comments.

    Returns:
        int64 (n_templates, 5); for each template the integers of its `Value` members, padded with -1.
    """
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    table = np.full((len(lines), 5), -1, np.int64)
    for row, names in enumerate(lines):
        table[row, : len(names)] = [Value[name.upper()] for name in names]
    return table


@kernel_part
def hash_features(name, values, table, buckets):
    """Hash the features of an option (candidate label) to buckets, and return the number of features.

    Args:
        name: uint64; hash of the option's name.
        values: uint64 (N_VALUES,); the values of the option.
        table: int64; the templates, from `template_table`.
        buckets: int32 (n_templates,) or longer; written.
    """
    n = 0
    for template in range(len(table)):
        h = mix(np.uint64(template + 1), name)
        for column in range(table.shape[1]):
            value = table[template, column]
            if value < 0:
                break
            if values[value] == NOTHING:
                h = np.uint64(0)
                break
            h = mix(h, values[value])
        if h != 0:
            buckets[n] = np.int32(h >> np.uint64(64 - BUCKET_BITS))
            n += 1
    return n
