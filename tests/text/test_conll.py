"""Readers of tagged sentences, and what they say of bad lines."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.text.conll import AnnotatedSentence, read_annotated, title_of

Write = Callable[..., Path]

CONLLU = """\
# sent_id = 1
# text = Vámonos al mar.
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\tir\tVERB\tvmm\t_\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\tpp1\t_\t1\tobj\t_\t_
3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_
3\ta\ta\tADP\tsp\t_\t5\tcase\t_\t_
4\tel\tel\tDET\tda\t_\t5\tdet\t_\t_
5\tmar\tmar\tNOUN\tnc\t_\t1\tobl\t_\t_
5.1\t_\t_\t_\t_\t_\t_\t_\t_\t_
6\t.\t.\tPUNCT\tfp\t_\t1\tpunct\t_\t_

# a comment between
1\t#\t#\tSYM\t_\t_\t0\troot\t_\t_
2\tNew York\t_\tPROPN\t_\t_\t1\t_\t_\t_
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(text: str, name: str = "file.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return to_file


def tagged(path: Path, column: str | int | None = None, reader: str = "auto") -> list[str]:
    """Each sentence as ``word/TAG`` with blanks between."""
    sentences = (sentence.tagged(column) for sentence in read_annotated(path, reader))
    return [" ".join(f"{w}/{t}" for w, t in zip(*each, strict=True)) for each in sentences]


@pytest.mark.parametrize("name", ["a.conllu", "b.txt", "c.conllu.gz"])
def test_conllu_without_ranges_empty_nodes_and_comments(write: Write, name: str) -> None:
    path = write(CONLLU, name)
    first = "Vamos/VERB nos/PRON a/ADP el/DET mar/NOUN ./PUNCT"
    assert tagged(path) == [first, "#/SYM New York/PROPN"]
    assert tagged(path, "upos", "conllu") == tagged(path)
    assert tagged(path, "xpos")[0] == "Vamos/vmm nos/pp1 a/sp el/da mar/nc ./fp"
    one, two = read_annotated(path)
    assert (one.line, two.line) == (4, 14)
    assert one.path == path
    assert one == AnnotatedSentence(one.words, one.columns, "upos")


def test_conllu_without_comments_or_a_last_line_end(write: Write) -> None:
    rows = [line for line in CONLLU.splitlines() if not line.startswith("#")]
    assert tagged(write("\n".join(rows))) == tagged(write(CONLLU))
    assert tagged(write("\n\n" + CONLLU.replace("\n", "\r\n"))) == tagged(write(CONLLU))


def test_columns(write: Write) -> None:
    text = "-DOCSTART- -X- -X- O\n\nEU NNP I-NP B-ORG\nrejects VBZ I-VP O\n\n\n# # I-NP O\n1 CD I-NP O\n"
    path = write(text)
    assert tagged(path) == ["EU/B-ORG rejects/O", "#/O 1/O"]
    assert tagged(path, 2) == tagged(path, "2") == ["EU/NNP rejects/VBZ", "#/# 1/CD"]
    assert [sentence.line for sentence in read_annotated(path)] == [3, 7]
    assert tagged(write(text.replace(" ", "\t"))) == tagged(path)
    assert tagged(write("São\u00a0Paulo\tB-LOC\n"), reader="columns") == ["São\u00a0Paulo/B-LOC"]


@pytest.mark.parametrize("mark", ["-DOCSTART- O", "-DOCSTART-", "-DOCSTART- -X- O O"])
def test_marks_of_documents_are_no_words_whatever_their_columns(write: Write, mark: str) -> None:
    assert tagged(write(f"{mark}\n\nEU NNP B-ORG\n\n{mark}\nrejects VBZ O\n")) == ["EU/B-ORG", "rejects/O"]


def test_a_first_word_that_is_a_number_sign(write: Write) -> None:
    assert tagged(write("# O\n1 O\n\nit O\n")) == ["#/O 1/O", "it/O"]
    assert tagged(write("# # B-NP\nones NNS I-NP\n")) == ["#/B-NP ones/I-NP"]
    assert tagged(write("#tag O\nword O\n")) == ["#tag/O word/O"]
    assert tagged(write("#tag O\n\n#tag O\n")) == ["#tag/O", "#tag/O"]
    only = "# newdoc\n# global.columns = ID FORM\n\n# text = it\n1\tit\t_\tPRON\t_\t_\t_\t_\t_\t_\n"
    assert tagged(write(only)) == ["it/PRON"]


def test_words_with_their_tags(write: Write) -> None:
    path = write("The_DT cat_NN\n\nsnake_case_NN ,_, __SYM\n")
    assert tagged(path) == ["The/DT cat/NN", "snake_case/NN ,/, _/SYM"]
    assert [sentence.line for sentence in read_annotated(path)] == [1, 3]
    assert tagged(path, "tag") == tagged(path)


@pytest.mark.parametrize(
    ("text", "words"), [("Hi_UH\n", 1), ("Hi_UH !_.\n", 2), ("a_DT b_NN c_.\n", 3), ("__SYM a_B\n", 2)]
)
def test_tagged_text_is_recognised_at_any_length(write: Write, text: str, words: int) -> None:
    (sentence,) = read_annotated(write(text))
    assert (sentence.default, len(sentence.words)) == ("tag", words)


@pytest.mark.parametrize("text", ["snake_case NN\n", "New_York B-LOC\n", "it B_X\n", "a b_c d\n"])
def test_columns_may_have_underscores(write: Write, text: str) -> None:
    (sentence,) = read_annotated(write(text))
    assert len(sentence.words) == 1


def test_files_without_words(write: Write) -> None:
    for text in ("", "\n \n", "# only a comment\n", "-DOCSTART- O\n\n"):
        assert tagged(write(text)) == []


BAD = [
    ("a DT\nb\nc NN\n\nd NN\n", ":2: a word without a tag", ["d/NN"]),
    ("a DT B\nb NN\n\nd NN O\n", ":2: 2 columns, 3 on the line before", ["d/O"]),
    ("a_X b_Y\nc_ d_Y\n_e\nf_Z\n", ":2: 'c_' is not word_TAG", ["a/X b/Y", "f/Z"]),
    (CONLLU + "3\tx\n\n1\ty\t_\tX\t_\t_\t_\t_\t_\t_\n", ":16: 2 columns, CoNLL-U or CoNLL-X has 10", None),
    ("1\tx\t_\tX\t_\t_\t_\t_\t_\t_\n2\t\t_\tX\t_\t_\t_\t_\t_\t_\n", ":2: a word is missing", []),
]


@pytest.mark.parametrize(("text", "complaint", "rest"), BAD)
def test_bad_lines_are_named(write: Write, text: str, complaint: str, rest: list[str] | None) -> None:
    path = write(text)
    with pytest.raises(InputError) as caught:
        list(read_annotated(path))
    assert str(caught.value).startswith(f"{path}{complaint}")
    assert "\n" not in str(caught.value)
    noted: list[InputError] = []
    kept = [sentence.words for sentence in read_annotated(path, on_bad=noted.append)]
    assert complaint in str(noted[0])
    if rest is not None:
        assert kept == [tuple(pair.rpartition("/")[0] for pair in each.split()) for each in rest]
    else:
        assert len(noted) == 1
        assert kept == [("Vamos", "nos", "a", "el", "mar", "."), ("y",)]


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes(b"a DT\n\ncaf\xe9 NN\n")
    with pytest.raises(InputError, match=r"latin\.txt:3: byte 0xe9"):
        list(read_annotated(path))
    noted: list[InputError] = []
    assert [sentence.words for sentence in read_annotated(path, on_bad=noted.append)] == [("a",)]
    assert len(noted) == 1


def test_columns_and_readers_that_are_not_there(write: Write) -> None:
    path = write("a DT\n")
    (sentence,) = read_annotated(path)
    with pytest.raises(InputError, match=r"file\.txt:1: no column 'xpos'.*there is 2"):
        sentence.tagged("xpos")
    with pytest.raises(ConfigError, match="no reader 'conll'"):
        list(read_annotated(path, "conll"))
    with pytest.raises(InputError, match="cannot read the file"):
        list(read_annotated(path.with_name("missing")))


CONLL_X = "1\tEn\ten\tP\tsps\t_\t2\tX\t_\t_\n2\tcasa\tcasa\tN\tnc\t_\t0\tR\t_\t_\n\n"
CONLL_2009 = "1\tCats\tcat\tcat\tNNS\tNN\t_\t_\t2\t2\tSBJ\tSBJ\t_\t_\n2\tsleep" + "\tVBP" * 12 + "\n\n"
CONLL_2012 = """\
#begin document (bc/a); part 000
bc/a   0   0   In   IN   (TOP(S(PP*   -   -   -   A#1   *   -
bc/a   0   1   it   PRP   (NP*)))   -   -   -   A#1   *   -

#end document
"""


@pytest.mark.parametrize(
    ("text", "title", "words"),
    [
        (CONLLU, "CoNLL-U or CoNLL-X", None),
        (CONLL_X, "CoNLL-U or CoNLL-X", ["En/P casa/N"]),
        (CONLL_2009, "CoNLL-2009", ["Cats/NNS sleep/VBP"]),
        (CONLL_2012, "CoNLL-2012", ["In/IN it/PRP"]),
        (CONLL_2012.partition("\n")[2], "CoNLL-2012", ["In/IN it/PRP"]),
        ("a DT B-NP\n", "columns (as CoNLL-2000 and 2003), words in the first", ["a/B-NP"]),
        (
            "1 CD B-NP\n1 NN I-NP\na NN I-NP\n",
            "columns (as CoNLL-2000 and 2003), words in the first",
            ["1/B-NP 1/I-NP a/I-NP"],
        ),
        ("a_DT\n", "word_TAG", ["a/DT"]),
    ],
)
def test_formats_of_conll_are_known(write: Write, text: str, title: str, words: list[str] | None) -> None:
    path = write(text)
    assert title_of(path) == title
    assert words is None or tagged(path) == words


ROWS = [f"{i}\t{word}\t_\tX\t_\t_\t0\t_\t_\t_\n" for i, word in enumerate("abc", 1)]
NINE = [row.replace("\t_\n", "\n") for row in ROWS]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("".join(NINE), ":1: 9 columns, a number in the first: in no format that is known"),
        ("# text = a b\n" + "".join(NINE), ":2: 9 columns, CoNLL-U or CoNLL-X has 10"),
        (NINE[0], ":1: 9 columns, a number in the first"),
        ("1 a X\n2 b X\n\n1 c X\n", ":1: 3 columns, a number in the first"),
        ("".join(ROWS).replace("\t", " "), ":1: blanks between columns"),
        ("# text = a b\n" + "".join(ROWS).replace("\t", "  "), ":2: blanks between columns"),
        (ROWS[0] + ROWS[2], ":2: the id '3' where 2 is next"),
        (ROWS[0] + ROWS[1] + ROWS[1], ":3: the id '2' where 3 is next"),
        (ROWS[0] + ROWS[0], ":2: the id '1' where 2 is next"),
        (ROWS[1], ":1: the id '2' where 1 is next"),
        (ROWS[0] + "s2" + ROWS[1][1:], ":2: the id 's2' where 2 is next"),
        (ROWS[0] + "3-4" + ROWS[1][1:], ":2: the id '3-4' where 2 is next"),
        (ROWS[0] + "2.1" + ROWS[1][1:], ":2: the id '2.1' where 1 is next"),
        (ROWS[0] + "# sent_id = 2\n" + ROWS[0], ":2: a comment within a sentence"),
        (CONLL_2012.replace("   1   it", "   2   it"), ":3: the id '2' where 1 is next"),
        (CONLL_2012.replace("   1   it", "   2   it")[:-15] + "b\n", ":3: the id '2' where 1 is next"),
        (ROWS[0].replace("X", "_"), ":1: no tags in the column 'upos'"),
    ],
)
def test_what_is_in_no_format_of_conll_is_refused(write: Write, text: str, complaint: str) -> None:
    path = write(text)
    with pytest.raises(InputError) as caught:
        tagged(path)
    assert str(caught.value).startswith(f"{path}{complaint}")


def test_a_numbered_format_is_not_taken_for_plain_columns(write: Write) -> None:
    with pytest.raises(InputError, match="9 columns, a number in the first"):
        tagged(write("".join(NINE)), reader="columns")
    with pytest.raises(InputError, match="14 columns, CoNLL-U or CoNLL-X has 10"):
        tagged(write(CONLL_2009), reader="conllu")


def test_sentences_without_an_empty_line_between_are_skipped_one_by_one(write: Write) -> None:
    path = write("# sent_id = 1\n" + ROWS[0] + "# sent_id = 2\n" + ROWS[0] + ROWS[1])
    noted: list[InputError] = []
    assert [each.words for each in read_annotated(path, on_bad=noted.append)] == [("a", "b")]
    assert [error.line for error in noted] == [3]


@pytest.mark.parametrize(("number", "head"), [("9" * 5000, "0"), ("1", "9" * 5000)])
def test_numbers_without_end_are_refused(tmp_path: Path, number: str, head: str) -> None:
    file = tmp_path / "long.conllu"
    file.write_text(f"{number}\ta\t_\tX\t_\t_\t{head}\troot\t_\t_\n")
    with pytest.raises(InputError, match=r"where 1 is next|has the head '999"):
        [each.annotations() for each in read_annotated(file, "conllu")]
