"""Reading text for vectors, and the score of vectors."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import numpy as np
import pytest

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.eigenwords import Ngrams
from spectralnlp.models.vectors import Vectors
from spectralnlp.parameters import WordVectors
from spectralnlp.tasks.vectors import VectorsTask, neighbour_agreement
from spectralnlp.text.blocks import TextFiles, is_tokenised, read_words


def read(path: Path, **options: object) -> str:
    return "".join(VectorsTask().read([path], **options))  # type: ignore[arg-type]


def test_text_and_tokens_are_told_apart(tmp_path: Path) -> None:
    raw, apart = tmp_path / "raw.txt", tmp_path / "apart.txt"
    raw.write_text("Gulls, he said, aren't e-mail. (Or 3.5!)\nNext...\n")
    apart.write_text("Gulls , he said , are n't . U.S. law , too .\n")
    assert read(raw).split("\n") == ["Gulls , he said , aren't e-mail . ( Or 3.5 !) ", " Next ... ", ""]
    assert read(apart) == apart.read_text()
    assert read(raw, reader="tokens") == raw.read_text()
    assert "U.S . law" in read(apart, reader="text")
    assert is_tokenised("no marks at all")


@pytest.mark.parametrize(
    ("large", "long"), [(4, 300), (7, 300), (50, 300), (333, 300), (10_000, 300), (1000, 30_000)]
)
def test_a_large_file_is_read_in_parts_of_whole_lines(tmp_path: Path, large: int, long: int) -> None:
    path, bad = tmp_path / "large.txt", tmp_path / "bad.txt"
    lines = [f"line {i} with wörds , too .\n" for i in range(40)]
    lines[7:8] = ["\n", "\n", "x " * long + "\n", "no line feed at the end ."]
    lines.append(lines.pop(10))
    path.write_text("\ufeff" + "".join(lines))
    parts = TextFiles([path], large=large).partitions()
    assert len({part.start for part in parts}) == len(parts) == -(-path.stat().st_size // large)
    texts = ["".join(part) for part in parts if list(part)]
    assert "".join(texts) == "".join(lines)
    assert all(text.endswith("\n") for text in texts[:-1])

    bad.write_bytes(path.read_bytes() + b"\nlast \xff\n")
    with pytest.raises(InputError, match=r"bad\.txt:44: byte 0xff at column 6"):
        list(TextFiles([bad], large=large))


def test_what_cannot_be_read_from_any_place_is_one_part(tmp_path: Path) -> None:
    zipped, columns = tmp_path / "text.gz", tmp_path / "columns.tsv"
    zipped.write_bytes(gzip.compress(random.randbytes(500).hex().encode()))
    columns.write_text("a\tb c\n" * 100)
    assert len(TextFiles([zipped, tmp_path / "missing"], large=9).partitions()) == 2
    assert len(TextFiles([columns], column=2, large=9).partitions()) == 1


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"one\ntwo \xff three\n", r"t\.txt:2: byte 0xff at column 5 is not utf-8"),
        (b"one\nt\0wo\n", r"t\.txt:2: a NUL byte"),
    ],
)
def test_bad_bytes_are_refused_with_their_line(tmp_path: Path, content: bytes, complaint: str) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=complaint):
        read(path)


def test_a_cut_off_gzip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.gz"
    path.write_bytes(gzip.compress(np.random.default_rng(0).bytes(1000).hex().encode())[:-100])
    with pytest.raises(InputError, match="cut short"):
        read(path)


def test_a_column(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("greeting\tHello there .\nparting\tBye .\tmore\n\n")
    assert read(path, text_column=2) == "Hello there .\nBye .\n"
    with pytest.raises(InputError, match=":1: 2 columns, so there is no column 3"):
        read(path, text_column=3)
    skipped: list[InputError] = []
    assert read(path, text_column=3, on_bad=skipped.append) == "more\n"
    assert len(skipped) == 1


def test_n_grams_and_unknown_readers(tmp_path: Path) -> None:
    path = tmp_path / "g.txt"
    path.write_text("a b\t2\n")
    (grams,) = VectorsTask().read([path], reader="ngrams")
    assert isinstance(grams, Ngrams)
    with pytest.raises(ConfigError, match="no reader of text is called 'word'"):
        VectorsTask().read([path], reader="word")
    with pytest.raises(ConfigError):
        list(read_words(path, reader="word"))


def vectors(words: list[str], rows: list[list[float]]) -> Vectors:
    array = np.array(rows, np.float32)
    return Vectors(
        WordVectors(
            words=tuple(words),
            counts=np.ones(len(words), np.int64),
            vectors=array,
            singular_values=np.ones(2, np.float32),
        )
    )


def test_agreement_is_what_it_says(tmp_path: Path) -> None:
    model = vectors(["a", "b", "c", "d"], [[1, 0], [1, 0.1], [0, 1], [0.8, 1]])
    path = tmp_path / "labels.tsv"
    path.write_text("a\tN\nb\tN\nc\tV\nd\tN\nd\tV\nd\tV\nunknown\tN\n")
    report = VectorsTask().evaluate(model, VectorsTask().read_gold([path]))
    assert report.to_flat_dict() == pytest.approx(
        {"accuracy": 100, "accuracy_10": 100 / 3, "chance": 50, "words": 4, "coverage": 80}
    )
    assert "coverage" in report.to_table()


def test_conllu_and_bad_labels(tmp_path: Path) -> None:
    path = tmp_path / "x.conllu"
    path.write_text("# text = a b\n1\ta\ta\tDET\t" + "_\t" * 5 + "_\n1-2\tab\t" + "_\t" * 7 + "_\n\n")
    assert list(VectorsTask().read_gold([path])) == [("a", "DET")]
    path.write_text("word\n")
    with pytest.raises(InputError, match=":1: a word without a label"):
        list(VectorsTask().read_gold([path]))
    with pytest.raises(InputError, match="1 labelled words"):
        neighbour_agreement(vectors(["a", "b"], [[1, 0], [0, 1]]), [("a", "N")])
