"""Tokenizer for spaCy pipelines that splits text into tokens as in a spectralnlp model's training data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import DummyTokenizer
from spacy.vocab import Vocab

import spectralnlp
from spectralnlp.errors import SpectralError
from spectralnlp.text.tokenizer import Tokenizer
from spectralnlp.text.tokens import Token
from spectralnlp_spacy.errors import ComponentError, Errors


class SpectralTokenizer(DummyTokenizer):
    """Tokenizer that splits text like a model's training data; ``doc.text`` equals the text.

    The tokens are those of `Parser.parse`; tokens of blanks, which `Parser.parse` leaves out, have
    ``is_space`` set.

    Args:
        vocab: vocabulary of the pipeline.
        model: name or folder of a parser or tagger. It is loaded with the first text and not saved with the
            pipeline.
        tokenizer: tokenizer of the model, if the model is loaded already; None to load the model.
    """

    def __init__(self, vocab: Vocab, model: str, tokenizer: Tokenizer | None = None) -> None:
        self.vocab, self.model = vocab, model
        if tokenizer is not None:
            self._tokenizer = tokenizer

    @cached_property
    def _tokenizer(self) -> Any:
        try:
            return spectralnlp.load(self.model).tokenizer
        except (SpectralError, AttributeError) as error:
            message = Errors.SN001.format(name="tokenizer", model=self.model, reason=error)
            raise ComponentError(message) from error

    def __call__(self, text: str) -> Doc:
        """Tokenise a text.

        Raises:
            ComponentError: the model cannot be loaded, or has no tokenizer.
            ConfigError: the text has no spaces between words, and the model has not learned to segment it.
        """
        words: list[str] = []
        spaces: list[bool] = []
        end = 0
        for token in self._tokens(text):
            self._add_blanks(text[end : token.start], words, spaces)
            words.append(token.text)
            spaces.append(False)
            end = token.end
        self._add_blanks(text[end:], words, spaces)
        return Doc(self.vocab, words, spaces)

    def _tokens(self, text: str) -> Iterator[Token]:
        offset = 0
        for line in text.splitlines(keepends=True):  # as `Parser.parse` does: no rule looks beyond a line
            yield from self._tokenizer.tokenize(line, offset)
            offset += len(line)

    def _add_blanks(self, blanks: str, words: list[str], spaces: list[bool]) -> None:
        """Add the blanks after a word to the tokens, as spaCy represents white space.

        If the blanks begin with a space, the last item of ``spaces`` becomes true; any further blanks become
        a token.

        Args:
            blanks: white space and invisible characters.
            words: tokens so far, extended in place.
            spaces: for each token, whether a space follows; extended in place.
        """
        if words and blanks.startswith(" "):
            spaces[-1], blanks = True, blanks[1:]
        if blanks:
            self.vocab[blanks].is_space = True  # spaCy takes invisible characters for letters
            words.append(blanks)
            spaces.append(False)


def make_tokenizer(model: str) -> Callable[[Language], SpectralTokenizer]:
    """Return the function that creates the tokenizer ``spectralnlp.Tokenizer.v1`` of a config.

    Args:
        model: name or folder of a parser or tagger; text is split as in its training data.

    Examples:
        >>> import spacy
        >>> tokenizer = {"@tokenizers": "spectralnlp.Tokenizer.v1", "model": "en"}
        >>> nlp = spacy.blank("en", config={"nlp": {"tokenizer": tokenizer}})
        >>> [token.text for token in nlp("They can't see  it.")]
        ['They', 'ca', "n't", 'see', ' ', 'it', '.']
    """
    return lambda nlp: SpectralTokenizer(nlp.vocab, model)
