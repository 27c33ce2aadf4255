"""The result of parsing one sentence: its tree, constituents and posteriors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from spectralnlp import registry
from spectralnlp.display import cut, data_frame, one_line
from spectralnlp.text.model_result import ModelResult
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees.tree import Tree

if TYPE_CHECKING:
    import nltk
    import pandas

# Value of `Parse.fallback` of a sentence that is too long to be parsed whole.
IN_PIECES = "longer than max_length: parsed in pieces"


@dataclass(frozen=True)
class Constituent:
    """A labelled bracket of a tree with its posterior probability.

    Attributes:
        label: category, such as ``NP``.
        start, end: indices of tokens, ``end`` exclusive.
        posterior: probability under the model that the sentence has this constituent, in [0, 1].
    """

    label: str
    start: int
    end: int
    posterior: float


@dataclass(frozen=True)
class BracketPosteriors:
    """Posteriors of the brackets and tags in a sentence's parse forest.

    Brackets and tags that are not in the forest have posterior 0.

    Attributes:
        brackets: posterior of each (label, start, end), ``end`` exclusive; the root is left out.
        tags: for each token, the posterior of each of its tags.
    """

    brackets: Mapping[tuple[str, int, int], float]
    tags: Sequence[Mapping[str, float]]

    __repr__ = one_line


@dataclass(frozen=True)
class Alternative:
    """One of a sentence's k best trees.

    Attributes:
        tree: tree with root ``TOP``.
        score: the decoder's total score, comparable among the trees of one sentence.
    """

    tree: Tree
    score: float

    __repr__ = one_line


@dataclass(frozen=True)
class Parse(ModelResult):
    """A sentence and its parse tree.

    Attributes:
        tree: tree with root ``TOP``; its words are written as in the model's treebank, such as ``-LRB-``.
        sentence: tokens with character offsets.
        log_probability: natural logarithm of the sentence's probability, summed over all trees; None if the
            tree is not from the grammar.
        constituents: constituents of the tree without its root, parents first, including unary chains.
        fallback: why the tree is not the grammar's best tree; None if it is.
        alternatives: the k best trees, best first, if more than one was requested.
        model: the parser; None if it is unknown, as after pickling. Comparisons of parses ignore it.

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
        self,
        bracket: Constituent | Sequence[Any],
        *,
        trees: Any = None,
        limit: int = 5,
        recount: bool = False,
    ) -> Any:
        """Return the training trees that most support a bracket, and those that most oppose it.

        Args:
            bracket: one of `constituents`, or any other (start, end, label).
            trees: the training trees, as a corpus or a list; None for those that were kept with the parser.
            limit: largest number of trees listed on each side, for and against.
            recount: whether to compute each listed tree's influence exactly, with a grammar learned again
                without the tree; otherwise the influence of all trees but the first is estimated.

        Returns:
            An :class:`~spectralnlp.models.explanation.Explanation`.

        Raises:
            ConfigError: the parser is unknown, or cannot explain brackets (see `Parser.explain`).
            ConstraintError: the bracket is out of range or has an unknown label; or all trees that the parser
                can give the sentence have the bracket, or none has it.
        """
        if isinstance(bracket, Constituent):
            bracket = bracket.start, bracket.end, bracket.label
        words = self.sentence.words
        return self._asked_model().explain(words, bracket, trees=trees, limit=limit, recount=recount)

    def __repr__(self) -> str:
        return cut(f"<Parse {self.tree}") + ">"

    def to_text(self, *, scores: bool = False) -> str:
        """Return a drawing of the tree as several lines of plain text.

        Args:
            scores: whether to write the posterior of each constituent after its label.
        """
        from spectralnlp.render import renderer

        return renderer("pretty")(self, scores)

    def to_svg(self, *, scores: bool = False) -> str:
        """Return a drawing of the tree as one ``<svg>`` element.

        Args:
            scores: whether to write the posterior of each constituent below its label.
        """
        from spectralnlp.render import renderer

        return renderer("svg")(self, scores)

    def to_json(self) -> dict[str, Any]:
        """Return the parse as JSON values; the schema is in ``spectralnlp/render/parse.schema.json``."""
        from spectralnlp.render.jsonl import to_dict

        return to_dict(self)

    def to_conllu(self, scheme: str | None = None) -> str:
        """Return the parse in CoNLL-U, with the tree in a comment.

        The text ends in a line break; ``print`` adds the empty line that CoNLL-U needs after a sentence.

        Args:
            scheme: dependency scheme: ``ud`` and ``stanford`` for English, ``heads`` (without labels) for any
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
        """Return the tree as an ``nltk.Tree``; see `Tree.to_nltk`."""
        return self.tree.to_nltk()

    def to_frame(self) -> pandas.DataFrame:
        """Return the constituents as a data frame: ``label``, ``start``, ``end``, ``posterior``, ``text``.

        Raises:
            ConfigError: pandas is not installed.
        """
        words, rows = self.sentence.words, self.constituents
        return data_frame(
            {
                "label": [each.label for each in rows],
                "start": [each.start for each in rows],
                "end": [each.end for each in rows],
                "posterior": [each.posterior for each in rows],
                "text": [" ".join(words[each.start : each.end]) for each in rows],
            }
        )

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_html_(self) -> str:
        from spectralnlp.render.svg import in_page

        return in_page(self.to_svg())
