from __future__ import annotations

import gzip
import pickle
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from spectralnlp.errors import InputError
from spectralnlp.runtime import FileCorpus, InMemoryCorpus, expand_inputs, open_text
from spectralnlp.storage import save_model


def lines_of(path: Path, **options: str) -> list[str]:
    with open_text(path, **options) as lines:
        return list(lines)


def read_lines(path: Path) -> Iterator[str]:
    with open_text(path) as lines:
        yield from lines


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", []),
        (b"a\nb\n", ["a", "b"]),
        (b"a\r\n\r\nb", ["a", "", "b"]),
        (b"\xef\xbb\xbfa\n", ["a"]),
        ("naïve 🐈\n".encode(), ["naïve 🐈"]),
        ("a\u2028b\x0bc\x85d\n".encode(), ["a\u2028b\x0bc\x85d"]),  # only line feeds end lines
    ],
)
@pytest.mark.parametrize("zipped", ["plain", "magic", "suffix"])
def test_open_text_gives_lines_without_their_ends(
    tmp_path: Path, raw: bytes, expected: list[str], zipped: str
) -> None:
    path = tmp_path / ("text.gz" if zipped == "suffix" else "text")
    path.write_bytes(raw if zipped == "plain" else gzip.compress(raw))
    assert lines_of(path) == expected


def test_open_text_reads_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "es.txt"
    path.write_bytes("mañana\n".encode("iso-8859-15"))
    assert lines_of(path, encoding="iso-8859-15") == ["mañana"]


@pytest.mark.parametrize(
    ("raw", "name", "message"),
    [
        (
            b"ok\nma\xf1ana\n",
            "a.txt",
            "a.txt:2: byte 0xf1 at column 3 is not utf-8; it reads as iso-8859-1; convert",
        ),
        (b"ok\nx\0y\n", "a.txt", "a.txt:2: a NUL byte in text; "),
        ("ok\n".encode("utf-16"), "a.txt", "a.txt:1: a NUL byte in text; "),
        (b"not gzip", "a.gz", "a.gz:1: cannot be read: "),
        (gzip.compress(b"a\n" * 9999, mtime=0)[:-20], "a.gz", "cannot be read: "),
    ],
)
def test_what_cannot_be_text_is_refused_with_its_line(
    tmp_path: Path, raw: bytes, name: str, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(raw)
    with pytest.raises(InputError) as refusal:
        lines_of(path)
    assert message in str(refusal.value)


def test_missing_files_folders_and_encodings_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(InputError, match="cannot read the file"):
            lines_of(path)
    (tmp_path / "a").write_bytes(b"a\n")
    for encoding in ("utf-99", "utf-16"):
        with pytest.raises(InputError, match=encoding):
            lines_of(tmp_path / "a", encoding=encoding)


@pytest.mark.slow
def test_open_text_streams(tmp_path: Path) -> None:
    path = tmp_path / "large.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(1000):
            file.write(b"a line of text\n" * 1000)  # 15 MB
    tracemalloc.start()
    with open_text(path) as lines:
        assert sum(1 for _ in lines) == 1_000_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_inputs_are_expanded_in_a_fixed_order_each_file_once(tmp_path: Path) -> None:
    for name in ("b/2.mrg", "b/1.anything", "a.txt", "b/.hidden", ".git/config"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert expand_inputs([tmp_path]) == [tmp_path / each for each in ("a.txt", "b/1.anything", "b/2.mrg")]
    assert expand_inputs([tmp_path / "b/2.mrg", f"{tmp_path}/**/*"]) == [
        tmp_path / each for each in ("b/2.mrg", "a.txt", "b/1.anything")
    ]
    assert expand_inputs([f"{tmp_path}/[b]"]) == [tmp_path / "b/1.anything", tmp_path / "b/2.mrg"]
    assert expand_inputs([tmp_path / "b/.hidden"]) == [tmp_path / "b/.hidden"]  # asked for by name


def test_a_file_whose_name_looks_like_a_glob_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "wsj[1].mrg").write_text("x")
    assert expand_inputs([tmp_path / "wsj[1].mrg"]) == [tmp_path / "wsj[1].mrg"]


def test_inputs_that_stand_for_nothing_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    save_model(tmp_path / "model", kind="parsing", metadata={}, arrays={}, card="")
    for item, message in (
        ("missing", "no such"),
        ("*.mrg", "matches no file"),
        ("empty", "holds no files"),
        ("model", "this is a model, not data"),
    ):
        with pytest.raises(InputError, match=message):
            expand_inputs([tmp_path / item])


def test_a_file_corpus_can_be_read_again_and_sent_to_workers(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("".join(f"{name}{i}\n" for i in range(5)))
    corpus = FileCorpus([tmp_path / "b", tmp_path / "a"], read_lines)
    expected = ["b0", "b1", "b2", "b3", "b4", "a0", "a1", "a2", "a3", "a4"]
    assert list(corpus) == list(corpus) == expected
    sent = pickle.loads(pickle.dumps(corpus.partitions()))
    assert [line for partition in sent for line in partition] == expected
    batches = [(b.document, b.document_index, b.start, list(b)) for b in corpus.batches(3)]
    b, a = (tmp_path / "b").as_posix(), (tmp_path / "a").as_posix()
    assert batches == [
        (b, 0, 0, ["b0", "b1", "b2"]),
        (b, 0, 3, ["b3", "b4"]),
        (a, 1, 0, ["a0", "a1", "a2"]),
        (a, 1, 3, ["a3", "a4"]),
    ]


@pytest.mark.parametrize("n_partitions", [1, 3, 7, 20])
def test_the_global_index_does_not_depend_on_partitions(n_partitions: int) -> None:
    corpus = InMemoryCorpus(range(10), n_partitions)
    assert list(corpus) == list(range(10))
    for partition in pickle.loads(pickle.dumps(corpus.partitions())):
        for batch in partition.batches(2):
            assert [batch.start + i for i in range(len(batch))] == list(batch)
            assert (batch.document, batch.document_index) == ("memory", 0)
