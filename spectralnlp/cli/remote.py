"""Parsing where another engine works: workers get the name of the model, and give text."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from spectralnlp.errors import ConfigError

if TYPE_CHECKING:
    from spectralnlp.text.tokens import Sentence


@dataclass(frozen=True)
class ParseToText:
    """A parser and a format by their names, to send to workers: a model is large, and theirs is the same.

    Args:
        model: its name, or its folder as workers see it.
        fingerprint: what `fingerprint_of` says of it here.
        tagger, fixed_tags: as for ``load_parser``.
        decoder, k: as for ``Parser.parse_many``.
        form, scores: how a parse is written.
    """

    model: str
    fingerprint: str
    tagger: str | None = None
    fixed_tags: bool = False
    decoder: str | None = None
    k: int = 1
    form: str = "ptb"
    scores: bool = False

    @classmethod
    def of(cls, model: str, *how: Any) -> ParseToText:
        """The same, with the fingerprint that the model has here."""
        return cls(model, fingerprint_of(model), *how)

    def __call__(self, sentence: Sentence | None) -> tuple[str, str | None] | None:
        """The text of a parse, and why it is a fallback if it is one; None for None."""
        from spectralnlp.render import renderer

        parser = _loaded(self.model, self.fingerprint, self.tagger, self.fixed_tags)
        (parse,) = parser.parse_many([sentence], decoder=self.decoder, k=self.k)
        return None if parse is None else (renderer(self.form)(parse, self.scores), parse.fallback)

    def about(self) -> dict[str, Any]:
        """What a journal must agree in."""
        return asdict(self)


@cache
def _loaded(model: str, fingerprint: str, tagger: str | None, fixed_tags: bool) -> Any:
    from spectralnlp.cli.models import load_parser

    if fingerprint_of(model) != fingerprint:
        raise ConfigError(f"a worker's model {model} is another one", hint="install the same everywhere")
    return load_parser(model, tagger, fixed_tags=fixed_tags)


def fingerprint_of(model: str) -> str:
    """A digest of a model's description, which holds that of its numbers."""
    from spectralnlp.model import folder_of
    from spectralnlp.storage import META

    return hashlib.sha256((folder_of(model) / META).read_bytes()).hexdigest()[:16]
