"""Annotations of a sentence: what is accepted, what is refused, and what CoNLL-U becomes."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import pytest

from spectralnlp.errors import InputError
from spectralnlp.text.annotations import Annotations
from spectralnlp.text.conll import read_annotated, read_conllu
from spectralnlp.text.tokens import Sentence

HEADS, LABELS, TAGS = [1, 2, -1, 2], ["det", "nsubj", "ROOT", "punct"], ["DT", "NNS", "VBP", "."]


def test_columns_become_tuples() -> None:
    annotations = Annotations(HEADS, LABELS, TAGS)
    assert (annotations.heads, annotations.labels, annotations.tags) == (
        (1, 2, -1, 2),
        tuple(LABELS),
        tuple(TAGS),
    )
    assert pickle.loads(pickle.dumps(annotations)) == annotations


def test_several_roots_are_accepted() -> None:
    assert Annotations([-1, -1], ["ROOT", "ROOT"], ["UH", "."]).heads == (-1, -1)


@pytest.mark.parametrize(
    ("heads", "labels", "tags", "said"),
    [
        ([], [], [], "no tokens"),
        ([1, -1], LABELS, TAGS, "2 heads, 4 labels and 4 tags"),
        ([1, 2, -1, 4], LABELS, TAGS, "the head of token 3 is 4"),
        ([1, 2, -1, -2], LABELS, TAGS, "the head of token 3 is -2"),
        ([1, 2, -1, 3], LABELS, TAGS, "the head of token 3 is 3"),  # a root of spaCy
        ([2, 3, 0, 3], LABELS, TAGS, "the head of token 3 is 3"),  # CoNLL-U's, from 1
        ([1, 0, -1, 2], LABELS, TAGS, "heads form a cycle: tokens 0, 1"),
        ([3, 2, 1, -1], LABELS, TAGS, "heads form a cycle: tokens 1, 2"),
        ([1, 2, 0, 0], LABELS, TAGS, "no token is a root"),
        ([1, 2, None, 2], LABELS, TAGS, "the head of token 3 is NoneType"),
        ([1, 2, True, 2], LABELS, TAGS, "the head of token 3 is bool"),
        (None, LABELS, TAGS, "heads are NoneType"),
        (HEADS, [*LABELS[:3], ""], TAGS, "the label of token 4 is empty"),
        (HEADS, LABELS, [*TAGS[:3], 7], "the tag of token 4 is int"),
        (HEADS, "dnRp", TAGS, "labels are str"),
    ],
)
def test_refused(heads: Any, labels: Any, tags: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Annotations(heads, labels, tags)


def test_part_has_roots_for_heads_elsewhere() -> None:
    part = Annotations(HEADS, LABELS, TAGS).part(1, 4)
    assert part == Annotations([1, -1, 1], LABELS[1:], TAGS[1:])
    assert Annotations(HEADS, LABELS, TAGS).part(0, 2).heads == (1, -1)


def test_a_sentence_has_annotations_of_its_tokens() -> None:
    sentence = Sentence.from_words(["The", "gulls", "cry", "."])
    annotated = Sentence(sentence.tokens, annotations=Annotations(HEADS, LABELS, TAGS))
    assert pickle.loads(pickle.dumps(annotated)) == annotated
    with pytest.raises(InputError, match="3 tokens, and annotations of 4"):
        Sentence(sentence.tokens[:3], annotations=Annotations(HEADS, LABELS, TAGS))


CONLLU = """# generator = pipe 1.0
# text = Gulls don't cry
1\tGulls\t_\tNOUN\tNNS\t_\t4\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\t_\tAUX\tVBP\t_\t4\taux\t_\t_
3\tn't\t_\tPART\tRB\t_\t4\tneg\t_\t_
4\tcry\t_\tVERB\tVB\t_\t0\tROOT\t_\t_
"""


def test_conllu_becomes_annotations(tmp_path: Path) -> None:
    (sentence,) = read_conllu(CONLLU.splitlines(keepends=True), "x.conllu")
    assert sentence.words == ("Gulls", "do", "n't", "cry")
    assert sentence.generator == "pipe 1.0"
    expected = Annotations([3, 3, 3, -1], ["nsubj", "aux", "neg", "ROOT"], ["NNS", "VBP", "RB", "VB"])
    assert sentence.annotations() == expected
    file = tmp_path / "x.conllu"
    file.write_text(CONLLU)
    (read,) = read_annotated(file)
    assert read.annotations() == expected


def test_tags_of_conllu_without_xpos_are_upos() -> None:
    text = re.sub(r"\t(NNS|VBP|RB|VB)\t", "\t_\t", CONLLU)
    (sentence,) = read_conllu(text.splitlines(), "x.conllu")
    assert sentence.annotations().tags == ("NOUN", "AUX", "PART", "VERB")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("\t4\tnsubj", "\t_\tnsubj", r"x.conllu:3: token 1 has no head"),
        ("\t4\tnsubj", "\t4\t_", "token 1 has no relation"),
        ("NNS", "_", "token 1 has no tag"),
        ("\t4\tnsubj", "\tfour\tnsubj", "token 1 has the head 'four', of 4 tokens"),
        ("\t4\tnsubj", "\t9\tnsubj", "token 1 has the head '9', of 4 tokens"),
        ("\t0\tROOT", "\t1\tROOT", "no token is a root"),
    ],
)
def test_conllu_refused(old: str, new: str, said: str) -> None:
    (sentence,) = read_conllu(CONLLU.replace(old, new).splitlines(), "x.conllu")
    with pytest.raises(InputError, match=said):
        sentence.annotations()


def test_empty_conllu_is_refused() -> None:
    with pytest.raises(InputError, match=r"x.conllu: no sentence"):
        list(read_conllu(["# text = none\n"], "x.conllu"))
