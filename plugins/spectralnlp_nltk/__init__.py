"""Use spectralnlp's parsers and taggers through NLTK's interfaces, ``ParserI`` and ``TaggerI``.

>>> from spectralnlp_nltk import SpectralParser
>>> SpectralParser().parse_one("Gulls are noisy .".split()).pretty_print()
"""

from __future__ import annotations

from spectralnlp_nltk.adapters import SpectralParser, SpectralTagger

__all__ = ["SpectralParser", "SpectralTagger"]


def __dir__() -> list[str]:
    return sorted(__all__)
