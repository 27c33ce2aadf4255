"""A guess at the encoding of text, for errors that say what would work."""

from __future__ import annotations

import re

_WESTERN = "áàâãäåæçéèêëíìîïñóòôõöøúùûüýþðßÁÀÂÄÅÆÇÉÈÍÓÖØÚÜÞªº¿¡«»°§"
_CENTRAL = "áąâăćčďéęěëíîĺľłńňóôőöřśšşťţúůűüýźžżßÁČĆŁÖŘŚŠÚÜŻŽ"
_QUOTES = "‘’“”„–—…"
_CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюяё"
_CHINESE = "，。、的一是不了在人有我他中大上"

# How surprising it is to meet common letters by chance: in Latin script, in another, in two bytes.
_WEAK, _STRONG, _VERY_STRONG = 0.7, 1.3, 5.0
# For each encoding its commonest letters, the likeliest encoding of equals first.
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
    """Guess the encoding of text, among those of treebanks.

    Of the encodings in which the sample can be decoded, the one whose commonest letters occur most,
    weighed by how unlikely that is by chance; letters of other scripts than the Latin count only if they are
    not next to ASCII letters.

    Args:
        sample: a few lines, the more the better, with characters beyond ASCII.

    Returns:
        A name that Python knows.
    """
    if not sample.isascii():
        try:
            sample.decode("utf-8")
            return "utf-8"
        except UnicodeDecodeError:
            pass
    scores = {name: _score(sample, name) for name in _COMMON}
    return max(scores, key=lambda name: scores[name])  # the first of equals


def _score(sample: bytes, encoding: str) -> float:
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError:
        return -1.0
    common, weight = _COMMON[encoding]
    all_foreign = len(_FOREIGN.findall(text))
    pattern = _FOREIGN if weight == _WEAK else _FOREIGN_ALONE
    found = sum(character in common for character in pattern.findall(text))
    controls = sum("\x80" <= character <= "\x9f" for character in text)
    return (found - controls) / max(1, all_foreign) * weight
