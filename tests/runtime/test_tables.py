"""Tables in files: what is recognised, and what is wrong with them."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from typing import Any

import pytest

from spectralnlp.errors import ConfigError, InputError, SpectralError
from spectralnlp.runtime import TEXT_NAMES, find_table, text_cells

ROWS = ['a "quoted", text', "été; 3\ttimes", ""]


def cells(path: Path, column: str | int, on_bad: Any = None) -> list[str]:
    return list(text_cells(path, column, on_bad))


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".jsonl", ".parquet", ";.csv"])
def test_what_pandas_writes_is_read(tmp_path: Path, suffix: str) -> None:
    pandas = pytest.importorskip("pandas")
    path = tmp_path / f"rows{suffix}"
    frame = pandas.DataFrame({"id": [1, 2, 3], "Text": [*ROWS[:2], "more\nlines"]})
    if "json" in suffix:
        frame.to_json(path, orient="records", lines=True)
    elif "parquet" in suffix:
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep=";" if suffix[0] == ";" else ",", encoding="utf-8-sig")
    table = find_table(path)
    assert table is not None
    assert table.names == ("id", "Text")
    assert table.column(None, TEXT_NAMES) == "Text"
    assert cells(path, "text") == list(frame["Text"])


def test_tsv_has_a_header_if_its_first_line_looks_like_one(tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    path.write_text('index\tsentence\n1\t"said ""yes"""\n2\t"open\n')
    assert cells(path, "sentence") == ['said "yes"', '"open']
    path.write_text("question\twhat does it cost\n")
    assert find_table(path) is None
    path.write_text("")
    assert find_table(path) is None


def test_numbers_are_columns_of_lines_without_names(tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_text("a\tb c\n\nd\te\tf\n")
    assert cells(path, 2) == ["b c", "e"]
    (tmp_path / "rows.csv").write_text('text,"b, c"\n')
    assert cells(tmp_path / "rows.csv", 2) == ["b, c"]


@pytest.mark.parametrize(
    ("name", "content", "column", "message"),
    [
        ("a.csv", "id,body\n1,x\n", "text", "a.csv: no column 'text'; there are 'id', 'body'"),
        ("a.csv", "text,x\na,b\nc\n", "text", "a.csv:3: 1 cells, and there are 2 columns; put cells"),
        ("a.tsv", "text\tx\na\tb\tc\n", "text", "a.tsv:2: 3 cells, and there are 2 columns"),
        ("a.csv", "text,Text,TEXT\na,b,c\n", "tExt", "a.csv: 3 columns are called 'text'; rename"),
        ("a.csv", 'text,x\na,b\n"c,d\n\n', "text", "a.csv:3: a cell of more than 131,072 characters, or a"),
        ("a.csv", "", "text", "a.csv: the file is empty"),
        ("a.csv", "text\n\xe9\n", "text", "a.csv:2: byte 0xe9 at column 1 is not utf-8; it reads as"),
        ("a.txt", "a\tb\nc\n", 2, "a.txt:2: 1 columns, so there is no column 2"),
        ("a.jsonl", '{"text": "a"}\nnone\n', "text", "a.jsonl:2: not a JSON object; give one"),
        ("a.jsonl", '{"text": "a"}\n{}\n', "text", "a.jsonl:2: no text"),
        ("a.jsonl", '{"text": ["a"]}\n', "text", "a.jsonl:1: the text is a value of type list"),
        ("a.json", '[\n{"text": "a"}]\n', "text", "a.json:1: not a JSON object; give one"),
        ("a.jsonl", '{"text": "a"}\n', 1, "a.jsonl: its columns have names, so there is no column 1"),
        ("a.jsonl", "[" * 100_000, "text", "a.jsonl:1: not a JSON object"),
    ],
)
def test_bad_tables(tmp_path: Path, name: str, content: str, column: str | int, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(InputError) as caught:
        cells(path, column)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bad_rows_can_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("text,label\na,1\nb\nc,2\n")
    bad: list[SpectralError] = []
    assert cells(path, "text", bad.append) == ["a", "c"]
    assert [error.line for error in bad] == [3]


def test_parquet_needs_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(ConfigError, match=r'needs pyarrow; pip install "spectralnlp\[tables\]"'):
        cells(path, "text")


def test_damaged_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"PAR1 and nothing else PAR1")
    with pytest.raises(InputError, match=r"rows\.parquet: not a Parquet file, or damaged"):
        cells(path, "text")


def test_parquet_with_half_a_character(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    half = pyarrow.StringArray.from_buffers(
        1, pyarrow.array([0, 2], pyarrow.int32()).buffers()[1], pyarrow.py_buffer(b"a\xba")
    )
    parquet.write_table(pyarrow.table({"text": half}), tmp_path / "rows.parquet")
    with pytest.raises(InputError, match=r"rows\.parquet: a cell of text is not UTF-8 text"):
        cells(tmp_path / "rows.parquet", "text")


def test_zipped_lines_without_suffix(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(gzip.compress(b"a\tb\n"))
    assert find_table(path) is None
    assert cells(path, 1) == ["a"]
