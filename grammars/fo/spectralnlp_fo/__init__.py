"""Models for spectralnlp, each a folder with its card."""

from pathlib import Path

FO = Path(__file__).parent / "fo"
