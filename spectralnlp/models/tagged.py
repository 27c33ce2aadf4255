"""The result of tagging one sentence, as a value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from spectralnlp.display import data_frame, one_line
from spectralnlp.text.made_by import MadeByModel
from spectralnlp.text.spans import Scheme, Span, spans_of
from spectralnlp.text.tokens import Sentence

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Tagged(MadeByModel):
    """A sentence and the tags of its words.

    Iterating over it gives pairs of a word and its tag.

    Attributes:
        sentence: the tokens, with character offsets.
        tags: one a token.
        scheme: how tags are written: ``tags``, or ``bio`` and ``bioes`` where they write spans.
        confidence: how probable each tag is, where that was asked for; else None.
        model: the tagger; None where it is not known, as after a pickle. It is no part of the value.

    Examples:
        >>> import spectralnlp
        >>> (tagged,) = spectralnlp.load("en-tagger").tag("Gulls are noisy.")
        >>> list(tagged)
        [('Gulls', 'NNS'), ('are', 'VBP'), ('noisy', 'JJ'), ('.', '.')]
    """

    sentence: Sentence
    tags: tuple[str, ...]
    scheme: Scheme = "tags"
    confidence: tuple[float, ...] | None = None
    model: Any = field(default=None, repr=False, compare=False)

    __repr__ = one_line

    def __len__(self) -> int:
        return len(self.tags)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(zip(self.sentence.words, self.tags, strict=True))

    @property
    def words(self) -> list[str]:
        """The tokens as they stand in the text."""
        return self.sentence.words

    @property
    def spans(self) -> list[Span]:
        """The spans: first token, token after the last, label; none where tags write none."""
        return [] if self.scheme == "tags" else spans_of(self.tags)

    def explain(self, token: int, tag: str | None = None, *, most: int = 5) -> Any:
        """Say which features did most for a token's tag, and which training sentences; see `Tagger.explain`.

        Args:
            token: its number, counted from 0.
            tag: what to explain; None for the tag that the tagger gives.
            most: features, and sentences, on either side.

        Returns:
            A :class:`~spectralnlp.models.tag_explanation.TagExplanation`.

        Raises:
            ConfigError: the tagger is not known, or scores no features.
            InputError: there is no such token, or the tag cannot stand there.
        """
        return self._asked_model().explain(self.words, token, tag, most=most)

    def to_svg(self) -> str:
        """A drawing as one ``<svg>`` element: tags below words, spans over them."""
        from spectralnlp.render.tag_row import draw_tags

        return draw_tags(self.words, self.tags, None if self.scheme == "tags" else self.spans)

    def to_json(self) -> dict[str, Any]:
        """JSON values: ``tokens`` with ``text``, ``start``, ``end``, ``tag``; spans if any."""
        from spectralnlp.render.tags import to_dict

        return to_dict(self.sentence, self.tags, self.scheme, self.confidence)

    def to_conllu(self) -> str:
        """CoNLL-U, an empty line at the end: universal tags as UPOS, spans in MISC, any others as XPOS."""
        from spectralnlp.render.tags import to_conllu

        return to_conllu(self.sentence, self.tags, self.scheme, self.confidence)

    def to_frame(self) -> pandas.DataFrame:
        """The words as a data frame: ``word``, ``tag``, ``start``, ``end``, perhaps ``confidence``.

        Raises:
            ConfigError: pandas is not installed.
        """
        tokens = self.sentence.tokens
        columns: dict[str, Iterable[Any]] = {
            "word": self.words,
            "tag": self.tags,
            "start": [each.start for each in tokens],
            "end": [each.end for each in tokens],
        }
        return data_frame(columns | ({} if self.confidence is None else {"confidence": self.confidence}))

    def to_nltk(self) -> list[tuple[str, str]]:
        """Pairs of a word and its tag, as NLTK has tagged sentences."""
        return list(self)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_html_(self) -> str:
        from spectralnlp.render.svg import in_page

        return in_page(self.to_svg())
