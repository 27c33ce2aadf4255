"""Paths of the model folders in this package, by which spectralnlp finds the models."""

from pathlib import Path

IS = Path(__file__).parent / "is"
IS_TAGGER = Path(__file__).parent / "is_tagger"
