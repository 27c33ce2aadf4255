"""A tokenizer of pipelines: cuts texts into words as the treebank of an installed model does."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import DummyTokenizer
from spacy.vocab import Vocab

import spectralnlp
from spectralnlp.errors import SpectralError
from spectralnlp_spacy.errors import ComponentError, Errors


class SpectralTokenizer(DummyTokenizer):
    """Makes documents of texts; the text of a document is the text that it was made of.

    Args:
        vocab: of the pipeline.
        model: an installed model or a folder: of a parser or a tagger. It is loaded with the first text, and
            is not saved with the pipeline.
    """

    def __init__(self, vocab: Vocab, model: str) -> None:
        self.vocab, self.model = vocab, model

    @cached_property
    def _tokenizer(self) -> Any:
        try:
            return spectralnlp.load(self.model).tokenizer
        except (SpectralError, AttributeError) as error:
            message = Errors.SN001.format(name="tokenizer", model=self.model, reason=error)
            raise ComponentError(message) from error

    def __call__(self, text: str) -> Doc:
        """Cut a text into words.

        Raises:
            ComponentError: the model cannot be loaded, or has no tokenizer.
            ConfigError: the text has no blanks between words, and the model has not learned to find them.
        """
        words: list[str] = []
        spaces: list[bool] = []
        end = 0
        for token in self._tokenizer.tokenize(text):
            _add_blanks(text[end : token.start], words, spaces)
            words.append(token.text)
            spaces.append(False)
            end = token.end
        _add_blanks(text[end:], words, spaces)
        return Doc(self.vocab, words, spaces)


def _add_blanks(blanks: str, words: list[str], spaces: list[bool]) -> None:
    """Note what stands between two words: one blank belongs to the first, others are a token, as in spaCy."""
    if words and blanks.startswith(" "):
        spaces[-1], blanks = True, blanks[1:]
    if blanks:
        words.append(blanks)
        spaces.append(False)


def make_tokenizer(model: str) -> Callable[[Language], SpectralTokenizer]:
    """Make what a config calls ``[nlp.tokenizer] @tokenizers = "spectralnlp.Tokenizer.v1"``.

    Args:
        model: as of `SpectralTokenizer`.

    Examples:
        >>> import spacy
        >>> tokenizer = {"@tokenizers": "spectralnlp.Tokenizer.v1", "model": "en"}
        >>> nlp = spacy.blank("en", config={"nlp": {"tokenizer": tokenizer}})
        >>> [token.text for token in nlp("They can't see  it.")]
        ['They', 'ca', "n't", 'see', ' ', 'it', '.']
    """
    return lambda nlp: SpectralTokenizer(nlp.vocab, model)
