"""Trained models that ship with spectralnlp, each a folder with its model card."""

from pathlib import Path

EN = Path(__file__).parent / "en"
"""English: see en/README.md."""

EN_BIOMEDICAL = Path(__file__).parent / "en_biomedical"
"""English of biomedical articles: see en_biomedical/README.md."""
