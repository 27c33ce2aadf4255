"""Paths of the folders of the English models that ship with spectralnlp; each folder has a model card."""

from pathlib import Path

# English: see en/README.md.
EN = Path(__file__).parent / "en"
# English of biomedical articles: see en_biomedical/README.md.
EN_BIOMEDICAL = Path(__file__).parent / "en_biomedical"
# Penn tags of English: see en_tagger/README.md.
EN_TAGGER = Path(__file__).parent / "en_tagger"
# Universal parts of speech of English: see en_upos/README.md.
EN_UPOS = Path(__file__).parent / "en_upos"
