"""Models for spectralnlp, each a folder with its card."""

from pathlib import Path

IS = Path(__file__).parent / "is"
IS_TAGGER = Path(__file__).parent / "is_tagger"
