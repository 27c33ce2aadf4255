"""A wrong encoding is named together with one that would work."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from spectralnlp.errors import InputError
from spectralnlp.runtime import open_text
from spectralnlp.runtime.encodings import likely_encoding

SAMPLES = {
    "iso-8859-1": "El niño subió a la montaña; él también. Où est le café à côté?",
    "windows-1252": "It’s a “café” – n’est-ce pas … très loin",
    "iso-8859-2": "Żółta łódź płynie przez rzekę. Loď pluje přes řeku k přístavu.",
    "windows-1251": "(S (NN лодка)) Лодка плывёт по реке, и смотритель её видит.",
    "koi8-r": "Лодка плывёт по реке, и смотритель её видит.",
    "iso-8859-7": "Η βάρκα περνά κάτω από τη γέφυρα και ο φύλακας τη βλέπει",
    "windows-1256": "القارب يعبر النهر في الصباح",
    "gb18030": "( (IP (NP (NN 船)) (VP (VV 来) (AS 了)) (PU 。)) ) 我们在这里看大的港口",
    "big5": "我們在這裡看大的船，他說：今天下雨了。",
    "euc-jp": "船が川を渡っています。私の友達はそれを見る。",
    "shift_jis": "船が川を渡っています。私の友達はそれを見る。",
    "euc-kr": "배가 강을 건넌다. 내 친구는 그 배를 본다.",
}


@pytest.mark.parametrize("encoding", SAMPLES)
def test_the_encoding_is_guessed(encoding: str) -> None:
    assert likely_encoding(SAMPLES[encoding].encode(encoding)) == encoding


def test_what_is_utf8_or_short() -> None:
    assert likely_encoding(SAMPLES["gb18030"].encode()) == "utf-8"
    assert likely_encoding("(NN cañón)".encode("iso-8859-1")) == "iso-8859-1"
    assert likely_encoding(b"(NN \x81\xff)") in SAMPLES  # something that Python knows


@pytest.mark.parametrize("zipped", [False, True])
def test_errors_say_what_would_work(tmp_path: Path, zipped: bool) -> None:
    path = tmp_path / "a.txt"
    raw = f"plain\n{SAMPLES['koi8-r']}\nplain\n".encode("koi8-r")
    path.write_bytes(gzip.compress(raw) if zipped else raw)
    with (
        pytest.raises(InputError, match=r"a\.txt:2: .*not utf-8; it reads as koi8-r"),
        open_text(path) as lines,
    ):
        list(lines)
    with open_text(path, "koi8-r") as lines:
        assert list(lines)[1] == SAMPLES["koi8-r"]


def test_a_file_may_declare_its_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("coding koi8-r\nлодка\n".encode("koi8-r"))
    with open_text(path, declared=lambda head: head.split()[1]) as lines:
        assert list(lines) == ["coding koi8-r", "лодка"]
