from __future__ import annotations

from pathlib import Path

import pytest

from spectralnlp.errors import InputError
from spectralnlp.scoring import COLLINS, EvalbParameters, read_prm

COLLINS_FILE = """\
##------------------------------------------##
DEBUG 0
MAX_ERROR 10
CUTOFF_LEN 40
LABELED 1

DELETE_LABEL TOP
DELETE_LABEL -NONE-
DELETE_LABEL ,
DELETE_LABEL :
DELETE_LABEL ``
DELETE_LABEL ''
DELETE_LABEL .
DELETE_LABEL_FOR_LENGTH -NONE-
EQ_LABEL ADVP PRT
"""


def write(folder: Path, text: str, name: str = "my.prm") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_the_built_in_parameters_are_those_of_the_file(tmp_path: Path) -> None:
    parameters = read_prm(write(tmp_path, COLLINS_FILE))
    assert parameters == COLLINS
    assert parameters.signature == "COLLINS"


def test_windows_files_read_the_same(tmp_path: Path) -> None:
    assert read_prm(write(tmp_path, "\ufeff" + COLLINS_FILE.replace("\n", "\r\n"))) == COLLINS


def test_an_empty_file_deletes_nothing_and_keeps_the_cutoff(tmp_path: Path) -> None:
    assert read_prm(write(tmp_path, "# nothing\n")) == EvalbParameters()


def test_all_keywords(tmp_path: Path) -> None:
    text = "LABELED 0\nCUTOFF_LEN 70\nQUOTE_LABEL POS\nEQ_WORD -LRB- (\nDELETE_LABEL S1\nEQ_LABEL NP NX\n"
    assert read_prm(write(tmp_path, text)) == EvalbParameters(
        delete_labels=frozenset({"S1"}),
        quote_labels=frozenset({"POS"}),
        eq_labels=frozenset({("NP", "NX")}),
        eq_words=frozenset({("-LRB-", "(")}),
        labelled=False,
        cutoff_len=70,
    )


def test_a_signature_tells_files_of_one_name_apart(tmp_path: Path) -> None:
    first = read_prm(write(tmp_path, COLLINS_FILE + "DELETE_LABEL S1\n", "COLLINS.prm"))
    second = read_prm(write(tmp_path, COLLINS_FILE + "DELETE_LABEL ROOT\n", "COLLINS.prm"))
    assert first.signature.startswith("COLLINS#")
    assert first.signature != second.signature
    assert (
        first.signature
        == read_prm(write(tmp_path, "DELETE_LABEL S1\n" + COLLINS_FILE, "COLLINS.prm")).signature
    )


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("DELETE_LABLE TOP", "unknown EVALB parameter 'DELETE_LABLE'"),
        ("DELETE_LABEL", "DELETE_LABEL takes 1 value(s), found 0"),
        ("DELETE_LABEL NP VP", "DELETE_LABEL takes 1 value(s), found 2"),
        ("EQ_LABEL ADVP", "EQ_LABEL takes 2 value(s), found 1"),
        ("CUTOFF_LEN forty", "CUTOFF_LEN takes a whole number, found 'forty'"),
        ("CUTOFF_LEN " + "9" * 5000, "CUTOFF_LEN takes a whole number, found '" + "9" * 118 + "…"),
        ("LABELED -1", "LABELED takes a whole number, found '-1'"),
    ],
)
def test_a_malformed_line_is_refused_in_one_line(tmp_path: Path, line: str, complaint: str) -> None:
    path = write(tmp_path, f"# a comment\n{line}\n")
    with pytest.raises(InputError) as caught:
        read_prm(path)
    assert str(caught.value) == f"{path}:2: {complaint}"


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_prm(tmp_path / "missing.prm")
    (tmp_path / "latin.prm").write_bytes(b"DELETE_LABEL \xe9\n")
    with pytest.raises(InputError, match="not UTF-8"):
        read_prm(tmp_path / "latin.prm")
