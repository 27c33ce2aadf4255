"""Text in blocks, and counted n-grams: what is read, and what is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.text import blocks
from spectralnlp.text.blocks import Span, TextFiles, column_blocks, is_tokenised, read_blocks, read_words
from spectralnlp.text.ngrams import read_ngrams


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_blocks_have_whole_lines_and_all_of_the_text(tmp_path: Path) -> None:
    text = "\n".join(f"line {n} é" for n in range(10_000)) + "\n" + "word " * 20_000 + "end"
    path = write(tmp_path / "t", b"\xef\xbb\xbf" + text.encode())
    found = list(read_blocks(path))
    assert "".join(found) == text
    assert len(found) > len(text) // blocks.BLOCK
    assert all(block.endswith(("\n", " ", "end")) for block in found)
    (tmp_path / "t.gz").write_bytes(gzip.compress(text.encode()))
    assert "".join(read_blocks(tmp_path / "t.gz")) == text
    size = path.stat().st_size
    for cut in (3, 70, 40_000, size - 1):
        halves = [*read_blocks(path, Span(0, cut)), *read_blocks(path, Span(cut, size))]
        assert "".join(halves) == text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\nb\x00c\n", r"t:2: a NUL byte in text"),
        (b"a\nb\n\xff\n", r"t:3: byte 0xff at column 1 is not utf-8"),
        (gzip.compress(b"abc" * 999, mtime=0)[:-9], r"t: cannot be read: .*cut short"),
    ],
)
def test_blocks_refuse_what_is_no_text(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(read_blocks(write(tmp_path / "t", content)))
    with pytest.raises(InputError, match="cannot read the file"):
        list(read_blocks(tmp_path))


def test_errors_in_a_span_name_the_line_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "t", b"a\nb\nc\n\xff\n")
    with pytest.raises(InputError, match=r"t:4: byte 0xff"):
        list(read_blocks(path, Span(2, 99)))


def test_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "t", "1\tone two\n\n2\n3\tthree\n4\tx\n" + 10_000 * "5\ty z\n")
    with pytest.raises(InputError, match=r"t:3: 1 columns, so there is no column 2"):
        list(column_blocks(path, 2))
    bad: list[InputError] = []
    found = list(column_blocks(path, 2, bad.append))
    assert "".join(found) == "one two\nthree\nx\n" + 10_000 * "y z\n"
    assert len(found) == 2
    assert len(bad) == 1


def test_words_are_set_apart_where_the_text_is_not_tokenised(tmp_path: Path) -> None:
    raw = write(tmp_path / "raw", "He came, saw (it).\nShe left.\n")
    assert list(read_words(raw)) == ["He came , saw ( it ). \n She left . \n"]
    tokens = write(tmp_path / "tokens", "He came , saw .\n")
    assert list(read_words(tokens)) == ["He came , saw .\n"]
    assert list(read_words(raw, "tokens")) == ["He came, saw (it).\nShe left.\n"]
    assert list(read_words(raw, span=Span(19, 99))) == ["She left . \n"]
    assert list(read_words(write(tmp_path / "c", "1\ta.b c\n"), column=2)) == ["a.b c\n"]
    assert is_tokenised("a , b")
    assert not is_tokenised("a, b")
    with pytest.raises(ConfigError, match="no reader of text is called 'x'"):
        TextFiles([raw], "x")


def test_large_plain_files_are_several_partitions(tmp_path: Path) -> None:
    path = write(tmp_path / "t", "some words here\n" * 100)
    (tmp_path / "t.gz").write_bytes(gzip.compress(path.read_bytes()))
    corpus = TextFiles([path, tmp_path / "t.gz", tmp_path / "none", "s3://bucket/t"], large=500)
    assert [each.document.rpartition("/")[2] for each in corpus.partitions()] == ["t"] * 4 + [
        "t.gz",
        "none",
        "t",
    ]
    text = "".join(block for part in corpus.partitions()[:4] for block in part.read())
    assert text == path.read_text()
    assert len(TextFiles([path], column=1, large=500).partitions()) == 1


def test_counted_ngrams(tmp_path: Path) -> None:
    path = write(tmp_path / "n", "a b\t3\n\nb c\t1\nc d\t2000\t7\t1\n" + 40_000 * "d e\t5\n")
    first, second = read_ngrams(path)
    assert [*first.words, *second.words] == [["a", "b"], ["b", "c"], ["c", "d"]] + 40_000 * [["d", "e"]]
    assert [*first.counts, *second.counts] == [3, 1, 7] + 40_000 * [5]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a b", "1 columns between tabs, not 2 or 4"),
        ("a b\tx", "'x' is not a count"),
        ("a b\t-1", "'-1' is not a count"),
        (f"a b\t{10**30}", "is not a count"),
        ("a b\t" + "9" * 5000, "is not a count"),
        ("a\t3", "an n-gram of 1 words"),
        ("a b c\t3", "an n-gram of 3 words after one of 2"),
    ],
)
def test_lines_that_are_no_ngrams(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path / "n", f"a b\t1\n{line}\n")
    with pytest.raises(InputError, match=f"n:2: .*{message}"):
        list(read_ngrams(path))
    bad: list[InputError] = []
    assert len(list(read_ngrams(path, bad.append))) == 1
    assert len(bad) == 1
