"""Silver trees, made by another parser that may be better but slower, as further training data of grammars.

Grammars count them beside the gold trees, with a weight (self-training, McClosky et al. 2006), and the span
scorer sees each of them once, and gold trees as many times more as they weigh. The other components learn
from gold trees alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Gt, Le
from typing_extensions import Doc

from spectralnlp.estimators.parser.component import Component, Context
from spectralnlp.runtime import FileCorpus, Location, accumulate, expand_inputs
from spectralnlp.trees import Tree, cleaned, read_trees


@dataclass(kw_only=True)
class SilverTrees(Component):
    """Component that adds the trees of another parser to those that grammars are learned from."""

    name = "silver"
    learned = "before"

    silver: Annotated[
        str | list[str] | None,
        Doc(
            "Treebank files of sentences that another parser has parsed. Grammars and the span scorer learn "
            "from them, too; all other parts learn from the gold trees alone."
        ),
    ] = None
    silver_weight: Annotated[
        float, Gt(0), Le(1), Doc("How much a tree of ``silver`` counts beside a gold tree, which counts 1.")
    ] = 0.25

    @property
    def is_on(self) -> bool:
        """Whether there are silver trees."""
        return self.silver is not None

    def learn(self, context: Context) -> None:
        """Return None: nothing of a parser is made of silver trees alone."""

    def log(self, moments: Any) -> Any:
        """Return logs of the silver trees, which are empty if there are none.

        Args:
            moments: logs of the gold trees, whose settings the result has.

        Raises:
            InputError: a file is missing, or is no treebank.
        """
        silver = moments.empty_like()
        if self.silver is not None:
            accumulate(silver, FileCorpus(expand_inputs(self.silver), _read))
        return silver


def _read(path: Location) -> Iterator[Tree]:
    return cleaned(read_trees(path))
