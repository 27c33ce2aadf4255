"""Guess the encoding of a text, for hints in error messages."""

from __future__ import annotations

import re

_WESTERN = "áàâãäåæçéèêëíìîïñóòôõöøúùûüýþðßÁÀÂÄÅÆÇÉÈÍÓÖØÚÜÞªº¿¡«»°§"
_CENTRAL = "áąâăćčďéęěëíîĺľłńňóôőöřśšşťţúůűüýźžżßÁČĆŁÖŘŚŠÚÜŻŽ"
_QUOTES = "‘’“”„–—…"
_CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюяё"
_CHINESE = "，。、的一是不了在人有我他中大上"

# Weights by how unlikely common letters are by chance: in Latin script, in another, in two bytes.
_WEAK, _STRONG, _VERY_STRONG = 0.7, 1.3, 5.0
# The commonest letters of each encoding; the likelier encoding comes first, so that it wins ties.
_COMMON = {
    "iso-8859-1": (_WESTERN, _WEAK),
    "windows-1252": (_WESTERN + _QUOTES, _WEAK),
    "iso-8859-2": (_CENTRAL, _WEAK),
    "windows-1250": (_CENTRAL + _QUOTES, _WEAK),
    "windows-1251": (_CYRILLIC, _STRONG),
    "koi8-r": (_CYRILLIC, _STRONG),
    "iso-8859-5": (_CYRILLIC, _STRONG),
    "iso-8859-7": ("αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώ", _STRONG),
    "windows-1256": ("ابتثجحخدذرزسشصضطظعغفقكلمنهويةىأإ", _STRONG),
    "gb18030": (_CHINESE + "这来个国们为说对会学", _VERY_STRONG),
    "big5": (_CHINESE + "這來個國們為說對會學", _VERY_STRONG),
    "euc-jp": ("、。のにはをたがでてとしれさいなるもかう", _VERY_STRONG),
    "shift_jis": ("、。のにはをたがでてとしれさいなるもかう", _VERY_STRONG),
    "euc-kr": ("이다는에의을가은를고로도하한지서기", _VERY_STRONG),
}
_FOREIGN = re.compile(r"[^\0-\x9f]")
_FOREIGN_ALONE = re.compile(r"(?<![A-Za-z])[^\0-\x9f](?![A-Za-z])")


def likely_encoding(sample: bytes) -> str:
    """Guess the encoding of a text among those that treebanks use.

    If the sample is not UTF-8, each encoding is scored by the share of the decoded non-ASCII characters that
    are common letters of the languages written in this encoding, times a weight. Letters that hardly arise by
    chance, such as Korean syllables, have a higher weight than accented Latin letters.

    Args:
        sample: a few lines with characters beyond ASCII; more is better.

    Returns:
        Python's name of the most probable encoding.
    """
    if not sample.isascii():
        try:
            sample.decode("utf-8")
            return "utf-8"
        except UnicodeDecodeError:
            pass
    scores = {name: _score(sample, name) for name in _COMMON}
    return max(scores, key=lambda name: scores[name])  # ties go to the first


def _score(sample: bytes, encoding: str) -> float:
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError:
        return -1.0
    common, weight = _COMMON[encoding]
    all_foreign = len(_FOREIGN.findall(text))
    pattern = _FOREIGN if weight == _WEAK else _FOREIGN_ALONE
    n_common = sum(character in common for character in pattern.findall(text))
    controls = sum("\x80" <= character <= "\x9f" for character in text)
    return (n_common - controls) / max(1, all_foreign) * weight
