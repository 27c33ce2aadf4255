"""Models for spectralnlp, each a folder with its card."""

from pathlib import Path

FR = Path(__file__).parent / "fr"
