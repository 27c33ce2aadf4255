"""Paths of the model folders in this package, by which spectralnlp finds the models."""

from pathlib import Path

FR = Path(__file__).parent / "fr"
