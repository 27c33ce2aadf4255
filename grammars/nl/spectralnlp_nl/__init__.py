"""Models for spectralnlp, each a folder with its card."""

from pathlib import Path

NL = Path(__file__).parent / "nl"
