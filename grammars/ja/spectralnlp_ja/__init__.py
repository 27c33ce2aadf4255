"""Paths of the model folders in this package, by which spectralnlp finds the models."""

from pathlib import Path

JA = Path(__file__).parent / "ja"
