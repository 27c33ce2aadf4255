"""Models for spectralnlp, each a folder with its card."""

from pathlib import Path

EN_VECTORS = Path(__file__).parent / "en_vectors"
EN_MOMENTS = Path(__file__).parent / "en_moments"
