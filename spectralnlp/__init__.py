"""spectralnlp: parsers, taggers and text representations learned by spectral methods."""

__version__ = "0.1.0"
