"""The result of parsing one sentence, as a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from spectralnlp import registry
from spectralnlp.display import cut, data_frame, one_line
from spectralnlp.text.made_by import MadeByModel
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees.tree import Tree

if TYPE_CHECKING:
    import nltk
    import pandas


@dataclass(frozen=True)
class Constituent:
    """One bracket of a tree.

    Attributes:
        label: its category.
        start, end: tokens, ``end`` exclusive.
        posterior: probability under the model that the sentence has this constituent, in [0, 1].
    """

    label: str
    start: int
    end: int
    posterior: float


@dataclass(frozen=True)
class BracketPosteriors:
    """Posteriors of all brackets and tags that some trees of a sentence have; what is not there has none.

    Attributes:
        brackets: by label, start and end (exclusive), without the root.
        tags: of each token, by tag.
    """

    brackets: Mapping[tuple[str, int, int], float]
    tags: Sequence[Mapping[str, float]]

    __repr__ = one_line


@dataclass(frozen=True)
class Alternative:
    """One of a sentence's k best trees.

    Attributes:
        tree: under a root ``TOP``.
        score: total gain of the decoder, comparable among the trees of one sentence.
    """

    tree: Tree
    score: float

    __repr__ = one_line


@dataclass(frozen=True)
class Parse(MadeByModel):
    """A sentence and its tree.

    Attributes:
        tree: under a root ``TOP``; words as the model's treebank writes them.
        sentence: the tokens, with character offsets.
        log_probability: natural logarithm of the sentence's probability, all trees summed; None for
            a tree that is not the grammar's.
        constituents: of the tree without its root, parents first, unary chains kept.
        fallback: None, or why this is not simply the grammar's best tree.
        alternatives: the k best trees, the best first, where more than one was asked for.
        model: the parser; None where it is not known, as after a pickle. It is no part of the value.

    Examples:
        >>> import spectralnlp
        >>> parse = spectralnlp.load("en").parse_tokens(["Gulls", "are", "noisy", "."])
        >>> print(parse.tree)
        (TOP (S (NP (NNS Gulls)) (VP (VBP are) (ADJP (JJ noisy))) (. .)))
        >>> [(c.label, c.start, c.end) for c in parse.constituents]
        [('S', 0, 4), ('NP', 0, 1), ('VP', 1, 3), ('ADJP', 2, 3)]
        >>> parse.sentence.words[0], parse.fallback
        ('Gulls', None)
    """

    tree: Tree
    sentence: Sentence
    log_probability: float | None
    constituents: tuple[Constituent, ...]
    fallback: str | None
    alternatives: tuple[Alternative, ...] = ()
    model: Any = field(default=None, repr=False, compare=False)

    def explain(
        self, bracket: Constituent | Sequence[Any], *, trees: Any = None, most: int = 5, recount: bool = False
    ) -> Any:
        """Say which training trees did most for a bracket, and which did most against it.

        Args:
            bracket: one of `constituents`, or any other (start, end, label).
            trees: as of `Parser.explain`, and so are ``most`` and ``recount``.

        Returns:
            An :class:`~spectralnlp.models.explanation.Explanation`.

        Raises:
            ConfigError: the parser is not known, or as of `Parser.explain`.
            ConstraintError: as of `Parser.explain`.
        """
        if isinstance(bracket, Constituent):
            bracket = bracket.start, bracket.end, bracket.label
        words = self.sentence.words
        return self._asked_model().explain(words, bracket, trees=trees, most=most, recount=recount)

    def __repr__(self) -> str:
        return cut(f"<Parse {self.tree}") + ">"

    def to_text(self, *, scores: bool = False) -> str:
        """A drawing in plain text, several lines; with ``scores``, posteriors beside labels."""
        from spectralnlp.render import renderer

        return renderer("pretty")(self, scores)

    def to_svg(self, *, scores: bool = False) -> str:
        """A drawing as one ``<svg>`` element; with ``scores``, posteriors below labels."""
        from spectralnlp.render import renderer

        return renderer("svg")(self, scores)

    def to_json(self) -> dict[str, Any]:
        """JSON values: tokens, constituents, posteriors, as ``spectralnlp/render/parse.schema.json`` says."""
        from spectralnlp.render.jsonl import to_dict

        return to_dict(self)

    def to_conllu(self, scheme: str | None = None) -> str:
        """CoNLL-U, the tree in a comment; ends in an empty line.

        Args:
            scheme: of dependencies: ``ud`` and ``stanford`` for English, ``heads`` (without labels) for any
                language; None for words and tags alone.

        Raises:
            ConfigError: there is no such scheme.

        Examples:
            >>> import spectralnlp
            >>> parse = spectralnlp.load("en").parse_tokens(["Gulls", "are", "noisy"])
            >>> [line.split()[7] for line in parse.to_conllu("ud").splitlines() if line[:1].isdigit()]
            ['nsubj', 'cop', 'root']
        """
        if scheme is not None:
            text: str = registry.tree_tools.get("dependencies").parse_to_conllu(self, scheme=scheme)
            return text
        from spectralnlp.render.tags import to_conllu

        return to_conllu(self.sentence, self.tree.tags(), comments={"constituency": str(self.tree)})

    def to_nltk(self) -> nltk.Tree:
        """The tree as an ``nltk.Tree``; see `Tree.to_nltk`."""
        return self.tree.to_nltk()

    def to_frame(self) -> pandas.DataFrame:
        """The constituents as a data frame: ``label``, ``start``, ``end``, ``posterior``, ``text``.

        Raises:
            ConfigError: pandas is not installed.
        """
        words, found = self.sentence.words, self.constituents
        return data_frame(
            {
                "label": [each.label for each in found],
                "start": [each.start for each in found],
                "end": [each.end for each in found],
                "posterior": [each.posterior for each in found],
                "text": [" ".join(words[each.start : each.end]) for each in found],
            }
        )

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_html_(self) -> str:
        from spectralnlp.render.svg import in_page

        return in_page(self.to_svg())
