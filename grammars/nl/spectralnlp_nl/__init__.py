"""Paths of the model folders in this package, by which spectralnlp finds the models."""

from pathlib import Path

NL = Path(__file__).parent / "nl"
