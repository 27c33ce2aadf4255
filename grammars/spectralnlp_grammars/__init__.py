"""Trained models that ship with spectralnlp, each a folder with its model card."""

from pathlib import Path

EN = Path(__file__).parent / "en"
"""English: see en/README.md."""

EN_BIOMEDICAL = Path(__file__).parent / "en_biomedical"
"""English of biomedical articles: see en_biomedical/README.md."""

EN_TAGGER = Path(__file__).parent / "en_tagger"
"""Penn tags of English: see en_tagger/README.md."""

EN_UPOS = Path(__file__).parent / "en_upos"
"""Universal parts of speech of English: see en_upos/README.md."""
