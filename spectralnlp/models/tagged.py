"""The result of tagging one sentence, and its conversion to other formats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from spectralnlp.display import cut, data_frame
from spectralnlp.text.model_result import ModelResult
from spectralnlp.text.spans import Scheme, Span, spans_of
from spectralnlp.text.tokens import Sentence

if TYPE_CHECKING:
    import pandas

_SHOWN = 12  # words in a ``repr``


@dataclass(frozen=True)
class Tagged(ModelResult):
    """A tagged sentence; iterating over it yields pairs of a word and its tag.

    Attributes:
        sentence: the tokens, with character offsets.
        tags: the tag of each token.
        scheme: tagging scheme: ``tags``, or ``bio`` or ``bioes`` if the tags encode spans.
        confidence: probability of each tag, if requested; else None.
        model: the tagger; None if it is not known, as after pickling. Comparisons ignore it.

    Examples:
        >>> import spectralnlp
        >>> (tagged,) = spectralnlp.load("en-tagger").tag("Gulls are noisy.")
        >>> tagged
        <Tagged Gulls/NNS are/VBP noisy/JJ ./.>
        >>> list(tagged)
        [('Gulls', 'NNS'), ('are', 'VBP'), ('noisy', 'JJ'), ('.', '.')]
    """

    sentence: Sentence
    tags: tuple[str, ...]
    scheme: Scheme = "tags"
    confidence: tuple[float, ...] | None = None
    model: Any = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        shown = [f"{word}/{tag}" for word, tag in islice(self, _SHOWN)]
        return cut(f"<Tagged {' '.join(shown)}{' …' * (len(self) > _SHOWN)}>")

    def __len__(self) -> int:
        return len(self.tags)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(zip(self.sentence.words, self.tags, strict=True))

    @property
    def words(self) -> list[str]:
        """The tokens, as in the text."""
        return self.sentence.words

    @property
    def spans(self) -> list[Span]:
        """The spans as (start, end, label), end exclusive; empty if the tags do not encode spans."""
        return [] if self.scheme == "tags" else spans_of(self.tags)

    def explain(self, token: int, tag: str | None = None, *, limit: int = 5) -> Any:
        """Explain a token's tag by features and training sentences; see `Tagger.explain`.

        Args:
            token: index of the token, from 0.
            tag: the tag to explain; None for the tag that the tagger gives.
            limit: largest number of features, and of sentences, listed for and against the tag.

        Returns:
            A :class:`~spectralnlp.models.tag_explanation.TagExplanation`.

        Raises:
            ConfigError: the tagger is not known, does not score features, or does not have the tag.
            InputError: there is no such token, or no tag sequence has the tag there.
        """
        return self._asked_model().explain(self.words, token, tag, limit=limit)

    def to_svg(self) -> str:
        """Return a drawing as one ``<svg>`` element, with spans above the words and tags below them."""
        from spectralnlp.render.tag_row import draw_tags

        return draw_tags(self.words, self.tags, None if self.scheme == "tags" else self.spans)

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON values.

        ``tokens`` is a list of objects with ``text``, ``start``, ``end``, ``tag`` and, if known,
        ``confidence``; ``spans``, if the tags encode spans, is a list of objects with ``label``, ``start``
        and ``end``. Offsets are in characters.
        """
        from spectralnlp.render.tags import to_dict

        return to_dict(self.sentence, self.tags, self.scheme, self.confidence)

    def to_conllu(self) -> str:
        """Return the sentence in CoNLL-U.

        Universal tags are in the column UPOS, spans in MISC, and other tags in XPOS. The text ends in a line
        break; ``print`` adds the empty line that CoNLL-U needs after a sentence.
        """
        from spectralnlp.render.tags import to_conllu

        return to_conllu(self.sentence, self.tags, self.scheme, self.confidence)

    def to_frame(self) -> pandas.DataFrame:
        """Return a data frame of columns ``word``, ``tag``, ``start``, ``end`` and, if known, ``confidence``.

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
        """Return pairs of a word and its tag, the format of NLTK's tagged sentences."""
        return list(self)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_html_(self) -> str:
        from spectralnlp.render.svg import in_page

        return in_page(self.to_svg())
