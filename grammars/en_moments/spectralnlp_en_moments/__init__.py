"""Paths of the model folders in this package, by which spectralnlp finds the models."""

from pathlib import Path

EN_VECTORS = Path(__file__).parent / "en_vectors"
EN_MOMENTS = Path(__file__).parent / "en_moments"
