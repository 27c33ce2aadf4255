"""Models for spectralnlp, each a folder with its card."""

from pathlib import Path

ID = Path(__file__).parent / "id"
