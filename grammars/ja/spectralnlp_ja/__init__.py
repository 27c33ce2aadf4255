"""Models for spectralnlp, each a folder with its card."""

from pathlib import Path

JA = Path(__file__).parent / "ja"
